"""Makes multi_bleu.json: Moses' multi-bleu.perl on the corpora.

    python tests/golden/make_multi_bleu.py scripts/generic/multi-bleu.perl

The argument is that file of https://github.com/moses-smt/mosesdecoder (LGPL 2.1; last changed in
48fa6e9), run with Perl 5.36. The wheels texar-pytorch 0.1.4 (bin/utils/multi-bleu.perl) and
nmtpytorch 4.0.0 (nmtpytorch/lib/multi-bleu.perl) have the same arithmetic, but remove the last
character of a file that does not end with a line end.

The files have one line for each segment: no text of the corpora has a "\\n". The i-th reference
file has the i-th reference of each segment. If segments of a corpus have different numbers of
references, this is not possible, and the corpus is left out.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from golden_tables import read_corpora, write

LINE = re.compile(
    r"BLEU = (?P<score>\S+), (?P<precisions>\S+) \(BP=(?P<brevity_penalty>[^,]+), "
    r"ratio=(?P<ratio>[^,]+), hyp_len=(?P<candidate_length>\d+), "
    r"ref_len=(?P<reference_length>\d+)\)"
)


def answer(script, corpus, options):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    with tempfile.TemporaryDirectory() as folder:
        for index, column in enumerate(zip(*corpus["references"], strict=True)):
            text = "".join(f"{line}\n" for line in column)
            pathlib.Path(folder, f"ref{index}").write_bytes(text.encode())
        if not corpus["references"]:
            pathlib.Path(folder, "ref0").write_bytes(b"")
        done = subprocess.run(
            ["perl", script, *options, f"{folder}/ref"],
            input="".join(f"{line}\n" for line in corpus["candidates"]).encode(),
            capture_output=True,
            env=environment,
        )
    printed = done.stdout.decode().strip()
    if done.returncode and not printed:
        said = [line for line in done.stderr.decode().splitlines() if "uninit" not in line]
        return {"error": re.sub(r"( /\S+)? at \S+ line \d+.*", "", said[-1])}
    assert LINE.fullmatch(printed), printed
    return {"printed": printed}


def main():
    script = pathlib.Path(sys.argv[1])
    records = []
    for corpus in read_corpora():
        if len({len(texts) for texts in corpus["references"]}) > 1:
            continue
        for options in [[], ["-lc"]]:
            if options and corpus["kind"] not in ("text", "seed") and "case" not in corpus["name"]:
                continue
            found = answer(script, corpus, options)
            records.append({"corpus": corpus["name"], "options": options, **found})
    about = {
        "tool": "multi-bleu.perl",
        "version": "48fa6e92a",
        "sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
        "made_by": "tests/golden/make_multi_bleu.py",
    }
    write("multi_bleu.json", about, records=records)


if __name__ == "__main__":
    main()
