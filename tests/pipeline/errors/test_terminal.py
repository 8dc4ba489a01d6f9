"""Text on a terminal is printable, and a failed write or bad input is an error; signals."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import (
    COMMAND,
    EXAMPLE,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Run,
    called,
    signals_begin_as,
    streams,
)

from beam_bleu.pipeline.errors.printable import json_text, printable
from beam_bleu.transforms.pairing.files.streams import is_pattern

HOSTILE = [
    ("e\x1b[2J\x1b]52;c;aGk=\x07", r"e\x1b[2J\x1b]52;c;aGk=\x07"),  # clears; sets the clipboard
    ("c1\x9b2J\x9d", r"c1\x9b2J\x9d"),
    ("two\nlines\r\u2028\x85", r"two\nlines\r\u2028\x85"),
    (b"latin1 \xe9", r"latin1 \udce9"),
    ("beam-bleu[0]: fine || go on ||", "beam-bleu[0]: fine || go on ||"),
    ("größe 東京 \\n '\"", "größe 東京 \\n '\""),
]


def assert_shows(run: Run, code: int, message: str) -> None:
    run.assert_failed(code, message)
    assert run.err.replace("\n", "").isprintable()


def test_a_missing_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # so that paths have only their hostile parts
    for name, shown in HOSTILE:
        run = called(*streams([b"x=" + os.fsencode(name)], REFERENCES))
        missing = "nothing matches" if is_pattern(shown) else "there is no file"
        assert_shows(run, 3, f"candidates x: {missing} {shown}\n")


def test_a_bad_line_is_found_in_the_text_of_a_workers_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, shown in HOSTILE[:3:2]:
        path = os.fsencode(name)
        (tmp_path / os.fsdecode(path)).write_bytes(b"good\n\xff\n")
        run = called(*streams([b"x=" + path], [path]), "--direct_running_mode=multi_threading")
        assert_shows(run, 3, f": line 2: invalid UTF-8 at byte 1 of the line (0xff): {shown}\n")


def test_the_escape_of_a_text():
    for text, escaped in (
        ("größe 東京 é e\u0301 \U0001f600", "größe 東京 é e\u0301 \U0001f600"),
        ("\t\0\x7f\xa0\ud800", r"\t\x00\x7f\xa0\ud800"),
        ("\udcc3 \udcb6", r"\udcc3 \udcb6"),
    ):
        assert printable(text) == escaped


def test_json_has_each_character_and_only_shown_ones_are_raw():
    raw, more = set(), (*range(0xD700, 0x11000), *range(0xE0000, 0xE0200), sys.maxunicode)
    for code in (*range(0x3000), *more):
        character = chr(code)
        text = json_text(character)
        assert json.loads(text) == character
        if text[1:-1] == character:
            raw.add(character)
        text.encode()  # also if it is half of a surrogate pair
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not {each for each in raw if unicodedata.category(each) in hidden}
    # ASCII escapes of its own are those of any JSON.
    assert {chr(code) for code in range(0x20, 0x7F)} - raw == {'"', "\\"}
    assert json_text(["a\x7f\u202eb\U000e0041"], indent=1) == (
        '[\n "a\\u007f\\u202eb\\udb40\\udc41"\n]'
    )


# stdout that cannot be written


def in_shell(words: Sequence[object], streams: str) -> Run:
    """Runs a command line of a shell, with changes of its streams."""
    line = " ".join(shlex.quote(str(word)) for word in words)
    done = subprocess.run(
        ["bash", "-c", f"{line} {streams}"], cwd=PROJECT, capture_output=True, timeout=120
    )
    return Run(done.returncode, done.stdout, done.stderr.decode())


def test_a_stdout_that_cannot_be_written_is_not_success():
    for words, stdout, cause in (
        (["--help"], "> /dev/full", "stdout cannot be written: No space left on device"),
        (["--preset", "list"], ">&-", "stdout is closed"),
    ):
        in_shell([*COMMAND, *words], stdout).assert_failed(1, cause)
    run = in_shell([*COMMAND, *EXAMPLE], "| head -0")
    assert "stdout cannot be written: Broken pipe" in run.err
    assert "Traceback" not in run.err
    assert "Exception ignored" not in run.err


def test_closed_streams_do_not_become_files_of_the_job(tmp_path):
    words = [*EXAMPLE, "--output", tmp_path, "--format", "json"]
    run = in_shell([*COMMAND, *words], "2>&- <&-")
    assert run.code == 0
    assert (tmp_path / "scores.json").read_bytes() == run.out
    program = (
        "import os, sys\n"
        "from beam_bleu.pipeline.errors.terminal import open_standard_streams\n"
        "open_standard_streams()\n"
        "file = os.open(os.devnull, os.O_RDONLY)\n"
        "sys.exit(not (file > 2 and sys.stdout is None and sys.stderr is None))"
    )
    assert in_shell([sys.executable, "-c", program], "<&- >&- 2>&-").code == 0


# Input that is missing


def test_what_is_missing_is_told_before_an_engine_gets_the_job(tmp_path):
    # Nothing answers at this address, so the job is not submitted.
    engine = ("--runner", "PortableRunner", "--job_endpoint", "127.0.0.1:1")
    flags = (*engine, "--output", tmp_path / "out")
    missing = tmp_path / "missing.txt"
    called(*streams([SYSTEMS["atlas"], missing], REFERENCES, *flags)).assert_failed(
        3, f"candidates missing: there is no file {missing}\n"
    )
    elsewhere = called(*streams([SYSTEMS["atlas"], "/no/such/folder/x.txt"], REFERENCES, *flags))
    elsewhere.assert_failed(1, "--job_endpoint")


# Signals


def catches_sigterm(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process handles SIGTERM. Python itself does not."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = re.search(r"SigCgt:\s*(\w+)", status)
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize(
    ("number", "when"),
    [
        (signal.SIGINT, "while it runs"),
        (signal.SIGHUP, "while it starts"),
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
    while not (
        os.listdir(temporary)  # the folder that gets scores.json
        if when == "while it runs"
        else catches_sigterm(process)  # from then on the command handles its signals
    ):
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
            [*COMMAND, *EXAMPLE], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"72 segments" in out
