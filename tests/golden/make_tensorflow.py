"""Makes tensorflow.json: compute_bleu of TensorFlow NMT on the corpora.

    python tests/golden/make_tensorflow.py nmt/scripts/bleu.py

The argument is that file of https://github.com/tensorflow/nmt (0be8642, its last version). It
imports only the standard library. The tool takes lists of tokens. They are made with str.split(),
so the corpora with unusual white space are left out.
"""

import hashlib
import pathlib
import runpy
import sys

from golden_tables import outcome, read_corpora, write

OPTIONS = [{}, {"smooth": True}, {"max_order": 2}, {"max_order": 2, "smooth": True}]
NAMES = ["score", "precisions", "brevity_penalty", "ratio", "candidate_length", "reference_length"]


def main():
    script = pathlib.Path(sys.argv[1])
    compute_bleu = runpy.run_path(str(script))["compute_bleu"]
    records = []
    for corpus in read_corpora():
        if corpus["kind"] == "space":
            continue
        references = [[text.split() for text in texts] for texts in corpus["references"]]
        candidates = [text.split() for text in corpus["candidates"]]
        for options in OPTIONS:
            answer = outcome(
                lambda references=references, candidates=candidates, options=options: dict(
                    zip(NAMES, compute_bleu(references, candidates, **options), strict=True)
                )
            )
            records.append({"corpus": corpus["name"], "options": options, **answer})
    about = {
        "tool": "tensorflow/nmt nmt/scripts/bleu.py compute_bleu",
        "version": "0be864257a76c151eef20ea689755f08bc1faf4e",
        "sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
        "made_by": "tests/golden/make_tensorflow.py",
    }
    write("tensorflow.json", about, records=records)


if __name__ == "__main__":
    main()
