"""Makes the benchmarks' corpus: text like newswire, in which no line occurs twice.

Repeated lines would make a scorer that caches lines look faster than it is.

    python -m benchmarks.corpus FOLDER --pairs N

writes FOLDER/ref-NN.txt and FOLDER/system01-NN.txt in shards; systems 2 to 16 have the first shard
only. The same N always gives the same bytes.
"""

from __future__ import annotations

import contextlib
import pathlib

from benchmarks.corpus.lines import Pieces, candidate_lines, reference_lines, text
from benchmarks.corpus.vocabulary import NAMES
from benchmarks.corpus.workspace import SYSTEMS
from benchmarks.program import command_parser

_SHARDS = 10

_CHUNK = 16_384
"""How many lines are made at a time."""


def make_corpus(folder: pathlib.Path, pairs: int) -> None:
    """Writes the shards of a corpus into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = Pieces()
    for shard in range(_SHARDS):
        first, stop = pairs * shard // _SHARDS, pairs * (shard + 1) // _SHARDS
        systems = range(1, (SYSTEMS if shard == 0 else 1) + 1)
        with contextlib.ExitStack() as stack:
            references, *candidates = [
                stack.enter_context(open(folder / f"{stream}-{shard:02}.txt", "wb"))
                for stream in ("ref", *(f"system{number:02}" for number in systems))
            ]
            for line in range(first, stop, _CHUNK):
                lines = reference_lines(pieces, line, min(_CHUNK, stop - line))
                references.write(text(pieces, lines, 0, line))
                for system, file in zip(systems, candidates, strict=True):
                    erring = candidate_lines(pieces, lines, line, system)
                    file.write(text(pieces, erring, system, line))


def _main() -> None:
    parser = command_parser(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, required=True)
    flags = parser.parse_args()
    if not _SHARDS <= flags.pairs <= NAMES:
        parser.error(f"--pairs must be {_SHARDS} to {NAMES}, got {flags.pairs}")
    make_corpus(flags.folder, flags.pairs)


if __name__ == "__main__":
    _main()
