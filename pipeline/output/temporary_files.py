"""The temporary files of a run on this machine: copies of pipes, the rows of a join, Beam's own.

A job reads its input twice, and in parts, which a pipe does not allow. So the command copies each
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
    """The default name of a system from a pipe; None if it is named like a file (`mkfifo`)."""
    if path in _STDIN:
        return "stdin"
    # A shell writes such a path for <(...).
    is_open = path.startswith(("/dev/fd/", "/proc/self/fd/"))
    return "pipe" if is_open and is_pipe(path) else None


def check_pipes(inputs: Sequence[tuple[str, str]], anywhere: bool) -> None:
    """Checks that the pipes among (name for messages, path) can be read, each by one stream."""
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
    """Puts the files that Beam prepares for an engine, and leaves, in a folder of the run."""
    if in_process:
        yield
        return
    folder = _new_folder()
    # Only at the end of the process, after Beam has stopped the job server that it has started: the
    # server's files are in the folder, too.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _new_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="beam-bleu-")  # only this user can open it
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
    """Copies pipes to files in a folder; returns the stream of each copy.

    All are read at the same time, or a program that writes to two of them (`tee`) would hang.
    """
    # The names have no suffix, so the text is never decompressed.
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
        # If the run is stopped, nothing waits for a pipe that never ends.
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
        # As under cron, if -i is forgotten.
        if pipe.pattern in _STDIN and not os.path.getsize(copies[pipe].pattern):
            raise InputError(f"{pipe.label}: stdin is empty", _NAME_SYSTEMS)
    return copies


def _copy(pipe: str, path: str) -> None:
    # Opening /dev/stdin would read a file (< FILE) from its beginning again.
    number = os.dup(0) if pipe in _STDIN else os.open(pipe, os.O_RDONLY)
    with open(number, "rb", buffering=0) as source, open(path, "xb") as file:
        os.set_blocking(number, True)
        while data := source.read(_READ):
            file.write(data)
            file.flush()
