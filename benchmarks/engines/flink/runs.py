"""Runs the command on a Flink cluster and in-process, and takes samples meanwhile."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.corpus.workspace import Text
from benchmarks.engines.flink.sampling import Sample, reading, sample, watch
from benchmarks.measure import BEAM_BLEU, ROOT
from deploy.local.engines import flink_cluster
from deploy.local.flink_job import FlinkJob


@dataclasses.dataclass(frozen=True)
class Run:
    """A run, on Flink or in-process.

    Attributes:
      pairs: the pairs that it scored.
      wall: seconds from the command to its end.
      began, read: seconds from the command until the first text was read, and until all was read.
      samples: samples of the Python processes that read text.
    """

    pairs: int
    wall: float
    began: float
    read: float
    samples: Sequence[Sample]

    @property
    def reading(self) -> float:
        """Seconds while text was read, which is first counted and then scored."""
        return self.read - self.began

    @property
    def rate(self) -> float:
        """Pairs for each second while text was read."""
        return self.pairs / self.reading

    @property
    def cpu(self) -> float:
        """Seconds of CPU of the Python processes."""
        return max(each.cpu for each in self.samples)

    @property
    def start_cpu(self) -> float:
        """Those before they read text."""
        return self.samples[-1].start

    @property
    def cpu_per_million(self) -> float:
        """Seconds of CPU for a million pairs, without the start."""
        return (self.cpu - self.start_cpu) / self.pairs * 1e6

    @property
    def memory(self) -> int:
        """Bytes of the largest of the Python processes."""
        return max(each.memory for each in self.samples)

    @property
    def scoring(self) -> list[Sample]:
        """The samples after all lines were counted."""
        samples = [each for each in self.samples if each.memory]
        half = samples[-1].text / 2  # everything is read twice: counted, then scored
        return [each for each in samples if each.text >= half]


@dataclasses.dataclass(frozen=True)
class FlinkRun(Run):
    """A run on Flink. Its Python processes are the workers.

    Attributes:
      taken: seconds from the command until Flink had the job.
      first_worker: seconds from the command until the first worker process was seen.
      workers: how many worker processes were started.
      engine_cpu: seconds of CPU of the TaskManagers.
      engine_memory: bytes of the largest TaskManager in each sample.
      stages: Flink's account of the job.
    """

    taken: float
    first_worker: float
    workers: int
    engine_cpu: float
    engine_memory: Sequence[int]
    stages: Sequence[dict[str, Any]]


def score_on_flink(text: Text, task_managers: int) -> FlinkRun:
    """Scores a text on a new cluster.

    Raises:
      RuntimeError: the job failed, or it did not score every pair.
    """
    with (
        tempfile.TemporaryDirectory(prefix="beam-bleu-scale-") as folder,
        flink_cluster(pathlib.Path(folder, "cluster"), task_managers=task_managers) as cluster,
    ):
        engine = [cluster.processes.pid(name) for name in cluster.task_manager_names]
        before = sample(engine).cpu
        memory: list[int] = []
        seen: dict[int, float] = {}
        command, begun = time.time(), time.monotonic()
        job = FlinkJob(cluster, text.arguments, pathlib.Path(folder, "output"))

        def workers() -> list[int]:
            memory.append(sample(engine).memory)
            found = list(cluster.workers())
            for worker in found:
                seen.setdefault(worker, time.monotonic() - begun)
            return found

        try:
            samples = watch(workers, lambda: job.process.poll() is not None)
            wall = job.seconds
            if job.process.returncode:
                raise RuntimeError(job.process.communicate()[1])
            found = json.loads(pathlib.Path(folder, "output", "scores.json").read_bytes())
            _require_all(text, found["segments"])
            account = job.look()
            began, read = reading(samples)
            return FlinkRun(
                pairs=text.pairs,
                wall=wall,
                began=began - begun,
                read=read - begun,
                samples=samples,
                taken=account["start-time"] / 1000 - command,
                first_worker=min(seen.values()),
                workers=len(seen),
                engine_cpu=sample(engine).cpu - before,
                engine_memory=memory,
                stages=account["vertices"],
            )
        finally:
            job.stop()


def score_in_process(texts: Sequence[Text], threads: int | None = None) -> Run:
    """Scores texts without an engine, each in a process of its own, at the same time.

    Args:
      texts: the texts.
      threads: the threads of each process; None: all cores.

    Raises:
      RuntimeError: a command failed, or it did not score every pair.
    """
    flags = ["--format=json", *([] if threads is None else [f"--threads={threads}"])]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="beam-bleu-scale-") as folder:
        outs = [pathlib.Path(folder, str(number)) for number in range(len(texts))]
        processes = []
        for text, out in zip(texts, outs, strict=True):
            with open(out, "wb") as file:
                command = [*BEAM_BLEU, *text.arguments, *flags]
                processes.append(
                    subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file)
                )
        samples = watch(
            lambda: [process.pid for process in processes],
            lambda: all(process.poll() is not None for process in processes),
        )
        wall = time.monotonic() - begun
        for text, out, process in zip(texts, outs, processes, strict=True):
            if process.returncode:
                raise RuntimeError(f"the run in-process failed: {process.returncode}")
            _require_all(text, json.loads(out.read_bytes())["segments"])
    began, read = reading(samples)
    pairs = sum(text.pairs for text in texts)
    return Run(pairs, wall, began - begun, read - begun, samples)


def _require_all(text: Text, segments: int) -> None:
    if segments != text.pairs:
        raise RuntimeError(f"{segments} segments of {text.pairs} were scored")
