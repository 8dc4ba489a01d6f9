"""Compiles the kernel into the folder NUMBA_CACHE_DIR, while the image is built.

    python deploy/image/compile_kernel.py examples

It scores the bundled example with every metric, tokenizer and form of input, so that all functions
that these need are compiled. Then it does the same again, and fails if the cache lacks any of them.
"""

from __future__ import annotations

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from beam_bleu.transforms.known_metrics import METRICS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS


def runs(examples: str, folder: str) -> Iterator[list[str]]:
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
    more = ["--rouge_stemmer", "--normalize=nfc", "--diversity", f"--output={folder}/result"]
    for case in ([], ["--resample=bootstrap"], sliced, documents, more):
        yield [*lines, *case, "--metrics", *metrics]
    # Compressed files are read piece by piece, like objects in an object store.
    pairs = [pathlib.Path(text).read_text(encoding="utf-8").splitlines() for text in texts]
    with gzip.open(f"{folder}/references.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"{one}\t{other}\n" for one, other in zip(*pairs, strict=True))
    yield [f"{folder}/references.gz", "--num_refs=2", "-i", f"{examples}/systems/atlas.txt"]
    records, few = f"{examples}/records", "--no_uncertainty"
    lists = ["--candidate_columns=outputs.*", "--reference_columns=references"]
    yield [f"--input={records}/paired.jsonl", *lists, "--slice_by=domain", few]
    items = ["--candidate_columns=outputs.atlas", "--reference_columns=references[0]"]
    yield [f"--input={records}/paired.jsonl", *items, few]
    yield [f"--input={records}/paired.parquet", "--candidate_columns=hyp_*", few]
    columns = ["--candidate_columns=mt", "--reference_columns=ref"]
    yield [f"--input={records}/paired.tsv", "--input_format=tsv", *columns, few]
    joined = [f"{records}/references.jsonl", "-i", f"{records}/outputs/atlas.jsonl", "--join_on=id"]
    yield [*joined, "--candidate_columns=hyp", "--reference_columns=ref", few]


def compiled(arguments: list[str]) -> int:
    """Runs the command; returns how many functions it compiled."""
    command = [sys.executable, "-m", "beam_bleu.pipeline", *arguments, "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"compiled functions: \d+ loaded, (\d+) compiled", done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return int(found[1])


def main(examples: str) -> None:
    """Compiles, and checks that a second run loads everything from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        made = sum(map(compiled, runs(examples, folder)))
        again = sum(map(compiled, runs(examples, folder)))
    cache = os.environ["NUMBA_CACHE_DIR"]
    if not made or again:
        sys.exit(f"{made} functions were compiled, and then {again} again: is {cache} used?")
    print(f"{made} functions are compiled in {cache}")


if __name__ == "__main__":
    main(sys.argv[1])
