"""What stderr shows while a run lasts: on a terminal, in a log, and as JSON lines."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import importlib.metadata
import json
import logging
import os
import platform
import pty
import re
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, Run, called, streams, write_lines

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
from beam_bleu.transforms.native.compiling import FUNCTIONS
from beam_bleu.transforms.native.machine_code import cache_folder
from beam_bleu.transforms.progress import COMPILING, PROGRESS, Progress, State
from beam_bleu.transforms.version import VERSION

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


class Terminal:
    """A pseudo-terminal of 80 columns; `written` is everything that was written to it."""

    def __init__(self) -> None:
        self.written = b""
        self._ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the end, on Linux
            while data := os.read(self._ours, 1 << 16):
                self.written += data

    def close(self) -> None:
        """Ends reading. Everything is in `written` then."""
        os.close(self.theirs)
        self._reader.join()
        os.close(self._ours)

    @property
    def text(self) -> str:
        # The last character may have come in part: a terminal passes on bytes.
        return codecs.getincrementaldecoder("utf-8")().decode(self.written)

    @property
    def states(self) -> list[str]:
        """All texts that the last line has had, without colours."""
        plain = re.sub(r"\x1b\[[\d;]*m", "", self.text)
        return re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", plain)

    @property
    def screen(self) -> list[str]:
        """The lines that a person sees at the end; the command uses few codes."""
        lines, column = [""], 0
        for each in re.findall(r"\x1b\[[\d;]*[A-Za-z]|.", self.text, re.DOTALL):
            if each.startswith("\x1b"):
                assert each == "\x1b[K" or each.endswith("m"), ascii(each)
                lines[-1] = lines[-1][:column] if each == "\x1b[K" else lines[-1]
            elif each == "\r":
                column = 0
            elif each == "\n":
                lines.append("")
                column = 0
            else:
                assert each.isprintable(), ascii(each)
                lines[-1] = lines[-1][:column].ljust(column) + each + lines[-1][column + 1 :]
                column += 1
        return lines


@contextlib.contextmanager
def stderr_on_a_terminal(monkeypatch) -> Iterator[Terminal]:
    """While the body runs, stderr is a terminal. Its text is complete afterwards."""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    before = sys.stderr
    with os.fdopen(os.dup(terminal.theirs), "w", encoding="utf-8") as stream:
        sys.stderr = stream
        try:
            yield terminal
        finally:
            sys.stderr = before
    terminal.close()


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


def test_an_error_is_shown_after_the_line_is_gone(quick, monkeypatch):
    for error in (InputError("it is bad", "repair it"), KeyboardInterrupt()):
        with stderr_on_a_terminal(monkeypatch) as terminal:

            def fail(terminal=terminal, error=error) -> None:
                with progress_shown("auto", Progress()):
                    until(lambda: terminal.states)
                    raise error

            assert reported(fail, verbose=0) in (1, 3)
            threads = [each.name for each in threading.enumerate()]
        assert "progress" not in threads
        first, second, last = terminal.screen
        assert (first[:11], second[:2], last) == ("beam-bleu: ", "  ", "")


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


def test_a_stderr_that_nobody_reads_or_that_is_full_does_not_stop_the_run(quick, monkeypatch):
    monkeypatch.setattr(display, "_PATIENCE", 0.1)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(1 << 16))
    os.set_blocking(writing, True)
    for number in (writing, os.open("/dev/full", os.O_WRONLY)):
        with os.fdopen(number, "w") as stream, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", stream)
            with progress_shown("on", Progress()):
                pass
            if number == writing:
                os.close(reading)  # which ends the thread


def test_quiet_shows_no_warnings_and_no_notes(tmp_path):
    (tmp_path / "a").write_text("a b c d\n")
    (tmp_path / "b").write_text("w x y z\n")
    command = ["--candidates", tmp_path / "a", "--references", tmp_path / "b"]
    loud = called(*command)
    assert "warning" in loud.err
    quiet = called(*command, "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, loud.out, "")
    called(*EXAMPLE, "--candidates", tmp_path / "none", "-q").assert_failed(3, "there is no file")


# --verbose

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d beam-bleu: "


def told(run: Run) -> list[str]:
    """The log lines of a run, without their times, and without the line of the first run of all."""
    lines = [re.sub(TIME, "", line) for line in run.err.splitlines() if re.match(TIME, line)]
    return [line for line in lines if line != COMPILING]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two streams of two files; the candidates' first file is compressed."""
    lines = [f"line {number} of the corpus is here" for number in range(5000)]
    write_lines(tmp_path / "hyp-0.txt.gz", lines[:2000])
    write_lines(tmp_path / "hyp-1.txt", lines[2000:])
    write_lines(tmp_path / "ref-0.txt", [f"a {line}" for line in lines[:2000]])
    write_lines(tmp_path / "ref-1.txt", [f"a {line}" for line in lines[2000:]])
    return tmp_path


def scored(corpus: Path, *flags: str) -> Run:
    return called(*streams([f"h={corpus}/hyp-*"], [corpus / "ref-*"], *flags))


def size(*paths: Path) -> int:
    return sum(path.stat().st_size for path in paths)


