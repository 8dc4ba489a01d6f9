"""Compiles the kernel into the folder NUMBA_CACHE_DIR, when the image is built.

    python deploy/image/compile_kernel.py examples

It scores the bundled example with every metric, tokenizer and form of input, so that the functions
which these need are compiled. Then it runs the same again, and fails if anything is missing from
the cache.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

from beam_bleu.transforms.known_metrics import METRICS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS


def runs(examples: str) -> Iterator[list[str]]:
    """The arguments of each run of the command."""
    texts = [f"{examples}/references/a.txt", f"{examples}/references/b.txt"]
    lines = [*texts, "-i", f"{examples}/systems/atlas.txt", f"{examples}/systems/birch.txt"]
    for name, tokenizer in TOKENIZERS.items():
        if not tokenizer.needs_model:
            for case in ([], ["--lowercase"]):
                yield [*lines, "--tokenize", name, *case]
    metrics = [name for name, row in METRICS.items() if row.counts_texts and not row.parameter]
    sliced = [f"--labels=domain={examples}/domains.txt", "--slice_by=domain"]
    documents = [f"--documents={examples}/documents.txt"]
    for case in ([], ["--resample=bootstrap"], sliced, documents):
        yield [*lines, *case, "--metrics", *metrics]
    records, few = f"--input={examples}/records/paired", "--no_uncertainty"
    outputs = ["--candidate_columns=outputs.*", "--reference_columns=references"]
    yield [f"{records}.jsonl", *outputs, "--slice_by=domain", few]
    yield [f"{records}.parquet", "--candidate_columns=hyp_*", few]
    yield [
        f"{records}.tsv",
        "--input_format=tsv",
        "--candidate_columns=mt",
        "--reference_columns=ref",
        few,
    ]


def compiled(arguments: list[str]) -> int:
    """Runs the command; returns how many functions it compiled."""
    command = [sys.executable, "-m", "beam_bleu.pipeline", *arguments, "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"compiled functions: \d+ loaded, (\d+) compiled", done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return int(found[1])


def main(examples: str) -> None:
    """Compiles, and checks that everything is loaded afterwards."""
    made = sum(map(compiled, runs(examples)))
    again = sum(map(compiled, runs(examples)))
    folder = os.environ["NUMBA_CACHE_DIR"]
    if not made or again:
        sys.exit(f"{made} functions were compiled, and then {again} again: is {folder} used?")
    print(f"{made} functions are compiled in {folder}")


if __name__ == "__main__":
    main(sys.argv[1])
