"""Runs the benchmark and prints its report; see the README beside this file."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import sys
import tempfile

from figures import FIGURES, Sizes
from report import machine, report
from workspace import Workspace

_PAIRS, _QUICK_PAIRS = 2_018_688, 20_000
_FULL = Sizes(60_000, (3_000, 6_000, 9_000, 12_000, 15_000, 20_000), 3, 7)
_QUICK = Sizes(5_000, (3_000, 9_000, 20_000), 1, 2)


def _main() -> None:
    flags = _parser().parse_args()
    pairs = flags.pairs or (_QUICK_PAIRS if flags.quick else _PAIRS)
    sizes = _QUICK if flags.quick else _FULL
    largest = max(sizes.kernel_pairs, *sizes.lines)
    if pairs < largest:
        sys.exit(f"run.py: --pairs must be at least {largest}, got {pairs}")
    try:
        notes = machine()
    except importlib.metadata.PackageNotFoundError as error:
        sys.exit(f"run.py: {error.name} is missing: pip install -e '.[benchmark]'")
    notes += f" {datetime.date.today()}; load {os.getloadavg()[0]:.1f} before"
    workspace = Workspace(flags.work_dir, pairs)
    results = {}
    for number, (name, measure) in enumerate(FIGURES.items(), 1):
        if not flags.only or name in flags.only:
            print(f"measuring {name}", file=sys.stderr)
            results[number] = measure(workspace, sizes)
    notes += f", {os.getloadavg()[0]:.1f} after."
    if flags.quick:
        notes += " A quick run: it shows that the program works, not what the figures are."
    text = report(results, notes)
    print(text, end="")
    if flags.output:
        flags.output.write_text(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measures beam-bleu against what it must reach.")
    add = parser.add_argument
    add("--pairs", type=int, metavar="N", help=f"pairs of the corpus, default {_PAIRS:,}")
    add("--quick", action="store_true", help=f"a short trial with {_QUICK_PAIRS:,} pairs")
    add(
        "--work_dir",
        type=pathlib.Path,
        metavar="DIR",
        default=pathlib.Path(tempfile.gettempdir()) / "beam-bleu-benchmark",
        help="keeps the corpus, default %(default)s",
    )
    add("--only", nargs="+", choices=FIGURES, metavar="ROW", help=f"some of {', '.join(FIGURES)}")
    add("--output", type=pathlib.Path, metavar="FILE", help="also writes the report there")
    return parser


if __name__ == "__main__":
    _main()
