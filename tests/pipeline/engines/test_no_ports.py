"""A local run and its children never listen on a network port."""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
from pathlib import Path

from command_line import BEFORE_BEAM, COMMAND, PROJECT, streams, write_lines

_LISTEN = "0A"  # the kernel's number of the state


def listening_ports(pid: int) -> list[str]:
    """The addresses that a process or one of its children listens on."""
    own = set()
    tasks = Path(f"/proc/{pid}/task").iterdir()
    for each in [str(pid), *(child for task in tasks for child in children(task))]:
        with contextlib.suppress(OSError):  # closed, or ended
            for descriptor in Path(f"/proc/{each}/fd").iterdir():
                own.update(re.findall(r"socket:\[(\d+)\]", os.readlink(descriptor)))
    rows = [
        row.split()
        for table in ("tcp", "tcp6")
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    return [address for _, address, _, state, *rest in rows if state == _LISTEN and rest[5] in own]


def children(task: Path) -> list[str]:
    return (task / "children").read_text().split()


PROGRAM = f"""{BEFORE_BEAM}
import sys, threading
from beam_bleu.pipeline.main import command
from beam_bleu.transforms.statistics.batch_steps import CountMatches

work, lock = CountMatches.work, threading.Lock()

def watched(self, batch):
    with lock:
        print("at work", flush=True)
        sys.stdin.readline()  # until the test has looked
    return work(self, batch)

CountMatches.work = watched
command()
"""


def test_a_default_run_listens_on_no_port(tmp_path):
    generator = random.Random(1)
    words = [f"word{i}" for i in range(2000)]
    lines = [" ".join(generator.choices(words, k=6)) for _ in range(10_000)]
    files = [
        write_lines(tmp_path / f"{name}.txt", generator.sample(lines, k=10_000))
        for name in ("a", "b", "reference")
    ]
    output = tmp_path / "out"
    arguments = streams(files[:2], files[2:], "--output", output, "--range_bytes", "20000")
    arguments.append("--quiet")  # these texts have no 4-gram in common, which gives a warning
    process = subprocess.Popen(
        [COMMAND[0], "-c", PROGRAM, *arguments],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    ports, looks = [], 0
    for line in process.stdout:
        if line == b"at work\n":
            ports += listening_ports(process.pid)
            looks += 1
            process.stdin.write(b"\n")
            process.stdin.flush()
    _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert (output / "scores.json").is_file()
    assert ports == []
    assert looks >= 24  # the run was really watched
