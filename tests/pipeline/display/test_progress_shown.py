"""What stderr shows while a run lasts: on a terminal, and in a log."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from command_line import COMMAND, EXAMPLE, PROJECT, called
from terminals import stderr_on_a_terminal

from beam_bleu.pipeline.errors import terminal as display
from beam_bleu.pipeline.errors.reporting import reported
from beam_bleu.pipeline.errors.terminal import (
    log_lines,
    progress_shown,
    say,
    sentence,
    silent_stderr,
)
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.progress import Progress, State

GB = 10**9


def state(phase="scoring", done=0, planned=None, seconds=0.0, detail="", run=None) -> State:
    return State(phase, detail, done, planned, seconds, seconds if run is None else run)


def until(condition: Callable[[], object]) -> None:
    """Waits until something is true, at most a quarter of a minute."""
    for _ in range(1500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


def test_a_line_of_a_log():
    half = state(done=3 * GB, planned=5 * GB, seconds=12)
    assert sentence(half) == "scoring 60 %, 0:00:08 left, 250.0 MB/s, 3.0 GB of 5.0 GB"
    assert sentence(state(planned=5 * GB, seconds=7)) == "scoring 0 %, 0 bytes of 5.0 GB"
    assert sentence(state("listing", seconds=65)) == "listing for 0:01:05"
    running = state("running", seconds=65, detail="job x on Flink, RUNNING, http://h:1/#/x")
    assert sentence(running) == "running for 0:01:05, job x on Flink, RUNNING, http://h:1/#/x"
    assert sentence(state(planned=0)) == "scoring for 0:00:00"


@pytest.fixture
def quick(monkeypatch) -> None:
    """The display looks at the state all the time, so that a test need not wait.

    At the end, a test waits for the display's thread, however slow it is.
    """
    monkeypatch.setattr(display, "_TICK", 0.01)
    monkeypatch.setattr(display, "_DELAY", 0.0)
    monkeypatch.setattr(display, "_PATIENCE", 60.0)


def test_the_line_disappears_and_warnings_stay_above_it(quick, monkeypatch):
    progress = Progress()
    progress.begin("scoring", 100)
    with stderr_on_a_terminal(monkeypatch) as terminal:
        with progress_shown("auto", progress):
            progress.add(30)
            until(lambda: "30 %" in terminal.text)
            say("one")
            progress.add(30)
            until(lambda: "60 %" in terminal.text)
            say("two")
            until(lambda: terminal.text.count("60 %") > 2)
        say("three")
    assert terminal.screen == ["one", "two", "three", ""]
    assert all(text.startswith("scoring ") for text in terminal.states)


@pytest.mark.parametrize("error", [InputError("it is bad", "repair it"), KeyboardInterrupt()])
def test_an_error_is_shown_after_the_line_is_gone(error, quick, monkeypatch):
    progress = Progress()
    with stderr_on_a_terminal(monkeypatch) as terminal:

        def fail() -> None:
            with progress_shown("auto", progress):
                until(lambda: terminal.states)
                raise error

        assert reported(fail, verbose=0) in (1, 3)
        threads = [each.name for each in threading.enumerate()]
    assert "progress" not in threads
    lines = terminal.screen
    assert len(lines) == 3
    assert lines[0].startswith("beam-bleu: ")
    assert lines[1].startswith("  ")


def test_a_silenced_stderr_still_shows_the_line(quick, monkeypatch, capfd):
    with (
        stderr_on_a_terminal(monkeypatch) as terminal,
        progress_shown("auto", Progress()),
        silent_stderr(),
    ):
        before = len(terminal.states)
        until(lambda: len(terminal.states) > before + 3)
        os.write(2, b"of a child")
    assert terminal.screen == [""]


def test_a_log_gets_a_line_for_each_phase_and_every_10_seconds_or_one_each_minute():
    states = [state("starting"), state("listing", seconds=1)]
    states += [state("scoring", second, 100, second) for second in range(3, 27)]
    assert [*log_lines(states, with_phases=True)] == [
        "starting for 0:00:00",
        "listing for 0:00:01",
        "scoring 3 %, 0:01:37 left, 1 byte/s, 3 bytes of 100 bytes",
        "scoring 13 %, 0:01:27 left, 1 byte/s, 13 bytes of 100 bytes",
        "scoring 23 %, 0:01:17 left, 1 byte/s, 23 bytes of 100 bytes",
    ]
    hours = [state("listing", seconds=second) for second in range(150)]
    assert [*log_lines(hours, with_phases=False)] == ["listing for 0:01:00", "listing for 0:02:00"]


def test_a_command_whose_stderr_is_full_gives_its_result():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *EXAMPLE, "--progress", "on"],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=full,
            timeout=120,
        )
    assert (done.returncode, done.stdout) == (0, called(*EXAMPLE).out)


def test_a_pipe_that_nobody_reads_does_not_stop_the_run(quick, monkeypatch):
    monkeypatch.setattr(display, "_PATIENCE", 0.1)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(1 << 16))
    os.set_blocking(writing, True)
    before = sys.stderr
    with os.fdopen(writing, "w") as stream:
        sys.stderr = stream
        try:
            with progress_shown("on", Progress()):
                pass
        finally:
            sys.stderr = before
        os.close(reading)  # which ends the thread


def test_quiet_shows_no_warnings_and_no_notes(tmp_path):
    (tmp_path / "a").write_text("a b c d\n")
    (tmp_path / "b").write_text("w x y z\n")
    command = ["--candidates", tmp_path / "a", "--references", tmp_path / "b"]
    loud = called(*command)
    assert "warning" in loud.err
    for flag in ("-q", "--quiet"):
        quiet = called(*command, flag)
        assert (quiet.code, quiet.out, quiet.err) == (0, loud.out, "")
    called(*EXAMPLE, "--candidates", tmp_path / "none", "-q").assert_failed(3, "there is no file")
