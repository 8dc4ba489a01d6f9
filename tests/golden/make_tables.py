"""Makes the tables of other tools: each tool scores the texts of corpora.json or sentences.json.

    python tests/golden/make_tables.py TOOL ARGUMENT...

torchmetrics: pip install torchmetrics==1.9.0 torch. Its float32 is written as the same double.
tensorflow nmt/scripts/bleu.py: of https://github.com/tensorflow/nmt (0be8642). It takes lists of
    tokens, which str.split() makes, so the corpora with unusual white space are left out.
huggingface bleu/: pip install evaluate==0.4.6. The folder has metrics/bleu/bleu.py and
    tokenizer_13a.py of https://github.com/huggingface/evaluate (a7dd338) and, as nmt_bleu.py, the
    file of tensorflow, without the comment `# From: https://...`, whose file would be downloaded.
d2l d2l-1.0.3: the folder of `pip install --no-deps --target d2l-1.0.3 d2l==1.0.3` beside torch
    torchvision pandas matplotlib requests gym scipy matplotlib-inline ipython. The tool takes the
    first reference of each sentence.
nltk_legacy nltk-3.2.5: a folder made like that of d2l, beside six and requests, with Python 3.6,
    because later versions cannot import this release.
multi_bleu scripts/generic/multi-bleu.perl: of https://github.com/moses-smt/mosesdecoder (48fa6e9),
    with Perl 5.36.
mteval13a scripts/generic/mteval-v13a.pl: NIST's, as Moses has it (5bbd5ca), with Perl 5.36 and
    libxml-twig-perl. The corpora are written as SGML, and no character is escaped. The scores come
    from --metricsMATR-output.

The i-th reference file of a Perl script has the i-th reference of each segment, so corpora whose
segments have different numbers of references are left out. Records of other releases of d2l and
NLTK in the tables came from the same calls.
"""

import hashlib
import importlib
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import warnings

GOLDEN = pathlib.Path(__file__).resolve().parent
UNIFORM = (0.25, 0.25, 0.25, 0.25)
PERL = {"PATH": os.environ["PATH"], "LC_ALL": "C"}


def read(name):
    """The elements of a file of texts."""
    with open(str(GOLDEN / f"{name}.json"), encoding="ascii") as file:
        return json.load(file)[name]


def write(name, fields, **lists):
    """Writes a JSON file. Each element of a list is one line, so that people can read diffs."""
    parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
    for key, elements in lists.items():
        rows = ",\n".join(json.dumps(element, sort_keys=True) for element in elements)
        parts.append(f"{json.dumps(key)}: [\n{rows}\n]")
    with open(str(GOLDEN / name), "w", encoding="ascii") as file:
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


def outcome(compute):
    """A tool's result as a dictionary, or the error that it raises."""
    try:
        return compute()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".rstrip(": ")}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record(corpus, options, answer):
    return dict(answer, corpus=corpus["name"], options=options)


def torchmetrics():
    import torch
    import torchmetrics
    from torchmetrics.functional.text import bleu_score

    torch.set_num_threads(1)

    def answer(corpus, options):
        texts = corpus["candidates"], corpus["references"]
        return outcome(lambda: {"score": bleu_score(*texts, **options).item()})

    weighted = {"weights": [0.4, 0.3, 0.2, 0.1]}
    choices = [{}, {"smooth": True}, {"n_gram": 2}, {"n_gram": 2, "smooth": True}, weighted]
    about = {
        "tool": "torchmetrics.functional.text.bleu_score",
        "version": torchmetrics.__version__,
        "torch": torch.__version__,
    }
    return about, {
        "records": [record(c, o, answer(c, o)) for c in read("corpora") for o in choices]
    }


