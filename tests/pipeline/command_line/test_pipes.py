"""Stdin and pipes as input: they are read once, into temporary files that are removed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import (
    COMMAND,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Run,
    called,
    signals_begin_as,
    streams,
)

from beam_bleu.pipeline.output import temporary_files

ATLAS, BIRCH = SYSTEMS["atlas"], SYSTEMS["birch"]
JSON = ("--format", "json")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files. After each test nothing is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert os.listdir(folder) == []


@contextlib.contextmanager
def fifo(path: Path, data: bytes) -> Iterator[Path]:
    """A pipe with a name, to which a thread writes."""
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=[data], daemon=True)
    thread.start()
    yield path
    thread.join(60)
    assert not thread.is_alive(), "nobody has read the pipe"


@contextlib.contextmanager
def open_pipe(data: bytes) -> Iterator[str]:
    """The path of an open pipe, as a shell writes it for <(...)."""
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb") as file:
            file.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)
        thread.join(60)


@contextlib.contextmanager
def stdin(data: bytes | Path, begin: int = 0) -> Iterator[None]:
    """Fd 0 is a pipe with this text, or a file that is read from a place on."""
    saved = os.dup(0)
    if isinstance(data, Path):
        new = os.open(data, os.O_RDONLY)
        os.lseek(new, begin, os.SEEK_SET)
    else:
        new, writing = os.pipe()
        os.write(writing, data)  # less than a pipe holds
        os.close(writing)
    os.dup2(new, 0)
    os.close(new)
    try:
        yield
    finally:
        os.dup2(saved, 0)
        os.close(saved)


def with_stdin(data: bytes, *arguments: str | Path) -> Run:
    with stdin(data):
        return called(*arguments)


def test_pipes_give_the_numbers_of_the_files(tmp_path):
    flags = (*JSON, "--output")
    files = called(*streams([ATLAS, f"b={BIRCH}"], REFERENCES, *flags, tmp_path / "files"))
    with (
        fifo(tmp_path / "atlas.fifo", ATLAS.read_bytes()) as atlas,
        open_pipe(BIRCH.read_bytes()) as birch,
        open_pipe(REFERENCES[0].read_bytes()) as first,
    ):
        arguments = streams([atlas, f"b={birch}"], [first, REFERENCES[1]], *flags)
        pipes = called(*arguments, tmp_path / "pipes")
    assert (pipes.code, pipes.out, pipes.err) == (0, files.out, files.err)
    written = [(tmp_path / name / "scores.json").read_bytes() for name in ("files", "pipes")]
    assert written[0] == written[1] == files.out


def test_a_system_from_stdin_or_a_pipe_has_a_name():
    with open_pipe(BIRCH.read_bytes()) as birch:
        run = called(*streams([birch], REFERENCES, *JSON))
    assert [score["system"] for score in run.document["scores"]] == ["pipe"]
    expected = called(*streams([f"stdin={ATLAS}"], REFERENCES, *JSON)).out
    for arguments in (streams(["-"], REFERENCES), REFERENCES):
        assert with_stdin(ATLAS.read_bytes(), *arguments, *JSON).out == expected
    named = with_stdin(ATLAS.read_bytes(), *streams(["atlas=-"], REFERENCES, *JSON))
    assert named.out == called(*streams([ATLAS], REFERENCES, *JSON)).out


def test_stdin_that_is_a_file_is_read_from_where_it_stands(tmp_path):
    text = b"a line that another program has read\n"
    (tmp_path / "file").write_bytes(text + REFERENCES[0].read_bytes())
    with stdin(tmp_path / "file", len(text)):
        run = called(*streams([ATLAS], ["/dev/stdin"], *JSON))
    assert run.out == called(*streams([ATLAS], REFERENCES[:1], *JSON)).out


def test_two_pipes_of_one_program_are_read_at_the_same_time(tmp_path):
    # More than a pipe holds: reading the first pipe to its end would wait forever.
    large = {"r": REFERENCES[0].read_bytes() * 40, "h": ATLAS.read_bytes() * 40}
    for name in large:
        os.mkfifo(tmp_path / name)

    def write() -> None:
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(open(tmp_path / name, "wb")) for name in large]
            for file, data in reversed([*zip(files, large.values(), strict=True)]):
                file.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    run = called(*streams([f"x={tmp_path}/h"], [tmp_path / "r"], *JSON))
    thread.join(60)
    assert run.document["segments"] == 40 * 72


def test_errors_name_stdin_and_the_pipe_and_not_the_temporary_files(temporary):
    with open_pipe(b"") as pipe:
        run = called(*streams([ATLAS], [pipe]))
    run.assert_failed(3, "atlas have 72 lines, references have 0: ", f"{ATLAS}, the pipe {pipe}\n")
    text = ATLAS.read_bytes().replace(b"\n", b"\xff\n", 1)
    run = with_stdin(text, *streams(["x=-"], REFERENCES))
    run.assert_failed(3, "candidates x: line 1: invalid UTF-8", ": stdin\n")
    assert str(temporary) not in run.err


def test_a_pipe_is_read_only_once(tmp_path):
    run = with_stdin(b"", *streams(["-"], ["/dev/stdin"]))
    run.assert_failed(2, "stdin can be read only once", "for references and for candidates stdin")
    os.mkfifo(tmp_path / "x")
    os.symlink("x", tmp_path / "y")
    run = called(*streams([tmp_path / "x", tmp_path / "y"], REFERENCES))
    run.assert_failed(2, f"the pipe {tmp_path}/y can be read only once, but it is given for ")


def test_an_empty_stdin_or_a_terminal_is_no_system(monkeypatch):
    run = with_stdin(b"", REFERENCES[0], ATLAS)
    run.assert_failed(3, "candidates stdin: stdin is empty\n", "name systems with -i: ")
    monkeypatch.setattr(temporary_files.os, "isatty", lambda number: number == 0)
    called(*streams(["-"], REFERENCES)).assert_failed(2, "stdin is a terminal", "| beam-bleu")


def test_a_signal_ends_the_reading_and_removes_the_copy(temporary):
    number = signal.SIGTERM
    with (
        signals_begin_as(signal.SIG_DFL, number),
        subprocess.Popen(
            # With --quiet it does not say that it waits for stdin, however long that takes.
            [*COMMAND, *streams(["-"], REFERENCES, "--quiet")],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(temporary)},
        ) as process,
    ):
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"one line\n")
        process.stdin.flush()
        until = time.monotonic() + 60
        while not any(path.stat().st_size for path in temporary.glob("beam-bleu-*/pipe-0")):
            assert time.monotonic() < until, "the command does not read stdin"
            time.sleep(0.05)
        (folder,) = (path.parent for path in temporary.glob("beam-bleu-*/pipe-0"))
        assert folder.stat().st_mode & 0o777 == 0o700
        process.send_signal(number)
        assert process.wait(60) == 128 + number
        assert process.stderr.read().decode() == f"beam-bleu: stopped by {number.name}\n"
