"""Compares beam-bleu's speed and memory with other programs and versions, and prints a report.

    python -m benchmarks.speed --output benchmarks/speed/RESULTS.md
    python -m benchmarks.speed --quick
    python -m benchmarks.speed --only before --before ../before/.venv/bin/beam-bleu

The second command prints the main ratios, for developers who change the kernel. The third compares
this installation with another one.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sys
import tempfile

from benchmarks.corpus.workspace import Workspace
from benchmarks.program import (
    add_output_flag,
    command_parser,
    machine,
    publish,
)
from benchmarks.speed import command, engines, inputs, kernel, library
from benchmarks.speed.harness import Benchmark, Report, Setting

_BENCHMARKS: dict[str, Benchmark] = {
    **kernel.BENCHMARKS,
    **command.BENCHMARKS,
    **inputs.BENCHMARKS,
    **library.BENCHMARKS,
}
_ALL = {**_BENCHMARKS, **engines.BENCHMARKS}

_QUICK, _QUICK_PAIRS = ("kernel", "references", "words"), 200_000
_PAIRS, _TRIAL_PAIRS = 2_018_688, 20_000
_DISTRIBUTIONS = (
    *("apache-beam", "numba", "numpy", "pyarrow", "obstore"),
    *("sacrebleu", "jiwer", "rouge-score", "bleuscore"),
    *("fastchrf", "universal-edit-distance", "rapidfuzz"),
)


def _main() -> None:
    flags = _parser().parse_args()
    pairs = _TRIAL_PAIRS if flags.trial else _QUICK_PAIRS if flags.quick else flags.pairs
    if pairs < _TRIAL_PAIRS:
        sys.exit(f"speed: --pairs must be at least {_TRIAL_PAIRS:,}, got {pairs:,}")
    notes = machine(_DISTRIBUTIONS)
    if flags.trial:
        notes += " A trial: it shows that the programs work, not what the figures are."
    report, corpus = Report(), Workspace(flags.work_dir, pairs)
    for name in _QUICK if flags.quick else flags.only or _BENCHMARKS:
        with (
            contextlib.ExitStack() as stack,
            tempfile.TemporaryDirectory(dir=flags.work_dir) as folder,
        ):
            setting = Setting(corpus, pathlib.Path(folder), stack, flags.before)
            for comparison in _ALL[name](setting):
                repeats = 1 if flags.trial else flags.repeats
                rounds = comparison.measured(repeats, warm_up=not flags.trial)
                report.add(name, comparison, rounds)
    publish(report.text(notes), flags.output)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=_PAIRS, metavar="N", help="size of the corpus")
    parser.add_argument(
        "--work_dir",
        type=pathlib.Path,
        default=pathlib.Path(tempfile.gettempdir()) / "beam-bleu-benchmark",
        metavar="DIR",
        help="where the corpus is kept, default %(default)s",
    )
    add_output_flag(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quick", action="store_true", help="only the main ratios, in a few minutes"
    )
    which.add_argument(
        "--only",
        nargs="+",
        choices=_ALL,
        metavar="NAME",
        help=f"benchmarks, of {', '.join(_ALL)}; default: all but those on Flink",
    )
    parser.add_argument("--before", default="", metavar="PROGRAM", help="beam-bleu to compare with")
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help="number of rounds, default %(default)s"
    )
    parser.add_argument(
        "--trial",
        action="store_true",
        help=f"one round with {_TRIAL_PAIRS:,} pairs, to see that everything works",
    )
    return parser


if __name__ == "__main__":
    _main()
