"""Output that cannot be written, and runs that are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import COMMAND, EXAMPLE, PROJECT, SYSTEMS, signals_begin_as

ATLAS, BIRCH, COBALT = SYSTEMS.values()


def catches_sigterm(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process handles SIGTERM. Python itself does not."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():  # not on Linux
        time.sleep(0.5)
        return True
    caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize(
    ("number", "when"),
    [
        (signal.SIGINT, "while it runs"),
        (signal.SIGHUP, "while it starts"),
        pytest.param(signal.SIGTERM, "while it starts", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_the_run_and_leaves_no_temporary_files(number, when, tmp_path):
    text = tmp_path / "long.txt"
    text.write_text("a rather short line , and another clause .\n" * 3_000_000)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with signals_begin_as(signal.SIG_DFL, number):
        process = subprocess.Popen(
            [*COMMAND, "--candidates", f"x={text}", "--references", text],
            cwd=PROJECT,
            env=os.environ | {"TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    if when == "while it runs":
        while not os.listdir(temporary):  # the folder that gets scores.json
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        time.sleep(0.5)
    else:
        while not catches_sigterm(process):  # from then on the command handles its signals
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    # A first run on a machine says before that it compiles.
    assert (out, err.decode().splitlines()[-1]) == (b"", f"beam-bleu: stopped by {number.name}")
    assert os.listdir(temporary) == []


def test_a_run_that_ignores_the_hangup_goes_on():
    # As under nohup.
    with signals_begin_as(signal.SIG_IGN, signal.SIGHUP):
        process = subprocess.Popen(
            [*COMMAND, *EXAMPLE],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"72 segments" in out


def test_a_closed_pipe_gives_no_traceback():
    # beam-bleu ... | head -0
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        process = subprocess.run(
            [*COMMAND, *EXAMPLE], cwd=PROJECT, stdout=closed, stderr=subprocess.PIPE, timeout=120
        )
    assert b"Traceback" not in process.stderr
    assert b"Exception ignored" not in process.stderr
