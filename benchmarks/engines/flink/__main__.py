"""Measures the job on a Flink cluster of this machine: its workers, its start, and a long run.

    python -m benchmarks.engines.flink --output benchmarks/engines/flink/SCALE.md

Linux only. The corpus is that of the other benchmarks, with many links to each file.
"""

from __future__ import annotations

import datetime
import os
import pathlib
import statistics
import sys
from collections.abc import Callable, Sequence

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.engines.flink.runs import FlinkRun, Run, score_in_process, score_on_flink
from benchmarks.engines.flink.sampling import tenths
from benchmarks.machine import machine
from benchmarks.measure import spread
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish

_ROUNDS = 2


def _compare(text: Text, half: Text) -> list[str]:
    """One and two TaskManagers, and one and two processes by themselves, in turn."""
    contestants: dict[str, Callable[[], Run]] = {
        "in-process, one thread": lambda: score_in_process([text], 1),
        "two such processes, each with half of the text": lambda: score_in_process([half] * 2, 1),
        "Flink, 1 TaskManager": lambda: score_on_flink(text, 1),
        "Flink, 2 TaskManagers": lambda: score_on_flink(text, 2),
    }
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    for _ in range(_ROUNDS):
        for name, contestant in contestants.items():
            runs[name].append(contestant())
            run = runs[name][-1]
            print(f"{name}: {run.wall:.0f} s, {run.cpu:.1f} s of CPU", file=sys.stderr)
    lines = [
        "## Workers",
        "",
        f"{text.pairs:,} pairs, {_ROUNDS} runs each in turn; medians, and the range in brackets. A "
        "TaskManager has one Python worker with one thread. CPU is that of the Python processes. "
        "Their start is what they do before they read text. The last column compares with one "
        "process of the same round.",
        "",
        "| run | reading s | pairs/s while reading | CPU s | start, CPU s | CPU s for a million "
        "pairs, without the start | of one process |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    one, two_processes, one_manager, two_managers = runs.values()
    for name, of in runs.items():
        ratios = [
            run.cpu_per_million / alone.cpu_per_million for run, alone in zip(of, one, strict=True)
        ]
        cells = [
            spread([run.reading for run in of], 1),
            f"{statistics.median(run.rate for run in of):,.0f}",
            spread([run.cpu for run in of], 1),
            spread([run.start_cpu for run in of], 1),
            spread([run.cpu_per_million for run in of], 2),
            spread(ratios, 2),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    memory = [max(run.memory for run in of) / 1e6 for of in runs.values()]
    lines += [
        "",
        f"Two TaskManagers read {_times(two_managers, one_manager)} times as fast as one, and two "
        f"processes by themselves {_times(two_processes, one)} times as fast as one (the same "
        "round, medians and ranges). The largest process of each row used "
        f"{', '.join(f'{each:.0f}' for each in memory)} MB.",
        "",
        *_starts({1: one_manager, 2: two_managers}),
    ]
    return lines


def _times(fast: Sequence[Run], slow: Sequence[Run]) -> str:
    return spread([one.rate / other.rate for one, other in zip(fast, slow, strict=True)], 2)


def _starts(runs: dict[int, list[Run]]) -> list[str]:
    """Where the time goes in which a job on Flink does not read."""
    lines = [
        "## The start of a job",
        "",
        "The same runs. The first columns are seconds since the command began. What a run takes "
        "beside reading is its start, and its end.",
        "",
        "| TaskManagers | Flink has the job | first worker process | first text read | all text "
        "read | end | beside reading | worker processes | their start, CPU s for each "
        "| TaskManagers' CPU s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for managers, of in runs.items():
        on_flink = [run for run in of if isinstance(run, FlinkRun)]
        columns = (
            [run.taken for run in on_flink],
            [run.first_worker for run in on_flink],
            [run.began for run in on_flink],
            [run.read for run in on_flink],
            [run.wall for run in on_flink],
            [run.wall - run.reading for run in on_flink],
        )
        cells = [
            *(spread(column, 1) for column in columns),
            "/".join(sorted({str(run.workers) for run in on_flink})),
            spread([run.start_cpu / run.workers for run in on_flink], 1),
            spread([run.engine_cpu for run in on_flink], 1),
        ]
        lines.append(f"| {managers} | {' | '.join(cells)} |")
    return lines


def _long(text: Text) -> list[str]:
    """A long run on Flink and in-process."""
    on_flink = score_on_flink(text, 2)
    here = score_in_process([text])
    of_engine = on_flink.engine_memory
    engine = [
        max(of_engine[len(of_engine) * i // 10 : len(of_engine) * (i + 1) // 10 + 1])
        for i in range(10)
    ]
    lines = [
        "## A long run",
        "",
        f"{text.pairs:,} pairs, {_size(text) / 1e9:.1f} GB, {len(text.files):,} files, on Flink "
        f"with two TaskManagers ({on_flink.wall:.0f} s) and in-process on all cores "
        f"({here.wall:.0f} s). CPU for a million pairs, without the start: "
        f"{on_flink.cpu_per_million:.2f} s of Flink's workers, {here.cpu_per_million:.2f} s "
        "in-process. Each tenth of the text, while it is scored; memory is that of the largest "
        "process; that of TaskManagers in each tenth of the run.",
        "",
        "| tenth | Flink: pairs/s | Python worker MB | TaskManager MB | in-process: pairs/s | MB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = zip(tenths(on_flink.scoring), engine, tenths(here.scoring), strict=True)
    rates: list[list[float]] = [[], []]
    for number, ((flink_s, worker), manager, (here_s, memory)) in enumerate(rows, 1):
        rates[0].append(text.pairs / 10 / flink_s)
        rates[1].append(text.pairs / 10 / here_s)
        lines.append(
            f"| {number} | {rates[0][-1]:,.0f} | {worker / 1e6:.0f} | {manager / 1e6:.0f} "
            f"| {rates[1][-1]:,.0f} | {memory / 1e6:.0f} |"
        )
    drift = [_drift(each) for each in rates]
    lines += [
        "",
        f"The last five tenths against the first five: Flink {drift[0]:+.1%} pairs/s, "
        f"in-process {drift[1]:+.1%}.",
        "",
        *_sent(on_flink, _size(text)),
    ]
    return lines


def _sent(run: FlinkRun, size: int) -> list[str]:
    """What Flink sent from stage to stage."""
    lines = [
        "What Flink sent from stage to stage in this run:",
        "",
        "| stage | sent | bytes |",
        "| --- | ---: | ---: |",
    ]
    for stage in run.stages:
        metrics = stage["metrics"]
        if metrics["write-records"]:
            name = stage["name"].replace("CHAIN ", "").split(" -> ")[0].replace("|", "/")
            lines.append(f"| {name} | {metrics['write-records']:,} | {metrics['write-bytes']:,} |")
    total = sum(stage["metrics"]["write-bytes"] for stage in run.stages)
    return [*lines, "", f"Together {total:,} bytes, {total / size:.6%} of the text."]


def _drift(rates: Sequence[float]) -> float:
    return statistics.mean(rates[5:]) / statistics.mean(rates[:5]) - 1


def _size(text: Text) -> int:
    return sum(pathlib.Path(path).stat().st_size for path in text.files)


def _main() -> None:
    parser = command_parser((__doc__ or "").splitlines()[0])
    add_corpus_flags(parser)
    parser.add_argument(
        "--copies",
        type=int,
        default=10,
        metavar="N",
        help="of the corpus, an even number, to compare; default 10; 0 leaves this out",
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
    before = os.getloadavg()[0]
    lines: list[str] = []
    if flags.copies:
        half = flags.copies // 2
        lines += ["", *_compare(workspace.copies(2 * half), workspace.copies(half))]
    if flags.long_copies:
        lines += ["", *_long(workspace.copies(flags.long_copies))]
    notes = (
        f"{machine(('apache-beam', 'numba', 'pyarrow'))} {datetime.date.today()}; load "
        f"{before:.1f} before, {os.getloadavg()[0]:.1f} after: if it is above the number of cores "
        "before the runs, compare CPU, and runs of the same round. Made by "
        "`python -m benchmarks.engines.flink`."
    )
    publish("\n".join(["# Scale", "", notes, *lines]) + "\n", flags.output)


if __name__ == "__main__":
    _main()
