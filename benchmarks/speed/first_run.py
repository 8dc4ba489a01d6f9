"""CPU of the first run after an installation, which compiles the code that it needs.

    python -m benchmarks.speed.first_run

runs the command on the bundled example, with an empty cache of compiled code and again with what
the first run has left there. It does the same with a text that also has a long segment, which
needs more code. It prints a table of medians.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import BEAM_BLEU, ROOT, Run, medians, run

_EXAMPLES = Path(ROOT, "examples")

_LONG = " ".join(f"word{number % 50}" for number in range(200))
"""A segment with more tokens than the masks of the kernel have bits."""


def first_and_second(texts: Sequence[str]) -> tuple[Run, Run]:
    """A run with an empty cache of compiled code, and one with the code of the first run.

    Args:
      texts: the paths of the references and of the candidates.
    """
    references, candidates = texts
    with tempfile.TemporaryDirectory() as cache:
        command = ("env", f"NUMBA_CACHE_DIR={cache}", *BEAM_BLEU)
        first, second = (run([*command, references, "-i", candidates, "-q"]) for _ in range(2))
    return first, second


def _with_a_long_segment(folder: Path) -> tuple[str, str]:
    """The paths of the example's texts with one more line."""
    paths = []
    for name in ("references/a.txt", "systems/birch.txt"):
        path = folder / Path(name).name
        path.write_text((_EXAMPLES / name).read_text(encoding="utf-8") + _LONG + "\n", "utf-8")
        paths.append(str(path))
    return paths[0], paths[1]


def main() -> int:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each kind")
    flags = parser.parse_args()
    print("| run | CPU | time | memory |\n| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        example = (str(_EXAMPLES / "references/a.txt"), str(_EXAMPLES / "systems/birch.txt"))
        for name, texts in (
            ("the example", example),
            ("the example and a long segment", _with_a_long_segment(Path(folder))),
        ):
            pairs = [first_and_second(texts) for _ in range(flags.repeats)]
            for order, runs in zip(("first", "second"), zip(*pairs, strict=True), strict=True):
                of_all = medians(runs)
                cpu, wall, memory = of_all.cpu, of_all.wall, of_all.peak / 2**20
                print(f"| {name}, {order} run | {cpu:.1f} s | {wall:.1f} s | {memory:.0f} MB |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
