"""Kills parts of a Flink cluster while a job runs on it, and looks at what comes of it.

    python benchmarks/faults.py --output benchmarks/FAULTS.md

Each fault has a cluster of its own. A run is right if the command ends as it may
after this fault, and there is a scores.json, with the bytes of a run without faults,
if and only if the job finished; if any run is not, the program ends with 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from flink_job import COUNTING, SCORING, FlinkJob, flink
from report import machine
from sampling import sample
from workspace import Text, Workspace

from deploy.local.flink import FlinkCluster

_PATIENCE = 600
"""Seconds for a job and its restarts."""

_AT_WORK = 30_000_000
"""Bytes; whoever reads so many in half a second reads text, and does not only start."""

Act = Callable[[FlinkCluster, FlinkJob], None]


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that goes wrong.

    Attributes:
      name: what.
      stage: the stage that must be running, a part of its name.
      after: seconds from then on.
      act: does it.
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
    """What came of a fault.

    Attributes:
      exit: the exit code of the command; negative if it was killed, None if it never ended.
      message: the first line of its error.
      state: Flink's state of the job at the end.
      failures: how often Flink saw the job fail (and started it again), if it can still tell.
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
        """Whether it ended as it may, and nobody was told a wrong number or a failure as success.

        A job that Flink has ended well has written its scores, whatever its command was told.
        """
        if self.exit not in fault.exits or self.scores == "DIFFERENT":
            return False
        return (self.scores == "same") == (self.exit == 0 or self.state == "FINISHED")


def _kill_worker(cluster: FlinkCluster, job: FlinkJob) -> None:
    # One that is at work: Beam's Flink runner waits for ever for one that dies as it starts.
    before: dict[int, int] = {}
    while job.process.poll() is None:
        read = {worker: sample([worker]).read for worker in cluster.workers()}
        grown = {worker: now - before.get(worker, now) for worker, now in read.items()}
        if max(grown.values(), default=0) > _AT_WORK:
            os.kill(max(grown, key=grown.__getitem__), signal.SIGKILL)
            return
        before = read
        time.sleep(0.5)
    raise RuntimeError("the job was over before a worker could be killed")


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


def _run(
    fault: Fault, text: Text, folder: pathlib.Path, expected: bytes | None
) -> tuple[Outcome, bytes]:
    """Runs a job into a fault; returns what came of it, and scores.json."""
    output = folder / "output"
    with flink(folder / "cluster") as cluster:
        assert isinstance(cluster, FlinkCluster)
        flags = cluster.flags()
        if fault.own_job_server:
            flags = [flag for flag in flags if not flag.startswith("--job_endpoint")]
            flags += [
                f"--flink_master={cluster.rest}",
                f"--flink_job_server_jar={cluster.job_server.jar}",
            ]
        job = FlinkJob(cluster, text, output, flags)
        try:
            job.wait_for(fault.stage)
            time.sleep(fault.after)
            if job.process.poll() is not None:
                raise RuntimeError(f"the job was over before this was killed: {fault.name}")
            fault.act(cluster, job)
            try:
                code: int | None = job.process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                code = None
            # The job may go on without its command; without a JobManager it does not.
            while job.look()["state"] in ("RUNNING", "RESTARTING") and job.seconds < _PATIENCE:
                time.sleep(0.5)
            seconds, state, failures = job.seconds, job.look()["state"], job.failures()
        finally:
            job.stop()
        _, errors = job.process.communicate()
    try:
        found = (output / "scores.json").read_bytes()
        scores = "same" if expected in (None, found) else "DIFFERENT"
    except FileNotFoundError:
        found, scores = b"", "none"
    message = (errors.splitlines() or [""])[0]
    return Outcome(code, message, state, failures, seconds, scores), found


def _report(rows: list[tuple[Fault, Outcome]], notes: str) -> str:
    lines = [
        "# Faults",
        "",
        notes,
        "",
        "| killed with kill -9 | exit | scores.json | Flink's state | failures seen | s | right? |",
        "| --- | ---: | --- | --- | ---: | ---: | --- |",
    ]
    for fault, outcome in rows:
        cells = (
            fault.name,
            "never" if outcome.exit is None else str(outcome.exit),
            outcome.scores,
            outcome.state,
            "" if outcome.failures is None else str(outcome.failures),
            f"{outcome.seconds:.0f}",
            "yes" if outcome.is_right(fault) else "**NO**",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "What the command said where it failed:", ""]
    lines += [f"- {fault.name}: `{outcome.message}`" for fault, outcome in rows if outcome.message]
    return "\n".join(lines) + "\n"


def _main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2_018_688, metavar="N", help="of the corpus")
    parser.add_argument("--copies", type=int, default=20, metavar="N", help="of it; default 20")
    parser.add_argument(
        "--work_dir",
        type=pathlib.Path,
        default=pathlib.Path(tempfile.gettempdir()) / "beam-bleu-benchmark",
        metavar="DIR",
        help="keeps the corpus, default %(default)s",
    )
    parser.add_argument("--only", metavar="TEXT", help="faults whose name has this text")
    parser.add_argument(
        "--output", type=pathlib.Path, metavar="FILE", help="also writes the report there"
    )
    flags = parser.parse_args()
    text = Workspace(flags.work_dir, flags.pairs).copies(flags.copies)
    expected = None
    rows = []
    for fault in FAULTS:
        if expected is not None and flags.only and flags.only not in fault.name:
            continue
        print(f"killing {fault.name}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="beam-bleu-fault-") as folder:
            outcome, found = _run(fault, text, pathlib.Path(folder), expected)
        expected = expected or found
        rows.append((fault, outcome))
        print(outcome, file=sys.stderr, flush=True)
    notes = f"{text.pairs:,} pairs, one system; {machine(('apache-beam', 'numba', 'pyarrow'))}"
    report = _report(rows, notes)
    print(report, end="")
    if flags.output:
        flags.output.write_text(report)
    return 0 if all(outcome.is_right(fault) for fault, outcome in rows) else 1


if __name__ == "__main__":
    sys.exit(_main())
