"""Makes huggingface.json: the `bleu` metric of Hugging Face `evaluate` on the corpora.

    pip install evaluate==0.4.6
    python tests/golden/make_huggingface.py bleu/

The argument is a folder with metrics/bleu/bleu.py and tokenizer_13a.py of
https://github.com/huggingface/evaluate (a7dd338) and, as nmt_bleu.py, nmt/scripts/bleu.py of
https://github.com/tensorflow/nmt (0be8642). Remove the comment `# From: https://...` after the
import of nmt_bleu, because `evaluate.load` downloads the file that such a comment names. With
network access, `evaluate.load("bleu")` is the same.
"""

import hashlib
import pathlib
import sys
import tempfile

import datasets
import evaluate
from golden_tables import outcome, read_corpora, write

OPTIONS = [{}, {"smooth": True}, {"tokenizer": "str.split"}]
NAMES = {
    "bleu": "score",
    "precisions": "precisions",
    "brevity_penalty": "brevity_penalty",
    "length_ratio": "ratio",
    "translation_length": "candidate_length",
    "reference_length": "reference_length",
}


def score(metric, corpus, options):
    given = {**options, "tokenizer": str.split} if "tokenizer" in options else options
    found = metric.compute(
        predictions=corpus["candidates"], references=corpus["references"], **given
    )
    return {ours: found[theirs] for theirs, ours in NAMES.items()}


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    datasets.disable_progress_bars()
    records = []
    with tempfile.TemporaryDirectory() as cache:
        for corpus in read_corpora():
            for options in OPTIONS:
                metric = evaluate.load(str(folder / "bleu.py"), cache_dir=cache)
                answer = outcome(lambda m=metric, c=corpus, o=options: score(m, c, o))
                records.append({"corpus": corpus["name"], "options": options, **answer})
    about = {
        "tool": "evaluate.load('bleu')",
        "version": evaluate.__version__,
        "metric": "a7dd338386a4fae9a1767e05eb9ef9479513d9e8",
        "sha256": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.glob("*.py"))
        },
        "made_by": "tests/golden/make_huggingface.py",
    }
    write("huggingface.json", about, records=records)


if __name__ == "__main__":
    main()
