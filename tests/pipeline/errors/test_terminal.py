"""All text on a terminal is printable, and a failed write is an error."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import unicodedata

import pytest
from command_line import COMMAND, EXAMPLE, PROJECT, REFERENCES, SYSTEMS, Run, called, streams

from beam_bleu.pipeline.errors.printable import json_text, printable
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import is_pattern

ATLAS, BIRCH, COBALT = SYSTEMS.values()

HOSTILE = [
    ("e\x1b[2J\x1b]52;c;aGk=\x07", r"e\x1b[2J\x1b]52;c;aGk=\x07"),  # clears; sets the clipboard
    ("c1\x9b2J\x9d", r"c1\x9b2J\x9d"),
    ("bidi\u202etxt.\u2066", r"bidi\u202etxt.\u2066"),
    ("two\nlines\r\u2028\x85", r"two\nlines\r\u2028\x85"),
    ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
    (b"latin1 \xe9", r"latin1 \udce9"),
    ("a|||b", "a|||b"),
    ("beam-bleu[0]: fine || go on ||", "beam-bleu[0]: fine || go on ||"),
    ("x [while running 'y']", "x [while running 'y']"),
    (str(InputError("fine", "go on"))[-50:], str(InputError("fine", "go on"))[-50:]),
    ("größe 東京 \\n '\"", "größe 東京 \\n '\""),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder of a test, so that paths have only their hostile parts."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_shows(run: Run, code: int, message: str) -> None:
    run.assert_failed(code, message)
    assert run.err.replace("\n", "").isprintable()


@pytest.mark.usefixtures("folder")
def test_a_missing_file():
    for name, shown in HOSTILE:
        run = called(*streams([b"x=" + os.fsencode(name)], REFERENCES))
        missing = "nothing matches" if is_pattern(shown) else "there is no file"
        assert_shows(run, 3, f"candidates x: {missing} {shown}\n")


def test_a_bad_line_is_found_in_the_text_of_a_workers_error(folder):
    for name, shown in HOSTILE[:4:2]:
        path = os.fsencode(name)
        (folder / os.fsdecode(path)).write_bytes(b"good\n\xff\n")
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


@pytest.mark.parametrize("arguments", [["--help"], EXAMPLE])
def test_a_full_disk_is_not_success(arguments):
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [*COMMAND, *arguments], cwd=PROJECT, stdout=full, stderr=subprocess.PIPE, timeout=120
        )
    run = Run(process.returncode, b"", process.stderr.decode())
    run.assert_failed(1, "stdout cannot be written: No space left on device")


def with_closed(streams: str, *arguments) -> subprocess.CompletedProcess[bytes]:
    words = " ".join(shlex.quote(str(word)) for word in [*COMMAND, *arguments])
    return subprocess.run(
        ["bash", "-c", f"{words} {streams}"], cwd=PROJECT, capture_output=True, timeout=120
    )


@pytest.mark.parametrize("arguments", [["--preset", "list"], EXAMPLE])
def test_a_closed_stdout_is_not_success(arguments):
    run = with_closed(">&-", *arguments)
    Run(run.returncode, run.stdout, run.stderr.decode()).assert_failed(1, "stdout is closed")


def test_closed_streams_do_not_become_files_of_the_job(tmp_path):
    run = with_closed("2>&- <&-", *EXAMPLE, "--output", tmp_path, "--format", "json")
    assert run.returncode == 0
    assert (tmp_path / "scores.json").read_bytes() == run.stdout
    program = (
        "import os, sys\n"
        "from beam_bleu.pipeline.errors.terminal import open_standard_streams\n"
        "open_standard_streams()\n"
        "file = os.open(os.devnull, os.O_RDONLY)\n"
        "sys.exit(not (file > 2 and sys.stdout is None and sys.stderr is None))"
    )
    words = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)} <&- >&- 2>&-"
    assert subprocess.run(["bash", "-c", words], cwd=PROJECT).returncode == 0
