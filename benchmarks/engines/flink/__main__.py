"""Measures the job on a Flink cluster of this machine: one TaskManager against two, and a long run.

    python -m benchmarks.engines.flink --output benchmarks/engines/flink/SCALE.md

Linux only. The corpus is that of the other benchmarks, with many links to each file.
"""

from __future__ import annotations

import datetime
import os
import pathlib
import statistics
import sys
from collections.abc import Sequence

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.engines.flink.runs import FlinkRun, score_in_process, score_on_flink
from benchmarks.engines.flink.sampling import tenths
from benchmarks.machine import machine
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish

_ROUNDS = 2


def _compare(text: Text) -> list[str]:
    """One TaskManager against two, in turn."""
    runs: dict[int, list[FlinkRun]] = {1: [], 2: []}
    for _ in range(_ROUNDS):
        for managers, of in runs.items():
            of.append(score_on_flink(text, managers))
            print(f"{managers}: {of[-1].wall:.0f} s", file=sys.stderr)
    lines = [
        "## One TaskManager against two",
        "",
        f"{text.pairs:,} pairs, {_ROUNDS} runs each in turn; medians, and the range in brackets. "
        "A TaskManager has one Python worker with one thread.",
        "",
        "| TaskManagers | whole job s | counting lines s | scoring s | workers' CPU s "
        "| TaskManagers' CPU s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for managers, of in runs.items():
        cells = [
            _spread([getattr(run, name) for run in of])
            for name in ("wall", "counting", "scoring", "workers_cpu", "engine_cpu")
        ]
        lines.append(f"| {managers} | {' | '.join(cells)} |")
    one, two = (statistics.median(run.scoring for run in of) for of in runs.values())
    lines += ["", f"Two score {one / two:.2f} times as fast as one."]
    return lines


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def _long(text: Text) -> list[str]:
    """A long run on Flink and in-process."""
    on_flink = score_on_flink(text, 2)
    here = score_in_process(text)
    lines = [
        "## A long run",
        "",
        f"{text.pairs:,} pairs, {_size(text) / 1e9:.1f} GB, {len(_paths(text)):,} files, on Flink "
        f"with two TaskManagers ({on_flink.wall:.0f} s, of which counting lines "
        f"{on_flink.counting:.0f} s) and in-process. Each tenth of the text, while it is scored; "
        "memory is that of the largest process.",
        "",
        "| tenth | Flink: pairs/s | Python worker MB | TaskManager MB | in-process: pairs/s | MB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = zip(tenths(on_flink.workers), on_flink.engine_memory, tenths(here), strict=True)
    rates: list[list[float]] = [[], []]
    for number, ((flink_s, worker), engine, (here_s, memory)) in enumerate(rows, 1):
        rates[0].append(text.pairs / 10 / flink_s)
        rates[1].append(text.pairs / 10 / here_s)
        lines.append(
            f"| {number} | {rates[0][-1]:,.0f} | {worker / 1e6:.0f} | {engine / 1e6:.0f} "
            f"| {rates[1][-1]:,.0f} | {memory / 1e6:.0f} |"
        )
    drift = [_drift(each) for each in rates]
    lines += [
        "",
        f"The last five tenths against the first five: Flink {drift[0]:+.1%} pairs/s, "
        f"in-process {drift[1]:+.1%}.",
        "",
        "What Flink sent from stage to stage in this run:",
        "",
        "| stage | sent | bytes |",
        "| --- | ---: | ---: |",
    ]
    for stage in on_flink.stages:
        metrics = stage["metrics"]
        if metrics["write-records"]:
            name = stage["name"].replace("CHAIN ", "").split(" -> ")[0].replace("|", "/")
            lines.append(f"| {name} | {metrics['write-records']:,} | {metrics['write-bytes']:,} |")
    total = sum(stage["metrics"]["write-bytes"] for stage in on_flink.stages)
    lines += ["", f"Together {total:,} bytes, {total / _size(text):.6%} of the text."]
    return lines


def _drift(rates: Sequence[float]) -> float:
    return statistics.mean(rates[5:]) / statistics.mean(rates[:5]) - 1


def _paths(text: Text) -> list[pathlib.Path]:
    return [
        path
        for pattern in text.patterns
        for path in pathlib.Path(pattern).parent.glob(pathlib.Path(pattern).name)
    ]


def _size(text: Text) -> int:
    return sum(path.stat().st_size for path in _paths(text))


def _main() -> None:
    parser = command_parser((__doc__ or "").splitlines()[0])
    add_corpus_flags(parser)
    parser.add_argument(
        "--copies",
        type=int,
        default=10,
        metavar="N",
        help="of the corpus, to compare; default 10; 0 leaves this out",
    )
    parser.add_argument(
        "--long_copies",
        type=int,
        default=50,
        metavar="N",
        help="of the corpus, in the long run; default 50; 0 leaves it out",
    )
    add_output_flag(parser)
    flags = parser.parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    notes = f"{machine(('apache-beam', 'numba', 'pyarrow'))} {datetime.date.today()}; "
    notes += f"load {os.getloadavg()[0]:.1f} before. Made by `python -m benchmarks.engines.flink`."
    lines = ["# Scale", "", notes]
    if flags.copies:
        lines += ["", *_compare(workspace.copies(flags.copies))]
    if flags.long_copies:
        lines += ["", *_long(workspace.copies(flags.long_copies))]
    publish("\n".join(lines) + "\n", flags.output)


if __name__ == "__main__":
    _main()
