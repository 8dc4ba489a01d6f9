"""On a real Flink, the command says early and by name what is wrong, and what it has sent."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from command_line import EXAMPLE, PROJECT, Run, streams, typed, write_lines
from other_pool import without

from deploy.local.engines import cluster_here
from deploy.local.flink import FlinkCluster


@pytest.fixture
def dead_pool() -> Iterator[str]:
    """The address of a pool that does not run."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{deaf.getsockname()[1]}"


def read_until(stream: IO[str], text: str) -> list[str]:
    """The lines of a stream, up to the first one that has this text."""
    lines: list[str] = []
    for line in stream:
        lines.append(line)
        if text in line:
            return lines
    raise RuntimeError(f"the stream ended before {text!r}: {lines}")


def wait_for_scoring(cluster: FlinkCluster, job: subprocess.Popen[str]) -> None:
    """Waits until Flink runs the stage that counts matches."""
    while job.poll() is None:
        stages = (cluster.newest_job() or {}).get("vertices", [])
        if any("Count matches" in each["name"] and each["status"] == "RUNNING" for each in stages):
            return
        time.sleep(0.2)
    raise RuntimeError(f"the job ended before it scored: {job.communicate()}")


def test_a_dead_pool_is_named(flink: FlinkCluster, dead_pool: str, tmp_path: Path) -> None:
    flags = [*without(flink.flags(), "environment_config"), f"--environment_config={dead_pool}"]
    run = typed(*EXAMPLE, "--output", tmp_path / "out", *flags)
    assert run.code == 1
    assert "the engine finds no pool of Python workers: " in run.err.splitlines()[-2]


def test_flink_shows_the_name_and_the_command_shows_the_page(
    flink: FlinkCluster, tmp_path: Path
) -> None:
    run = typed(*EXAMPLE, "--output", tmp_path / "out", *flink.flags(), "--verbose")
    assert run.code == 0, run.err
    job = flink.newest_job()
    assert job is not None
    assert re.fullmatch(r"beam-bleu-20\d{6}-\d{6}-[0-9a-f]{4}", job["name"])
    assert f"beam-bleu: the page of the job: {flink.rest}/#/job/{job['jid']}\n" in run.err
    # Which states are seen depends on when Flink is asked.
    assert re.search(r"the state of the job: [A-Z]+, \d+ of \d+ tasks finished\n", run.err)
    assert f"Created job with id: [{job['name']}_" in run.err


def test_a_cluster_that_is_stopped_during_a_job(tmp_path: Path) -> None:
    texts = [
        write_lines(tmp_path / name, [f"a b c d {n}" for n in range(400_000)]) for name in "cr"
    ]
    corpus = streams([f"{n}={texts[0]}" for n in range(12)], texts[1:], "--range_bytes=200000")
    cluster = cluster_here("flink", tmp_path / "cluster")
    assert isinstance(cluster, FlinkCluster)
    with cluster:
        command = [sys.executable, "-m", "beam_bleu.pipeline", *map(str, corpus), *cluster.flags()]
        with subprocess.Popen(
            [*command, f"--output={tmp_path / 'out'}"],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as job:
            try:
                wait_for_scoring(cluster, job)
                # The command looks at the job every 2 seconds: Flink must not stop before that.
                said = read_until(job.stderr, "the page of the job: http://127.0.0.1:")
                cluster.processes.stop()
                code = job.wait(60)
            except (subprocess.TimeoutExpired, RuntimeError):
                job.kill()
                raise
            out, err = job.stdout.read(), job.stderr.read()
    assert said[0].startswith("beam-bleu: Created job with id: [")
    error = [line for line in err.splitlines() if " beam-bleu: running " not in line]
    Run(code, out.encode(), "\n".join(error)).assert_failed(
        1, "the connection to the job server at 127.0.0.1:"
    )
    assert not (tmp_path / "out" / "scores.json").exists()
