"""`./run.sh cluster` starts an engine, prints its flags, and stops all its processes."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from command_line import PROJECT, REFERENCES, SYSTEMS, streams
from engine_parts import need


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROJECT / "run.sh", *words],
        cwd=PROJECT,
        env={**os.environ, "BEAM_BLEU_CLUSTERS": str(folder)},  # not where a user's own are
        capture_output=True,
        text=True,
        check=False,
    )


def sessions(leader: int) -> set[str]:
    """The processes of a cluster that run: its keeper, and what that has started."""
    words = ["ps", "-A", "-o", "pid=,ppid=,stat="]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines() if " Z" not in line]
    return {pid for pid, parent, _ in rows if str(leader) in (pid, parent)}


def test_start_use_and_stop(tmp_path: Path) -> None:
    need("prism")
    corpus = streams([SYSTEMS["atlas"]], REFERENCES[:1])
    not_yet = run(tmp_path, "cluster", "flags", "prism")
    assert not_yet.returncode == 1
    assert "./run.sh cluster start prism" in not_yet.stderr
    # As $(...) in a command, this must not become a run without the cluster.
    assert run(tmp_path, *corpus, *not_yet.stdout.split()).returncode == 2

    assert run(tmp_path, "cluster", "start", "prism").returncode == 0
    try:
        leader = int((tmp_path / "prism" / "pid").read_text())
        assert "running already" in run(tmp_path, "cluster", "start", "prism").stderr

        flags = run(tmp_path, "cluster", "flags", "prism").stdout.split()
        assert "--environment_type=EXTERNAL" in flags
        job = run(tmp_path, *corpus, "--output", tmp_path / "out", *flags)
        assert (job.returncode, job.stdout) == (0, run(tmp_path, *corpus).stdout), job.stderr
        started = sessions(leader)
        assert len(started) >= 3  # the leader, Prism, the pool of workers
    finally:
        stopped = run(tmp_path, "cluster", "stop", "prism")
    assert stopped.returncode == 0
    # A killed process needs a moment to end.
    end = time.monotonic() + 60
    while any(Path("/proc", each).exists() for each in started) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [each for each in started if Path("/proc", each).exists()]
    assert run(tmp_path, "cluster", "flags", "prism").returncode == 1
