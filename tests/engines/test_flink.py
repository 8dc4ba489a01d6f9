"""On Flink the work is spread, and a fault changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import (
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Argument,
    called,
    streams,
)

from deploy.local.flink import FlinkCluster

COPIES, SYSTEMS_AT_ONCE = 12_000, 12
"""Of the example: so much that something can happen while it is scored."""

BUSY = 4.0
"""CPU seconds after which a worker has started and is scoring."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Argument]:
    folder = tmp_path_factory.mktemp("corpus")
    candidates, references = folder / "candidates.txt", folder / "references.txt"
    candidates.write_bytes(SYSTEMS["atlas"].read_bytes() * COPIES)
    references.write_bytes(REFERENCES[0].read_bytes() * COPIES)
    systems = [f"{number}={candidates}" for number in range(SYSTEMS_AT_ONCE)]
    return streams(systems, [references], "--range_bytes=20000000")


@pytest.fixture(scope="module")
def expected(corpus: list[Argument]) -> bytes:
    return called(*corpus, "--format=json").out


class Watched:
    """A job on Flink, and what was seen of it while it ran."""

    def __init__(self, cluster: FlinkCluster, arguments: list[Argument], output: Path) -> None:
        self._cluster = cluster
        self.output = output
        before = cluster.newest_job()
        command = [sys.executable, "-m", "pipeline", *arguments, f"--output={output}"]
        self.process = subprocess.Popen(
            [*command, *cluster.flags()],
            cwd=PROJECT,
            stderr=subprocess.PIPE,
            text=True,
            stdout=subprocess.DEVNULL,
        )
        self.job: dict[str, Any] = {}
        self.workers: dict[int, float] = {}
        self._before = before and before["jid"]

    def look(self) -> None:
        job = self._cluster.newest_job()
        if job and job["jid"] != self._before:
            self.job = job
        self.workers.update(self._cluster.workers())

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.2)
            self.look()

    def stage(self, part: str) -> dict[str, Any]:
        found = [stage for stage in self.job.get("vertices", []) if part in stage["name"]]
        return found[0] if found else {"status": "not there"}

    def finish(self) -> None:
        while self.process.poll() is None:
            time.sleep(0.2)
            self.look()
        assert (self.process.returncode, self.process.stderr.read()) == (0, "")
        self.look()


def test_both_task_managers_and_two_workers_do_the_work(
    flink: FlinkCluster, corpus: list[Argument], expected: bytes, tmp_path: Path
) -> None:
    watched = Watched(flink, corpus, tmp_path)
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

    counters = flink.ask(f"/jobs/{watched.job['jid']}/accumulators")
    assert "beam_bleu" in str(counters)
    busy = [seconds for seconds in watched.workers.values() if seconds >= BUSY]
    assert len(busy) >= 2, watched.workers


def test_a_killed_worker_changes_nothing(
    flink: FlinkCluster, corpus: list[Argument], expected: bytes, tmp_path: Path
) -> None:
    watched = Watched(flink, corpus, tmp_path)
    watched.wait_until(lambda: watched.stage("Count matches")["status"] == "RUNNING")
    watched.wait_until(lambda: max(flink.workers().values(), default=0) >= BUSY)
    workers = flink.workers()
    os.kill(max(workers, key=workers.__getitem__), signal.SIGKILL)
    watched.finish()
    assert (tmp_path / "scores.json").read_bytes() == expected
    assert len(flink.failures(watched.job["jid"])) >= 1
