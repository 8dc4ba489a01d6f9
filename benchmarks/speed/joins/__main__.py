"""Measures joins by ids: pairs per second and memory, beside the same texts line by line.

python -m benchmarks.speed.joins --output benchmarks/speed/joins/RESULTS.md
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import pathlib
import sys
from collections.abc import Sequence

from benchmarks.corpus.workspace import Workspace
from benchmarks.machine import machine
from benchmarks.measure import BEAM_BLEU, Run, interleaved, medians, run
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish

_SYSTEMS = ("first", "second")
_MOST_BYTES = 1_000_000_000
"""The peak of memory that a join may have."""


def _main() -> None:
    flags = _parser().parse_args()
    folder = _records(Workspace(flags.work_dir, flags.pairs), flags.pairs)
    load = os.getloadavg()[0]
    inputs = {
        "line by line": _arguments(folder, "txt"),
        "joined, Parquet": [*_arguments(folder, "parquet"), "--join_on=id"],
        "joined, JSON lines": [*_arguments(folder, "jsonl"), "--join_on=id"],
    }
    found = interleaved(
        [functools.partial(_score, arguments) for arguments in inputs.values()],
        flags.times,
        warm_up=True,
    )
    results = {name: medians(runs) for name, runs in zip(inputs, found, strict=True)}
    if len({_scores(each) for each in results.values()}) > 1:
        sys.exit("joins: the scores are not the same")
    publish(_report(results, flags, load), flags.output)


def _records(workspace: Workspace, segments: int) -> pathlib.Path:
    text = workspace.whole()
    folder = pathlib.Path(text.references).parent / f"records-{segments}"
    if not folder.exists():
        partial = folder.with_name(f"{folder.name}.partial")
        program = [sys.executable, "-m", "benchmarks.speed.joins.records", str(partial)]
        run([*program, *text.patterns, "--segments", str(segments)])
        partial.rename(folder)
    return folder


def _arguments(folder: pathlib.Path, suffix: str) -> list[str]:
    return [
        f"--references={folder / f'references.{suffix}'}",
        *(f"--candidates={name}={folder / f'{name}.{suffix}'}" for name in _SYSTEMS),
    ]


def _score(arguments: Sequence[str]) -> Run:
    return run([*BEAM_BLEU, *arguments, "--format=json"])


def _scores(each: Run) -> str:
    return json.dumps(json.loads(each.stdout)["scores"])


def _report(results: dict[str, Run], flags: argparse.Namespace, load: float) -> str:
    pairs = flags.pairs * len(_SYSTEMS)
    lines = next(iter(results.values()))
    rows = [
        f"| {name} | {each.wall:.1f} s | {pairs / each.wall:,.0f} | {each.cpu:.1f} s | "
        f"{each.cpu / lines.cpu:.1f}x | {each.peak / 1e6:,.0f} MB |"
        for name, each in results.items()
    ]
    peak = max(each.peak for each in results.values())
    reached = "reached" if peak <= _MOST_BYTES else "NOT reached"
    notes = machine(("apache-beam", "numba", "numpy", "pyarrow"))
    return "\n".join(
        [
            "# Joins by ids",
            "",
            f"{flags.pairs:,} segments, {len(_SYSTEMS)} systems: {pairs:,} pairs. Each system has "
            "its own order of records. The scores of all rows are the same.",
            "`python -m benchmarks.speed.joins` writes this page.",
            "",
            "| input | wall | pairs/s | CPU | CPU, against line by line | peak memory |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            "",
            f"Peak memory, at most {_MOST_BYTES / 1e6:,.0f} MB: {reached}.",
            "",
            f"Medians of {flags.times}. {notes} {datetime.date.today()}; load {load:.1f} before, "
            f"{os.getloadavg()[0]:.1f} after.",
            "",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("Measures joins by ids, beside the same texts line by line.")
    add_corpus_flags(parser)
    parser.set_defaults(pairs=1_000_000)
    add_output_flag(parser)
    parser.add_argument(
        "--times", type=int, default=3, metavar="N", help="runs of each kind, default %(default)s"
    )
    return parser


if __name__ == "__main__":
    _main()
