"""The parts of a Flink cluster to kill while a job runs, and how the run may end then."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from deploy.local.flink import FlinkCluster
from deploy.local.flink_job import COUNTING, SCORING, FlinkJob

_AT_WORK = 30_000_000
"""Bytes: a worker that reads this much in half a second reads text; a starting one reads less."""

Act = Callable[[FlinkCluster, FlinkJob], None]


@dataclasses.dataclass(frozen=True)
class Fault:
    """A part that is killed while a job runs.

    Attributes:
      name: which part, and when.
      stage: a part of the name of the stage that must run then.
      after: seconds from then until it is killed.
      act: kills it.
      exits: the exit codes with which the command may end.
      own_job_server: whether the submitting process starts the job server itself.
    """

    name: str
    stage: str
    after: float
    act: Act
    exits: tuple[int, ...] = (0,)
    own_job_server: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run with a fault ended.

    Attributes:
      exit: the exit code of the command; negative if it was killed, None if it never ended.
      message: the first line of its error.
      state: Flink's state of the job at the end.
      failures: how often Flink saw the job fail (and started it again), if it can still be asked.
      seconds: from the submission to the end of the command and of the job.
      scores: "same", "none", or "DIFFERENT".
    """

    exit: int | None
    message: str
    state: str
    failures: int | None
    seconds: float
    scores: str

    def is_right(self, fault: Fault) -> bool:
        """Whether the run ended in an allowed way, with the right scores or without scores.

        If the job succeeded on Flink, its scores must exist, even if the command failed.
        """
        if self.exit not in fault.exits or self.scores == "DIFFERENT":
            return False
        return (self.scores == "same") == (self.exit == 0 or self.state == "FINISHED")


def _kill_worker(cluster: FlinkCluster, job: FlinkJob) -> None:
    # A worker that reads text: if one dies while it starts, Beam's Flink runner waits forever.
    before: dict[int, int] = {}
    while job.process.poll() is None:
        read = {worker: _bytes_read(worker) for worker in cluster.workers()}
        grown = {worker: now - before.get(worker, now) for worker, now in read.items()}
        if max(grown.values(), default=0) > _AT_WORK:
            os.kill(max(grown, key=grown.__getitem__), signal.SIGKILL)
            return
        before = read
        time.sleep(0.5)
    raise RuntimeError("the job ended before a worker could be killed: more --copies")


def _bytes_read(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/io").read_text().split()[1])
    except OSError:  # it has ended
        return 0


def _kill_worker_twice(cluster: FlinkCluster, job: FlinkJob) -> None:
    _kill_worker(cluster, job)
    time.sleep(12)
    job.wait_for(SCORING)
    _kill_worker(cluster, job)


def _kill_task_manager(cluster: FlinkCluster, job: FlinkJob) -> None:
    cluster.processes.kill(cluster.task_manager_names[0])


def _replace_task_manager(cluster: FlinkCluster, job: FlinkJob) -> None:
    _kill_task_manager(cluster, job)
    cluster.start_task_manager(cluster.task_manager_names[0])


def _kill_job_manager(cluster: FlinkCluster, job: FlinkJob) -> None:
    cluster.processes.kill("jobmanager")


def _replace_job_manager(cluster: FlinkCluster, job: FlinkJob) -> None:
    _kill_job_manager(cluster, job)
    cluster.start_job_manager()


def _kill_job_server(cluster: FlinkCluster, job: FlinkJob) -> None:
    cluster.processes.kill("jobserver")


def _kill_pool(cluster: FlinkCluster, job: FlinkJob) -> None:
    cluster.processes.kill("workers")
    cluster.start_workers()


def _kill_submitter(cluster: FlinkCluster, job: FlinkJob) -> None:
    job.process.kill()


_KILLED = -signal.SIGKILL

FAULTS = (
    Fault("nothing", SCORING, 0, lambda cluster, job: None),
    Fault("a Python worker, while lines are counted", COUNTING, 0.5, _kill_worker),
    Fault("a Python worker, while segments are scored", SCORING, 8, _kill_worker),
    Fault("a Python worker, and 12 s later another one", SCORING, 4, _kill_worker_twice),
    Fault("the pool and all its workers; the pool is started again", SCORING, 8, _kill_pool),
    Fault("a TaskManager, while lines are counted", COUNTING, 0.5, _kill_task_manager),
    Fault("a TaskManager, while segments are scored", SCORING, 8, _kill_task_manager),
    Fault("a TaskManager; it is started again", SCORING, 8, _replace_task_manager),
    Fault("the JobManager", SCORING, 8, _kill_job_manager, (1,)),
    Fault("the JobManager; it is started again", SCORING, 8, _replace_job_manager, (1,)),
    Fault("Beam's job server", SCORING, 8, _kill_job_server, (1,)),
    Fault("the submitting process", SCORING, 8, _kill_submitter, (_KILLED,)),
    Fault(
        "the submitting process, which had started the job server",
        *(SCORING, 8, _kill_submitter, (_KILLED,)),
        own_job_server=True,
    ),
)
