"""On Flink the work is spread over workers, and a fault does not change the result."""

from __future__ import annotations

import base64
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import (
    COMMAND,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Argument,
    called,
    read_lines,
    streams,
)

from deploy.local.flink import FlinkCluster

COPIES, SYSTEMS_AT_ONCE = 12_000, 12
"""Copies of the example: enough for something to happen while they are scored."""

AT_WORK = 250_000_000
"""Bytes: a worker that has read more than this has started and reads text."""

SCORES = 150_000_000
"""Bytes: more than a worker reads to start."""

OVER = ("FINISHED", "FAILED", "CANCELED")

PATIENCE = 300.0
"""Seconds for a job, including the work that it repeats."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Argument]:
    """Lines that are all different, so that no line can be counted in place of another."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = []
    for name, source in (("candidates", SYSTEMS["atlas"]), ("references", REFERENCES[0])):
        lines = read_lines(source)
        text = "".join(
            f"{line} {number}\n" for number, line in enumerate(itertools.chain(*[lines] * COPIES))
        )
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    systems = [f"{number}={paths[0]}" for number in range(SYSTEMS_AT_ONCE)]
    return streams(systems, paths[1:], "--range_bytes=20000000")


@pytest.fixture(scope="module")
def expected(corpus: list[Argument]) -> bytes:
    return called(*corpus, "--format=json").out


class Watched:
    """A job on Flink, and what the test saw while it ran."""

    def __init__(self, cluster: FlinkCluster, arguments: list[Argument], output: Path) -> None:
        self._cluster = cluster
        self._before = set(cluster.workers())
        newest = cluster.newest_job()
        self._newest_before = newest and newest["jid"]
        self._deadline = time.monotonic() + PATIENCE
        self.process = subprocess.Popen(
            [*COMMAND, *arguments, f"--output={output}", *cluster.flags()],
            cwd=PROJECT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.job: dict[str, Any] = {}
        self.read: dict[int, int] = {}
        """The bytes that each of its workers has read."""

    def look(self) -> None:
        assert time.monotonic() < self._deadline, self.job
        job = self._cluster.newest_job()
        if job and job["jid"] != self._newest_before:
            self.job = job
        for worker in set(self._cluster.workers()) - self._before:
            # It may have ended since it was listed. Then nothing is known of what it has read.
            self.read[worker] = max(self.read.get(worker, 0), bytes_read(worker))
        time.sleep(0.2)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            assert self.process.poll() is None, self.process.communicate()
            self.look()

    def stage(self, part: str) -> dict[str, Any]:
        found = [stage for stage in self.job.get("vertices", []) if part in stage["name"]]
        return found[0] if found else {"status": "not there"}

    def finish(self) -> None:
        while self.process.poll() is None:
            self.look()
        # Nothing but the job's id and page, and its progress once a minute.
        said = self.process.stderr.read()
        lines = [line for line in said.splitlines() if " beam-bleu: running " not in line]
        assert self.process.returncode == 0, said
        assert [line.split(": ")[1] for line in lines] == [
            "Created job with id",
            "the page of the job",
        ], said
        while self.job["state"] not in OVER:  # Flink tells a little later
            self.look()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        job = self._cluster.newest_job()
        if job and job["jid"] != self._newest_before and job["state"] not in OVER:
            self._cluster.cancel(job["jid"])


def bytes_read(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/io").read_text().split()[1])
    except OSError:  # it has ended
        return 0


def scored(read: dict[int, int], counted: dict[int, int]) -> dict[int, int]:
    """The bytes that workers have read after they had counted this number."""
    return {worker: after - counted.get(worker, 0) for worker, after in read.items()}


def counter(metrics: str, name: str) -> int:
    """The sum of a counter of ours in Beam's metrics, which are its protocol's messages as JSON."""
    total = 0
    for each in json.loads(metrics)["metrics"]["attempted"]:
        if each["labels"].get("NAME") == name:
            payload = base64.b64decode(each["payload"])
            total += sum((byte & 0x7F) << 7 * place for place, byte in enumerate(payload))
    return total


@pytest.fixture
def watched(
    flink: FlinkCluster, corpus: list[Argument], expected: bytes, tmp_path: Path
) -> Iterator[Watched]:
    job = Watched(flink, corpus, tmp_path)
    yield job
    job.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_both_task_managers_and_two_workers_do_the_work(
    flink: FlinkCluster, watched: Watched, expected: bytes, tmp_path: Path
) -> None:
    watched.finish()
    assert (tmp_path / "scores.json").read_bytes() == expected
    assert watched.job["state"] == "FINISHED"

    stage = watched.stage("Count matches")
    managers = flink.ask(f"/jobs/{watched.job['jid']}/vertices/{stage['id']}/taskmanagers")
    did = {
        each["taskmanager-id"]: each["metrics"]["read-records"] for each in managers["taskmanagers"]
    }
    assert set(did) == {each["id"] for each in flink.task_managers()}
    assert all(units >= 3 for units in did.values()), did

    at_work = [read for read in watched.read.values() if read >= AT_WORK]
    assert len(at_work) >= 2, watched.read
    (beams,) = flink.ask(f"/jobs/{watched.job['jid']}/accumulators")["user-task-accumulators"]
    assert counter(beams["value"], "segments") == json.loads(expected)["segments"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_killed_worker_changes_nothing(
    flink: FlinkCluster, watched: Watched, expected: bytes, tmp_path: Path
) -> None:
    watched.wait_until(lambda: watched.stage("Count matches")["status"] == "RUNNING")
    # A worker that scores: one that has only counted lines may be about to end.
    counted = dict(watched.read)
    watched.wait_until(lambda: max(scored(watched.read, counted).values(), default=0) >= SCORES)
    by_worker = scored(watched.read, counted)
    os.kill(max(by_worker, key=by_worker.__getitem__), signal.SIGKILL)
    watched.finish()
    assert (tmp_path / "scores.json").read_bytes() == expected
    assert len(flink.failures(watched.job["jid"])) >= 1
