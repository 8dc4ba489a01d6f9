"""Measures records against line-parallel text and against other programs.

python -m benchmarks.speed.records --output benchmarks/speed/records/RESULTS.md
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import sys

from benchmarks.corpus.workspace import Workspace
from benchmarks.machine import machine
from benchmarks.measure import cores
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish
from benchmarks.speed.records.figures import formats, pandas, polars, record_files
from benchmarks.speed.report import report

_TRIAL_PAIRS = 20_000
_COPIES = 10
_REPEATS = 3
_PANDAS_PAIRS = 10
"""pandas reads a part of the corpus, one in so many pairs, because sacreBLEU takes long."""
_BUSY = (
    " **Other programs used the cores: the wall seconds, and what is reached by them, mean little. "
    "The ratios per CPU second do.**"
)
_DISTRIBUTIONS = ("apache-beam", "numba", "numpy", "pyarrow", "pandas", "polars", "sacrebleu")


def _main() -> None:
    flags = _parser().parse_args()
    pairs = _TRIAL_PAIRS if flags.trial else flags.pairs
    copies, repeats = (1, 1) if flags.trial else (_COPIES, _REPEATS)
    try:
        notes = machine(_DISTRIBUTIONS)
    except importlib.metadata.PackageNotFoundError as error:
        sys.exit(f"records: {error.name} is missing: ./run.sh install benchmark")
    load = os.getloadavg()[0]
    notes += f" {datetime.date.today()}; load {load:.1f} before"
    workspace = Workspace(flags.work_dir, pairs)
    text, part = workspace.copies(copies), workspace.head(pairs // _PANDAS_PAIRS)
    patterns = record_files(workspace.whole(), copies)
    results = {
        1: formats(text, patterns, repeats),
        2: pandas(part, record_files(part, 1), min(repeats, 3)),
        3: polars(text, patterns, repeats),
    }
    notes += f", {os.getloadavg()[0]:.1f} after."
    if load > len(cores()) / 2:
        notes += _BUSY
    if flags.trial:
        notes += " A trial: it shows that the program works, not what the figures are."
    publish(report(results, notes), flags.output)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("Measures beam-bleu on records against what it must reach.")
    add_corpus_flags(parser)
    parser.add_argument(
        "--trial", action="store_true", help=f"a short trial with {_TRIAL_PAIRS:,} pairs"
    )
    add_output_flag(parser)
    return parser


if __name__ == "__main__":
    _main()