def tensorflow(script):
    compute_bleu = runpy.run_path(script)["compute_bleu"]
    names = ["score", "precisions", "brevity_penalty", "ratio"]
    names += ["candidate_length", "reference_length"]

    def answer(corpus, options):
        references = [[text.split() for text in texts] for texts in corpus["references"]]
        candidates = [text.split() for text in corpus["candidates"]]
        return outcome(
            lambda: dict(zip(names, compute_bleu(references, candidates, **options), strict=True))
        )

    choices = [{}, {"smooth": True}, {"max_order": 2}, {"max_order": 2, "smooth": True}]
    corpora = [corpus for corpus in read("corpora") if corpus["kind"] != "space"]
    about = {
        "tool": "tensorflow/nmt nmt/scripts/bleu.py compute_bleu",
        "version": "0be864257a76c151eef20ea689755f08bc1faf4e",
        "sha256": sha256(pathlib.Path(script)),
    }
    return about, {"records": [record(c, o, answer(c, o)) for c in corpora for o in choices]}


def huggingface(folder):
    import datasets
    import evaluate

    datasets.disable_progress_bars()
    folder = pathlib.Path(folder).resolve()
    names = {
        "bleu": "score",
        "precisions": "precisions",
        "brevity_penalty": "brevity_penalty",
        "length_ratio": "ratio",
        "translation_length": "candidate_length",
        "reference_length": "reference_length",
    }

    def answer(corpus, options, cache):
        metric = evaluate.load(str(folder / "bleu.py"), cache_dir=cache)
        given = dict(options, tokenizer=str.split) if "tokenizer" in options else options
        texts = {"predictions": corpus["candidates"], "references": corpus["references"]}
        found = metric.compute(**texts, **given)
        return {ours: found[theirs] for theirs, ours in names.items()}

    choices = [{}, {"smooth": True}, {"tokenizer": "str.split"}]
    with tempfile.TemporaryDirectory() as cache:
        records = [
            record(corpus, options, outcome(lambda c=corpus, o=options: answer(c, o, cache)))
            for corpus in read("corpora")
            for options in choices
        ]
    about = {
        "tool": "evaluate.load('bleu')",
        "version": evaluate.__version__,
        "metric": "a7dd338386a4fae9a1767e05eb9ef9479513d9e8",
        "sha256": {path.name: sha256(path) for path in sorted(folder.glob("*.py"))},
    }
    return about, {"records": records}


def d2l(folder):
    sys.path.insert(0, folder)
    version, bleu = (
        importlib.import_module("d2l").__version__,
        importlib.import_module("d2l.torch").bleu,
    )
    orders = [1, 2, 3, 4]
    records = []
    for sentence in read("sentences"):
        texts = sentence["candidate"], sentence["references"][0]
        answers = [outcome(lambda t=texts, k=k: {"score": bleu(*t, k)}) for k in orders]
        scores = [answer.get("score", answer.get("error")) for answer in answers]
        records.append({"sentence": sentence["name"], "scores": scores})
    about = {"tool": "d2l.torch.bleu", "version": version, "orders": orders}
    return about, {"records": records}


def nltk_legacy(folder):
    warnings.simplefilter("ignore")
    sys.path.insert(0, folder)
    import nltk
    from nltk.translate.bleu_score import corpus_bleu, sentence_bleu

    def answer(corpus, options):
        candidates = [text.split() for text in corpus["candidates"]]
        references = [[text.split() for text in texts] for texts in corpus["references"]]
        weights = tuple(options.get("weights", UNIFORM))
        return outcome(lambda: {"score": corpus_bleu(references, candidates, weights)})

    weights = [0.5, 0.5], [0.25, 0.25, 0, 0], [0.4, 0.3, 0.2, 0.1]
    choices = [{}, *({"weights": each} for each in weights)]
    corpora = [corpus for corpus in read("corpora") if corpus["kind"] != "space"]
    sentences = []
    for each in read("sentences"):
        texts = [text.split() for text in each["references"]], each["candidate"].split()
        found = outcome(lambda texts=texts: {"score": sentence_bleu(*texts)})
        sentences.append(dict(found, sentence=each["name"]))
    about = {"tool": "nltk.translate.bleu_score", "version": nltk.__version__}
    records = [record(corpus, o, answer(corpus, o)) for corpus in corpora for o in choices]
    return about, {"records": records, "sentences": sentences}


def corpora_of_files():
    """The corpora whose segments have as many references."""
    return [c for c in read("corpora") if len({len(texts) for texts in c["references"]}) <= 1]


