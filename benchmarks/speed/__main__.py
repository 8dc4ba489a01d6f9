"""Measures the cost of the command, compares it with the required figures, and prints the report.

    python -m benchmarks.speed --output benchmarks/speed/RESULTS.md
    python -m benchmarks.speed --quick

The second one prints the main ratios, for a developer who changes the kernel.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import sys

from benchmarks.corpus.workspace import Workspace
from benchmarks.machine import machine, shown_extras
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish
from benchmarks.speed.figures import FIGURES
from benchmarks.speed.quick import PAIRS as QUICK_PAIRS
from benchmarks.speed.quick import quick_report
from benchmarks.speed.report import report
from benchmarks.speed.sizes import FULL, TRIAL

_DISTRIBUTIONS = (
    *("apache-beam", "numba", "numpy", "pyarrow"),
    *("sacrebleu", "jiwer", "rouge-score", "bleuscore"),
    *("fastchrf", "universal-edit-distance", "rapidfuzz"),
)


def _main() -> None:
    flags = _parser().parse_args()
    sizes = TRIAL if flags.trial else FULL
    pairs = QUICK_PAIRS if flags.quick else sizes.least_pairs if flags.trial else flags.pairs
    if not flags.quick and pairs < sizes.least_pairs:
        sys.exit(f"speed: --pairs must be at least {sizes.least_pairs:,}, got {pairs:,}")
    try:
        notes = f"{machine(_DISTRIBUTIONS)} {shown_extras().capitalize()}."
    except importlib.metadata.PackageNotFoundError as error:
        sys.exit(f"speed: {error.name} is missing: ./run.sh install benchmark")
    notes += f" {datetime.date.today()}; load {os.getloadavg()[0]:.1f} before"
    workspace = Workspace(flags.work_dir, pairs)
    if flags.quick:
        publish(quick_report(workspace, f"{notes}."), flags.output)
        return
    results = {}
    for number, (name, measure) in enumerate(FIGURES.items(), 1):
        if not flags.only or name in flags.only:
            print(f"measuring {name}", file=sys.stderr)
            results[number] = measure(workspace, sizes)
    notes += f", {os.getloadavg()[0]:.1f} after."
    if flags.trial:
        notes += " A trial: it shows that the program works, not what the figures are."
    publish(report(results, notes), flags.output)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("Measures beam-bleu against what it must reach.")
    add_corpus_flags(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quick", action="store_true", help="only the main ratios, in less than three minutes"
    )
    which.add_argument(
        "--only", nargs="+", choices=FIGURES, metavar="ROW", help=f"rows, of {', '.join(FIGURES)}"
    )
    parser.add_argument(
        "--trial",
        action="store_true",
        help=f"runs everything once with {TRIAL.least_pairs:,} pairs, to see that it works",
    )
    add_output_flag(parser)
    return parser


if __name__ == "__main__":
    _main()
