"""Measures the job on a Flink cluster of this machine: one TaskManager against two, and a long run.

    python benchmarks/scale.py --output benchmarks/SCALE.md

Linux only. The corpus is the benchmark's, linked many times.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from flink_job import COUNTING, SCORING, FlinkJob, flink
from measure import ROOT
from report import machine
from sampling import Sample, sample, tenths, watch
from workspace import Text, Workspace

_ROUNDS = 2


@dataclasses.dataclass(frozen=True)
class Scored:
    """A run on Flink.

    Attributes:
      wall: seconds from the submission to the end.
      counting: seconds of the stage that counts lines.
      scoring: seconds of the stage that reads and counts matches.
      workers_cpu: seconds of CPU of the Python workers.
      engine_cpu: seconds of CPU of the TaskManagers.
      workers: samples of the workers while they scored.
      engine_memory: bytes of the largest TaskManager in each tenth of the samples.
      stages: Flink's account of the job.
    """

    wall: float
    counting: float
    scoring: float
    workers_cpu: float
    engine_cpu: float
    workers: list[Sample]
    engine_memory: list[int]
    stages: list[dict[str, Any]]


def _score(text: Text, task_managers: int) -> Scored:
    with (
        tempfile.TemporaryDirectory(prefix="beam-bleu-scale-") as folder,
        flink(pathlib.Path(folder, "cluster"), task_managers) as cluster,
    ):
        engine = [cluster.processes.pid(name) for name in cluster.task_manager_names]
        job = FlinkJob(cluster, text, pathlib.Path(folder, "output"))
        try:
            job.wait_for(SCORING)
            before = sample(engine).cpu
            memory = []

            def workers() -> list[int]:
                memory.append(sample(engine).memory)
                return list(cluster.workers())

            samples = watch(workers, lambda: job.process.poll() is not None)
            wall = job.seconds
            if job.process.returncode:
                raise RuntimeError(job.process.communicate()[1])
            found = json.loads(pathlib.Path(folder, "output", "scores.json").read_bytes())
            if found["segments"] != text.pairs:
                raise RuntimeError(f"{found['segments']} segments of {text.pairs} were scored")
            counting, scoring = job.stage(COUNTING), job.stage(SCORING)
            assert counting is not None
            assert scoring is not None
            return Scored(
                wall=wall,
                counting=counting["duration"] / 1000,
                scoring=scoring["duration"] / 1000,
                workers_cpu=max(each.cpu for each in samples),
                engine_cpu=sample(engine).cpu - before,
                workers=[each for each in samples if each.memory],
                engine_memory=[
                    max(memory[len(memory) * i // 10 : len(memory) * (i + 1) // 10 + 1])
                    for i in range(10)
                ],
                stages=job.look()["vertices"],
            )
        finally:
            job.stop()


def _score_in_process(text: Text) -> list[Sample]:
    """Samples of the command, from when it has counted the lines."""
    command = [sys.executable, "-m", "beam_bleu.pipeline", f"--references={text.references}"]
    command += [f"--candidates=system={text.candidates[0]}", "--format=json"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out)
        samples = watch(lambda: [process.pid], lambda: process.poll() is not None)
        out.seek(0)
        if process.returncode or json.load(out)["segments"] != text.pairs:
            raise RuntimeError(f"the run in-process failed: {process.returncode}")
    samples = [each for each in samples if each.memory]
    half = samples[-1].read / 2  # everything is read twice: counted, then scored
    return [each for each in samples if each.read >= half]


def _compare(text: Text) -> list[str]:
    """One TaskManager against two, in turn."""
    runs: dict[int, list[Scored]] = {1: [], 2: []}
    for _ in range(_ROUNDS):
        for managers, of in runs.items():
            of.append(_score(text, managers))
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
    on_flink = _score(text, 2)
    here = _score_in_process(text)
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--pairs", type=int, default=2_018_688, metavar="N", help="of the corpus")
    add("--copies", type=int, default=10, metavar="N", help="of it, to compare; 0: not")
    add(
        "--long_copies",
        type=int,
        default=50,
        metavar="N",
        help="in the long run; default 50; 0 leaves it out",
    )
    add(
        "--work_dir",
        type=pathlib.Path,
        default=pathlib.Path(tempfile.gettempdir()) / "beam-bleu-benchmark",
        metavar="DIR",
        help="keeps the corpus, default %(default)s",
    )
    add("--output", type=pathlib.Path, metavar="FILE", help="also writes the report there")
    flags = parser.parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    notes = f"{machine(('apache-beam', 'numba', 'pyarrow'))} {datetime.date.today()}; "
    notes += f"load {os.getloadavg()[0]:.1f} before. Made by `benchmarks/scale.py`."
    lines = ["# Scale", "", notes]
    if flags.copies:
        lines += ["", *_compare(workspace.copies(flags.copies))]
    if flags.long_copies:
        lines += ["", *_long(workspace.copies(flags.long_copies))]
    report = "\n".join(lines) + "\n"
    print(report, end="")
    if flags.output:
        flags.output.write_text(report)


if __name__ == "__main__":
    _main()
