"""`./run.sh cluster` starts an engine, tells how to use it, and stops all of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from command_line import PROJECT, REFERENCES, SYSTEMS, streams
from engine_parts import need

STATE = PROJECT / ".cluster" / "prism" / "cluster.json"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [PROJECT / "run.sh", *words]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def processes_of(leader: int) -> list[str]:
    """The processes whose parent is `leader`."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "ppid=,args="], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if line.split()[0] == str(leader)]


def is_running(process: int) -> bool:
    """Whether it runs; one that has ended and that nobody has asked for its end does not."""
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")


def test_start_use_and_stop(tmp_path: Path) -> None:
    need("prism")
    run("cluster", "stop", "prism")
    not_yet = run("cluster", "flags", "prism")
    assert not_yet.returncode == 1
    assert "./run.sh cluster start prism" in not_yet.stderr

    assert run("cluster", "start", "prism").returncode == 0
    try:
        leader = json.loads(STATE.read_text())["pid"]
        assert len(processes_of(leader)) == 2  # Prism and the pool of workers
        assert "running already" in run("cluster", "start", "prism").stderr

        flags = run("cluster", "flags", "prism").stdout.split()
        assert "--environment_type=EXTERNAL" in flags
        corpus = streams([SYSTEMS["atlas"]], REFERENCES[:1])
        job = run(*corpus, "--output", tmp_path, *flags)
        assert (job.returncode, job.stdout) == (0, run(*corpus).stdout), job.stderr
    finally:
        stopped = run("cluster", "stop", "prism")
    assert stopped.returncode == 0
    assert processes_of(leader) == []
    assert not is_running(leader)
    assert run("cluster", "flags", "prism").returncode == 1
