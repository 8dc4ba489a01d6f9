"""Temporary files of a run on this machine: copies of pipes, rows of a join, and Beam's own files.

A job reads its input twice, and in pieces, which pipes do not allow, so the command copies each
pipe to a file before the job starts.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import errno
import os
import queue
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.errors.reporting import uninterrupted
from beam_bleu.transforms.errors import InputError, JobError, UsageError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.paired import Source

_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_NAME_SYSTEMS = "name systems with -i: beam-bleu REF... -i FILE..."
_READ = 1 << 20


def is_pipe(path: str) -> bool:
    try:
        return path in _STDIN or stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def system_of_pipe(path: str) -> str | None:
    """The default name of a system from a pipe; None if the pipe has a file's name (mkfifo)."""
    if path in _STDIN:
        return "stdin"
    # Shells replace <(...) by such a path.
    is_open = path.startswith(("/dev/fd/", "/proc/self/fd/"))
    return "pipe" if is_open and is_pipe(path) else None


def check_pipes(inputs: Sequence[tuple[str, str]], anywhere: bool) -> None:
    """Checks that the pipes among the (label, path) pairs can be read, each by one stream only."""
    seen: dict[tuple[int, int], str] = {}
    for label, path in inputs:
        if not is_pipe(path):
            continue
        if anywhere:
            raise UsageError(
                f"{label}: the workers of an engine cannot read {_name(path)}",
                "save its text in a file that the workers can read, and name the file",
            )
        if path in _STDIN and (sys.stdin is None or os.isatty(0)):
            raise UsageError(
                f"{label}: stdin is {'closed' if sys.stdin is None else 'a terminal'}",
                f"{_NAME_SYSTEMS}; or pipe a text into it: ... | beam-bleu REF...",
            )
        status = os.fstat(0) if path in _STDIN else os.stat(path)
        pipe = (status.st_dev, status.st_ino)
        if pipe in seen:
            raise UsageError(
                f"{_name(path)} can be read only once, but it is given for {seen[pipe]} and for "
                f"{label}",
                "give each stream its own pipe or file",
            )
        seen[pipe] = label


@contextlib.contextmanager
def with_temporary_files(source: Source, in_process: bool) -> Iterator[Source]:
    """The source with temporary files in place of pipes, and a folder for the rows of a join."""
    pipes = [stream for stream in source.inputs if is_pipe(stream.pattern)]
    has_rows = in_process and hasattr(source, "row_folder")
    if not pipes and not has_rows:
        yield source
        return
    folder = _new_folder()
    try:
        if pipes:
            source = _with_copies(source, _copied(pipes, folder))
        if has_rows:
            joins: Any = source
            source = dataclasses.replace(joins, row_folder=folder)
        yield source
    finally:
        with uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def files_of_beam(in_process: bool) -> Iterator[None]:
    """Puts files that Beam prepares for an engine, and never removes, into a folder of the run."""
    if in_process:
        yield
        return
    folder = _new_folder()
    # Removed only when the process ends, after Beam has stopped the job server that it started,
    # because the server's files are in the folder, too.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _new_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="beam-bleu-")  # which only this user can open
    except OSError as error:
        raise JobError(
            f"no folder for temporary files can be used: {error.strerror}",
            "name a folder that you can write to: TMPDIR=DIR",
        ) from error


def _with_copies(value: Any, copies: Mapping[Stream, Stream]) -> Any:
    if isinstance(value, Stream):
        return copies.get(value, value)
    if type(value) is tuple:
        return tuple(_with_copies(item, copies) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    before = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    after = {name: _with_copies(content, copies) for name, content in before.items()}
    return value if after == before else dataclasses.replace(value, **after)


def _name(path: str) -> str:
    return "stdin" if path in _STDIN else f"the pipe {path}"


def _copied(pipes: Sequence[Stream], folder: str) -> Mapping[Stream, Stream]:
    """Copies pipes to files in a folder; maps each stream to that of its copy.

    All are read at the same time; otherwise a program that writes to two of them (tee) would hang.
    """
    # The file names have no suffix, so the text is never decompressed.
    copies = {
        pipe: Stream(pipe.label, f"{folder}/pipe-{number}", _name(pipe.pattern))
        for number, pipe in enumerate(pipes)
    }
    ended: queue.SimpleQueue[tuple[Stream, OSError | None]] = queue.SimpleQueue()

    def copy(pipe: Stream, path: str) -> None:
        try:
            _copy(pipe.pattern, path)
            ended.put((pipe, None))
        except OSError as error:
            ended.put((pipe, error))

    for pipe, file in copies.items():
        # A daemon, so that a run that is stopped does not wait for a pipe that never ends.
        threading.Thread(target=copy, args=(pipe, file.pattern), daemon=True).start()
    for _ in copies:
        pipe, error = ended.get()
        if error is not None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise JobError(
                f"{pipe.label}: the temporary folder {tempfile.gettempdir()} cannot be written: "
                f"{error.strerror}",
                "free space there, or name a folder on a larger disk: TMPDIR=DIR",
            )
        if error is not None:
            raise InputError(
                f"{pipe.label}: {_name(pipe.pattern)} cannot be read: {error.strerror}",
                "check the program that writes to it, or save its text in a file",
            )
        # Under cron, stdin is empty: the user has probably forgotten -i.
        if pipe.pattern in _STDIN and not os.path.getsize(copies[pipe].pattern):
            raise InputError(f"{pipe.label}: stdin is empty", _NAME_SYSTEMS)
    return copies


def _copy(pipe: str, path: str) -> None:
    # A duplicate, because opening /dev/stdin would read a file (< FILE) from its beginning again.
    number = os.dup(0) if pipe in _STDIN else os.open(pipe, os.O_RDONLY)
    with open(number, "rb", buffering=0) as source, open(path, "xb") as file:
        os.set_blocking(number, True)
        while data := source.read(_READ):
            file.write(data)
            file.flush()