def multi_bleu(script):
    def answer(corpus, options):
        with tempfile.TemporaryDirectory() as folder:
            for index, column in enumerate(list(zip(*corpus["references"], strict=True)) or [[]]):
                text = "".join(f"{text}\n" for text in column)
                pathlib.Path(folder, f"ref{index}").write_bytes(text.encode())
            given = "".join(f"{text}\n" for text in corpus["candidates"]).encode()
            command = ["perl", script, *options, f"{folder}/ref"]
            done = subprocess.run(command, input=given, capture_output=True, env=PERL)
        printed = done.stdout.decode().strip()
        if done.returncode and not printed:
            said = [line for line in done.stderr.decode().splitlines() if "uninit" not in line]
            return {"error": re.sub(r"( /\S+)? at \S+ line \d+.*", "", said[-1])}
        assert printed.startswith("BLEU = "), printed
        return {"printed": printed}

    records = [
        record(corpus, options, answer(corpus, options))
        for corpus in corpora_of_files()
        for options in [[], ["-lc"]]
        if not options or corpus["kind"] in ("text", "seed") or "case" in corpus["name"]
    ]
    digest = sha256(pathlib.Path(script))
    about = {"tool": "multi-bleu.perl", "version": "48fa6e92a", "sha256": digest}
    return about, {"records": records}


def sgml(tag, attributes, segments):
    body = "".join(f'<seg id="{i}">{text}</seg>\n' for i, text in enumerate(segments, 1))
    given = 'setid="s" srclang="x"' + attributes
    system = re.sub(r".*(sysid=\S+).*", r" \1", attributes) if "sysid" in attributes else ""
    return f'<{tag} {given}>\n<doc docid="d"{system}>\n{body}</doc>\n</{tag}>\n'


def mteval13a(script):
    script = pathlib.Path(script).resolve()

    def answer(corpus, options):
        columns = enumerate(zip(*corpus["references"], strict=True))
        of_reference = ' trglang="y" sysid="r{}"'
        files = {
            "src": sgml("srcset", "", ["x"] * len(corpus["candidates"])),
            "tst": sgml("tstset", ' trglang="y" sysid="t"', corpus["candidates"]),
            "ref": "".join(sgml("refset", of_reference.format(i), column) for i, column in columns),
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                pathlib.Path(folder, name).write_bytes(text.encode())
            given = ["-b", *options, "--metricsMATR-output"]
            command = ["perl", script, "-r", "ref", "-s", "src", "-t", "tst", *given]
            done = subprocess.run(command, cwd=folder, capture_output=True, env=PERL)
            if done.returncode:
                said = done.stderr.decode().strip().split("\n")
                return {"error": re.sub(r" at \S+ line \d+.*", "", said[0])}
            system = pathlib.Path(folder, "BLEU-sys.scr").read_text()
            segments = pathlib.Path(folder, "BLEU-seg.scr").read_text().splitlines()
            return {
                "score": float(system.split("\t")[-1]),
                "segment_scores": [float(line.split("\t")[-1]) for line in segments],
            }

    international = ["-c", "--international-tokenization"]
    others = [["-c"], ["-c", "--no-smoothing"], ["-c", "--brevity-penalty", "shortest"]]
    records = []
    for corpus in corpora_of_files():
        tokens_differ = corpus["kind"] in ("text", "space") or "case" in corpus["name"]
        for options in [[], *others, international] if tokens_differ else others:
            records.append(record(corpus, options, answer(corpus, options)))
    about = {"tool": "mteval-v13a.pl", "version": "5bbd5ca16", "sha256": sha256(script)}
    return about, {"records": records}


TOOLS = (torchmetrics, tensorflow, huggingface, d2l, nltk_legacy, multi_bleu, mteval13a)

if __name__ == "__main__":
    (made,) = [tool for tool in TOOLS if tool.__name__ == sys.argv[1]]
    fields, lists = made(*sys.argv[2:])
    write(f"{made.__name__}.json", dict(fields, made_by="tests/golden/make_tables.py"), **lists)
