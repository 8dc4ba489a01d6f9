"""The error of an engine becomes one line."""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import sys

import pytest

from beam_bleu.pipeline.errors.reporting import reported
from beam_bleu.pipeline.errors.told_errors import MarkedError
from beam_bleu.transforms.errors import InputError, JobError

BAD = InputError("a line is bad", "repair it")

LOST = """<_MultiThreadedRendezvous of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "Socket closed"
\tdebug_error_string = "UNAVAILABLE:Socket closed"
>"""

WORKERS = """Traceback (most recent call last):
  File "worker.py", line 1, in work
OSError: the disk is full

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
RuntimeError: Bundle processing has failed."""

MISSING = (
    "Traceback (most recent call last):\n"
    "ModuleNotFoundError: No module named 'beam_bleu.transforms'\n"
)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (LOST, 'the job failed: debug_error_string = "UNAVAILABLE:Socket closed"'),
        (WORKERS, "the job failed: OSError: the disk is full"),
        ("", "the job failed: RuntimeError"),
        (MISSING, "the workers do not have beam-bleu"),
        (f"{MarkedError('a line is bad', BAD)} at x", "a line is bad"),
        ("bad [while running 'x'] [while running 'y']", "the job failed: bad"),
        ("what\x1b[2J\x9b2J\u202e \udcff", r"the job failed: what\x1b[2J\x9b2J\u202e \udcff"),
    ],
)
def test_one_line_of_cause_and_one_of_remedy(said, shown, capfd) -> None:
    def fail() -> None:
        raise RuntimeError(said)

    code = reported(fail, verbose=False)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == f"beam-bleu: {shown}"
    assert len(lines) == 2
    assert code == (3 if "[3]" in said else 1)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_warning_of_the_library_is_the_commands_own(verbose: bool, capfd) -> None:
    def work() -> None:
        logging.getLogger("beam_bleu").warning("the %s is full", "disk")
        logging.getLogger("another").warning("seen only by --verbose")

    assert reported(work, verbose) == 0
    lines = capfd.readouterr().err.splitlines()
    assert [line for line in lines if "another" not in line] == [
        "beam-bleu: warning: the disk is full"
    ]
    assert len(lines) == (2 if verbose else 1)
    assert not logging.getLogger("beam_bleu").handlers


def test_the_log_of_a_run_with_verbose_is_escaped_too(capfd) -> None:
    def fail() -> None:
        logging.getLogger("engine").warning("a path: %s", "x\x1b[2J\nnext line")
        raise RuntimeError("bad\x07")

    assert reported(fail, verbose=True) == 1
    err = capfd.readouterr().err
    assert "WARNING:engine:a path: x\\x1b[2J\nnext line\n" in err
    assert "Traceback (most recent call last):\n" in err
    assert "RuntimeError: bad\\x07\n" in err
    assert not re.search(r"[^\n -~]", err)


def test_the_limit_of_open_files_always_has_its_own_remedy(capfd) -> None:
    def fail() -> None:
        try:
            raise OSError(24, "Too many open files")
        except OSError as error:
            raise JobError("/out cannot be written", "check the folder") from error

    assert reported(fail, verbose=False) == 1
    cause, remedy = capfd.readouterr().err.splitlines()
    assert cause == "beam-bleu: too many open files: /out cannot be written"
    assert "ulimit -n" in remedy


_WAITING = """
import os, signal, threading, time
from beam_bleu.pipeline.errors.reporting import reported

def send():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)

def wait():
    threading.Thread(target=send, daemon=True).start()
    # Another thread gets the signal, so it does not interrupt the wait of this one.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    threading.Event().wait(30)

reported(wait, verbose=0)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such signals")
def test_a_signal_that_does_not_interrupt_a_wait_ends_it():
    run = subprocess.run([sys.executable, "-c", _WAITING], capture_output=True, timeout=25)
    assert (run.returncode, run.stderr) == (143, b"beam-bleu: stopped by SIGTERM\n")
