"""The CPU and memory of a run with many systems, compared with the baseline or with each other.

    python -m benchmarks.speed.many_systems

scores 200 segments. With so few, the cost is that of systems and of their pairs, not of text.
"""

from __future__ import annotations

import pathlib
import random
import tempfile

from benchmarks.measure import BEAM_BLEU, run
from benchmarks.program import command_parser

_SEGMENTS = 200
_WORDS = [f"word{number}" for number in range(500)]
_ROWS = ((1, False), (100, False), (300, False), (50, True), (100, True), (200, True), (300, True))
"""(systems, whether each one is compared with each other one)."""


def _write(folder: pathlib.Path, name: str, lines: list[list[str]]) -> str:
    path = folder / f"{name}.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in lines))
    return str(path)


def _write_corpus(folder: pathlib.Path, systems: int) -> tuple[str, list[str]]:
    """A reference, and systems that replace more or fewer of its words."""
    rng = random.Random(1)
    reference = [rng.choices(_WORDS, k=rng.randrange(5, 30)) for _ in range(_SEGMENTS)]
    candidates = []
    for system in range(systems):
        kept = rng.uniform(0.3, 0.9)
        lines = [
            [word if rng.random() < kept else rng.choice(_WORDS) for word in words]
            for words in reference
        ]
        candidates.append(_write(folder, f"system{system:03}", lines))
    return _write(folder, "reference", reference), candidates


def main() -> None:
    """Prints a row for each number of systems."""
    command_parser(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory() as name:
        reference, candidates = _write_corpus(pathlib.Path(name), max(each for each, _ in _ROWS))
        run([*BEAM_BLEU, reference, "-i", candidates[0], "--format=json"])  # compiles
        print(f"{'systems':>7} {'comparisons':>11} {'CPU s':>6} {'MB':>6}")
        for systems, compare_all in _ROWS:
            flags = ["--format=json", *(["--compare=all"] if compare_all else [])]
            found = run([*BEAM_BLEU, reference, "-i", *candidates[:systems], *flags])
            pairs = systems * (systems - 1) // 2 if compare_all else systems - 1
            print(f"{systems:7} {pairs:11,} {found.cpu:6.2f} {found.peak / 1e6:6.0f}", flush=True)


if __name__ == "__main__":
    main()
