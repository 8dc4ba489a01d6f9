"""Runs the command on a Flink cluster and in-process, and takes samples while it scores."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tempfile
from typing import Any

from benchmarks.corpus.workspace import Text
from benchmarks.engines.flink.sampling import Sample, sample, watch
from benchmarks.measure import BEAM_BLEU, ROOT
from deploy.local.engines import flink_cluster
from deploy.local.flink_job import COUNTING, SCORING, FlinkJob


@dataclasses.dataclass(frozen=True)
class FlinkRun:
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
        job = FlinkJob(cluster, text.arguments, pathlib.Path(folder, "output"))
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
            return FlinkRun(
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


def score_in_process(text: Text) -> list[Sample]:
    """Samples of the command without an engine, after it has counted the lines.

    Raises:
      RuntimeError: the command failed, or it did not score every pair.
    """
    command = [*BEAM_BLEU, *text.arguments, "--format=json"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out)
        samples = watch(lambda: [process.pid], lambda: process.poll() is not None)
        out.seek(0)
        if process.returncode or json.load(out)["segments"] != text.pairs:
            raise RuntimeError(f"the run in-process failed: {process.returncode}")
    samples = [each for each in samples if each.memory]
    half = samples[-1].read / 2  # everything is read twice: counted, then scored
    return [each for each in samples if each.read >= half]