def test_verbose_tells_what_the_job_does(corpus):
    references = [corpus / "ref-0.txt", corpus / "ref-1.txt"]
    candidates = [corpus / "hyp-0.txt.gz", corpus / "hyp-1.txt"]
    cut = [*references, candidates[1]]  # a compressed file is one range
    ranges = 1 + sum(-(-size(path) // 8192) for path in cut)
    run = scored(corpus, "-v", "--range_bytes", "8192", "--threads", "3")
    lines = told(run)
    assert lines[:6] == [
        f"beam-bleu {VERSION}, Apache Beam {importlib.metadata.version('apache-beam')}, "
        f"Python {platform.python_version()}",
        "runner: FnApiRunner, threads: 3",
        f"candidates h: 2 files, {size(*candidates):,} bytes: {candidates[0]} ... {candidates[1]}",
        f"references: 2 files, {size(*references):,} bytes: {references[0]} ... {references[1]}",
        f"ranges: {ranges}, of at most {max(size(candidates[0]), 8192):,} bytes",
        # The candidates lead, because they have a compressed file: a unit for each of the files.
        "segments: 5,000, portions: 2",
    ]
    assert lines[6] == (
        f"compiled functions: {FUNCTIONS['loaded']} loaded, {FUNCTIONS['compiled']} compiled; "
        f"cache folder: {cache_folder()}"
    )
    assert re.fullmatch(r"seconds: .*scoring \d+\.\d.*; in all \d+\.\d", lines[7])
    assert len(lines) == 8
    assert run.out == scored(corpus).out


def test_levels(capfd):
    def work() -> None:
        logging.getLogger("engine").info("a detail of the engine")
        logging.getLogger("apache_beam").info("Converting string literal type hint to Any: noise")
        logging.getLogger("engine").warning("a warning of the engine")
        logging.getLogger("beam_bleu").info("a detail")

    shown = {}
    for verbose in range(4):
        assert reported(work, verbose) == 0
        text = re.sub(TIME, "", capfd.readouterr().err)
        shown[verbose] = text.splitlines()
    assert shown[0] == []
    assert shown[1] == ["WARNING:engine:a warning of the engine", "a detail"]
    assert shown[2] == shown[3] == ["INFO:engine:a detail of the engine", *shown[1]]


@pytest.fixture
def ends(monkeypatch) -> dict[str, tuple[int, int | None]]:
    """The bytes done and planned at the end of each phase."""
    found: dict[str, tuple[int, int | None]] = {}
    begin = PROGRESS.begin

    def noted(phase, planned=None) -> None:
        found[PROGRESS.state.phase] = (PROGRESS._done, PROGRESS.state.planned)
        begin(phase, planned)

    monkeypatch.setattr(PROGRESS, "begin", noted)
    return found


def test_each_byte_is_counted_once_in_a_phase(corpus, ends):
    everything = size(*corpus.iterdir())
    assert scored(corpus, "--threads", "1").code == 0
    assert "counting lines" not in ends  # some files are compressed, so all are read once
    assert ends["scoring"] == (everything, everything)
    assert scored(corpus, "--range_bytes", "4096").code == 0
    assert ends["counting lines"] == ends["scoring"] == (everything, everything)
    assert ends["planning"] == (0, None)


# --log_format json

WORDS = [REFERENCES[0], "-i", SYSTEMS["atlas"], "--score_only"]


def lines(run: Run) -> list[dict[str, Any]]:
    """The objects of stderr, each checked."""
    found = [json.loads(line) for line in run.err.splitlines()]
    for line in found:
        assert [*line][:5] == ["time", "level", "message", "run", "host"]
        assert line["time"].endswith("Z")
        when = datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
        assert abs(when - datetime.now(timezone.utc)) < timedelta(minutes=5)
        assert line["level"] in ("debug", "info", "warning", "error")
        assert line["host"] == platform.node()
    return found


def test_progress_warnings_and_logs_are_objects_with_the_name_of_the_run(tmp_path):
    short = tmp_path / "a.txt"
    short.write_text("a b\n" * 3)  # repeats its reference, which is worth a warning
    words = ["--output", tmp_path / "out", "--progress=on", "--verbose", "--score_only"]
    run = called(short, "-i", f"copy={short}", *words, "--log_format=json")
    assert run.code == 0
    assert run.out == called(short, "-i", f"copy={short}", "--score_only").out
    found = lines(run)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert {line["run"] for line in found} == {record["run"]}
    assert {line["level"] for line in found} == {"info", "warning"}
    messages = [line["message"] for line in found]
    assert any(message.startswith("starting") for message in messages)  # progress
    assert any(message.startswith("runner: ") for message in messages)  # --verbose
    warned = [line["message"] for line in found if line.get("logger") == "beam_bleu"]
    assert record["warnings"]
    assert [message for message in warned if message in record["warnings"]] == record["warnings"]


def test_a_usage_error_is_an_object():
    for words in (["--log_format", "json"], ["--log_format=text", "--log-format=json"]):
        (line,) = lines(called(*WORDS, "--smoth_method=exp", *words))
        assert (line["level"], line["exit_code"], line["run"]) == ("error", 2, None)
        assert line["message"] == "unknown flag --smoth_method"
        assert line["remedy"] == "did you mean --smooth_method?"


def test_bad_input_is_an_object_with_the_traceback_if_it_is_asked_for(tmp_path):
    (tmp_path / "bad\u202e.txt").write_text("one line\n")
    words = [REFERENCES[0], "-i", f"bad={tmp_path}/bad\u202e.txt", "--output", tmp_path / "out"]
    text = called(*words)
    run = called(*words, "--log_format=json")
    assert run.code == text.code == 3
    (line,) = lines(run)
    assert text.err == f"beam-bleu: {line['message']}\n  {line['remedy']}\n"
    assert line["exit_code"] == 3
    assert "traceback" not in line
    assert "\u202e" not in run.err  # a terminal would obey it
    *_, last = lines(called(*words, "--log_format=json", "--verbose"))
    assert last["traceback"].startswith("Traceback (most recent call last):\n")
