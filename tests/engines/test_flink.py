"""On Flink the work is spread over all task managers and several workers."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import (
    COMMAND,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
    streams,
    write_lines,
)

from deploy.local.flink import FlinkCluster

COPIES, SYSTEMS_AT_ONCE = 12_000, 12
"""Copies of the example: enough for all workers."""

AT_WORK = 250_000_000
"""Bytes: a worker that has read more than this has started and reads text."""


def bytes_read(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/io").read_text().split()[1])
    except OSError:  # it has ended
        return 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_both_task_managers_and_two_workers_do_the_work(
    flink: FlinkCluster, tmp_path: Path
) -> None:
    paths = []
    for source in (SYSTEMS["atlas"], REFERENCES[0]):
        # The lines are all different, so that no line can be counted in place of another.
        copies = itertools.chain.from_iterable([read_lines(source)] * COPIES)
        lines = [f"{line} {number}" for number, line in enumerate(copies)]
        paths.append(write_lines(tmp_path / source.name, lines))
    systems = [f"{number}={paths[0]}" for number in range(SYSTEMS_AT_ONCE)]
    corpus = streams(systems, paths[1:], "--range_bytes=20000000")
    before = set(flink.workers())
    command = [*COMMAND, *corpus, f"--output={tmp_path}/out", "--progress=off", *flink.flags()]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
    read: dict[int, int] = {}
    end = time.monotonic() + 300
    try:
        while process.poll() is None:
            assert time.monotonic() < end
            for worker in set(flink.workers()) - before:
                # It may have ended since it was listed. Then nothing is known of what it has read.
                read[worker] = max(read.get(worker, 0), bytes_read(worker))
            time.sleep(0.2)
    finally:
        process.kill()
    assert process.returncode == 0
    assert len([each for each in read.values() if each >= AT_WORK]) >= 2, read
    while (job := flink.newest_job())["state"] != "FINISHED":  # Flink tells a little later
        assert time.monotonic() < end
        time.sleep(0.2)
    (stage,) = (each for each in job["vertices"] if "Count matches" in each["name"])
    asked = f"/jobs/{job['jid']}/vertices/{stage['id']}/taskmanagers"
    did = {
        each["taskmanager-id"]: each["metrics"]["read-records"]
        for each in flink.ask(asked)["taskmanagers"]
    }
    assert set(did) == {each["id"] for each in flink.task_managers()}
    assert all(units >= 3 for units in did.values()), did
    expected = called(*corpus, "--format=json")
    assert (tmp_path / "out" / "scores.json").read_bytes() == expected.out
