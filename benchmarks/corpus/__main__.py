"""Makes the benchmark's corpus: text like newswire, every line of every file different.

Repeated lines would make a scorer that caches lines look faster than it is.

    python -m benchmarks.corpus FOLDER --pairs N

writes FOLDER/ref-NN.txt and FOLDER/system01-NN.txt in shards; systems 2 to 16
have the first shard only. The same numbers give the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sys

import numpy as np

from benchmarks.corpus.lines import Pieces, candidate_lines, reference_lines, text
from benchmarks.corpus.vocabulary import NAMES, Names
from benchmarks.corpus.workspace import SYSTEMS

_SHARDS = 10

_CHUNK = 16_384
"""Lines that are made at a time."""


def make_corpus(folder: pathlib.Path, pairs: int) -> None:
    """Writes the shards of a corpus into a new folder, which appears when it is complete."""
    partial = folder.with_name(folder.name + ".partial")
    partial.mkdir(parents=True, exist_ok=True)
    pieces = Pieces()
    names = [Names(stream) for stream in range(SYSTEMS + 1)]
    for shard in range(_SHARDS):
        first, stop = pairs * shard // _SHARDS, pairs * (shard + 1) // _SHARDS
        systems = range(1, (SYSTEMS if shard == 0 else 1) + 1)
        with contextlib.ExitStack() as stack:
            files = [
                stack.enter_context(open(partial / _file_name(stream, shard), "wb"))
                for stream in (0, *systems)
            ]
            for line in range(first, stop, _CHUNK):
                references = reference_lines(pieces, line, min(_CHUNK, stop - line))
                files[0].write(text(pieces, references, names[0], line))
                for system in systems:
                    candidates = candidate_lines(pieces, references, line, system)
                    files[system].write(text(pieces, candidates, names[system], line))
        print(f"corpus: {stop} of {pairs} pairs", file=sys.stderr)
    _check_unique(partial)
    partial.rename(folder)


def _file_name(stream: int, shard: int) -> str:
    """The name of a shard of the references (stream 0) or of a system."""
    return f"system{stream:02}-{shard:02}.txt" if stream else f"ref-{shard:02}.txt"


def _check_unique(folder: pathlib.Path) -> None:
    """Raises an error if two lines of the corpus are the same (by a 64-bit hash)."""
    hashes = []
    for path in sorted(folder.iterdir()):
        with open(path, "rb") as file:
            hashes.append(np.fromiter(map(hash, file), np.int64))
    lines = np.concatenate(hashes)
    same = len(lines) - len(np.unique(lines))
    if same:
        raise ValueError(f"{same} of {len(lines)} lines in {folder} are not unique")


def _main() -> None:
    parser = argparse.ArgumentParser(description="Makes the benchmark's corpus.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, required=True)
    flags = parser.parse_args()
    if not _SHARDS <= flags.pairs <= NAMES:
        parser.error(f"--pairs must be {_SHARDS} to {NAMES}, got {flags.pairs}")
    make_corpus(flags.folder, flags.pairs)


if __name__ == "__main__":
    _main()
