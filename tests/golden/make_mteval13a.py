"""Makes mteval13a.json: NIST's mteval-v13a.pl, as Moses has it, on the corpora.

    apt-get install libxml-twig-perl
    python tests/golden/make_mteval13a.py scripts/generic/mteval-v13a.pl

The argument is that file of https://github.com/moses-smt/mosesdecoder (last changed in 5bbd5ca),
run with Perl 5.36. The corpora are written as SGML, the form that WMT used, and no character is
escaped. In the records:

- `score` and `segment_scores` come from the files that --metricsMATR-output writes, with the 15
  digits that Perl prints.
- `printed` is the line on the terminal.
- `counts` comes from -x "document info": matches and totals of the orders 1 to 9.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from golden_tables import read_corpora, write

OPTIONS = [
    [],
    ["-c"],
    ["-c", "--no-smoothing"],
    ["-c", "--brevity-penalty", "shortest"],
    ["-c", "--international-tokenization"],
]


def sgml(tag, attributes, segments):
    body = "".join(f'<seg id="{i}">{text}</seg>\n' for i, text in enumerate(segments, 1))
    given = 'setid="s" srclang="x"' + attributes
    system = re.sub(r".*(sysid=\S+).*", r" \1", attributes) if "sysid" in attributes else ""
    return f'<{tag} {given}>\n<doc docid="d"{system}>\n{body}</doc>\n</{tag}>\n'


def answer(script, corpus, options):
    count = len(corpus["candidates"])
    references = zip(*corpus["references"], strict=True)
    files = {
        "src": sgml("srcset", "", ["x"] * count),
        "tst": sgml("tstset", ' trglang="y" sysid="t"', corpus["candidates"]),
        "ref": "".join(
            sgml("refset", f' trglang="y" sysid="r{i}"', column)
            for i, column in enumerate(references)
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            pathlib.Path(folder, name).write_bytes(text.encode())
        given = ["-b", *options, "-x", "document info", "--metricsMATR-output"]
        done = subprocess.run(
            ["perl", script.resolve(), "-r", "ref", "-s", "src", "-t", "tst", *given],
            cwd=folder,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )
        printed = done.stdout.decode()
        if done.returncode:
            said = done.stderr.decode().strip().split("\n")
            found = {"error": re.sub(r" at \S+ line \d+.*", "", said[0])}
        else:
            system = pathlib.Path(folder, "BLEU-sys.scr").read_text()
            segments = pathlib.Path(folder, "BLEU-seg.scr").read_text()
            found = {
                "score": float(system.split("\t")[-1]),
                "printed": re.search(r"BLEU score = .*(?= for system)", printed).group(),
                "segment_scores": [float(line.split("\t")[-1]) for line in segments.splitlines()],
            }
    counts = re.findall(r"document info: t d \d-gram (\d+) (\d+)", printed)
    if counts:
        found["counts"] = {
            "matches": [int(matches) for matches, _ in counts],
            "totals": [int(totals) for _, totals in counts],
        }
    length = re.search(r"length ratio: \S+ \((\d+)/(\d+)\)", printed)
    if length:
        found["candidate_length"], found["reference_length"] = map(int, length.groups())
    return found


def main():
    script = pathlib.Path(sys.argv[1])
    records = []
    for corpus in read_corpora():
        if len({len(texts) for texts in corpus["references"]}) > 1:
            continue
        for options in OPTIONS:
            tokens_differ = corpus["kind"] in ("text", "space") or "case" in corpus["name"]
            if options in ([], ["-c", "--international-tokenization"]) and not tokens_differ:
                continue
            found = answer(script, corpus, options)
            records.append({"corpus": corpus["name"], "options": options, **found})
    about = {
        "tool": "mteval-v13a.pl",
        "version": "5bbd5ca16",
        "sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
        "made_by": "tests/golden/make_mteval13a.py",
    }
    write("mteval13a.json", about, records=records)


if __name__ == "__main__":
    main()
