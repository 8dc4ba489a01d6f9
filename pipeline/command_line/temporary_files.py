"""The temporary files of a run on this machine: copies of pipes, the rows of a join, Beam's own.

The command copies each pipe to a temporary file before the job starts.

A job reads its input twice, and in parts, which a pipe does not allow.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import re
import select
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.errors.reporting import uninterrupted, warn
from beam_bleu.transforms.errors import InputError, JobError, UsageError, joined
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.paired import Source

_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

_OPEN_FILE = re.compile(r"(?:/dev|/proc/self)/fd/([0-9]+)")
"""A file that this process has open: a shell writes this path for <(...)."""

_READ = 1 << 20
NAME_SYSTEMS = "name systems with -i: beam-bleu REF... -i FILE..."

_PATIENCE = 10.0
"""Seconds without data until a message says what the command is waiting for."""


def is_pipe(path: str) -> bool:
    """Whether a path of the command line is stdin or a pipe."""
    return path in _STDIN or _is_fifo(path)


def system_of_pipe(path: str) -> str | None:
    """The default name of the system whose candidates come from a pipe without a name of its own.

    A pipe that has a name in a folder (`mkfifo atlas.txt`) is named like a file: None.
    """
    if path in _STDIN:
        return "stdin"
    return "pipe" if _OPEN_FILE.fullmatch(path) and _is_fifo(path) else None


def check_pipes(inputs: Sequence[tuple[str, str]], anywhere: bool) -> None:
    """Checks that the pipes of a command line can be read.

    Args:
      inputs: (the stream's name for messages, its path or pattern) for each stream.
      anywhere: whether workers on other machines read the input.

    Raises:
      UsageError: a pipe cannot be read by the workers, or is given twice; or stdin is closed or
        a terminal.
    """
    seen: dict[tuple[int, int], str] = {}
    for label, path in inputs:
        if not is_pipe(path):
            continue
        if anywhere:
            raise UsageError(
                f"{label}: the workers of an engine cannot read {_name(path)}",
                "save its text in a file that the workers can read, and name the file",
            )
        if path in _STDIN and sys.stdin is None:
            raise UsageError(
                f"{label}: stdin is closed",
                "name the systems (-i FILE ...), or pipe a text into the command",
            )
        if path in _STDIN and os.isatty(0):
            raise UsageError(
                f"{label}: stdin is a terminal",
                "name the systems (-i FILE ...), or pipe a text into the command "
                "(... | beam-bleu ...)",
            )
        status = os.fstat(0) if path in _STDIN else os.stat(path)
        pipe = (status.st_dev, status.st_ino)
        if pipe in seen:
            first = seen[pipe]
            how = "twice" if first == label else f"for {first} and for {label}"
            raise UsageError(
                f"{_name(path)} can be read only once, but it is given {how}",
                "give each stream its own pipe or file",
            )
        seen[pipe] = label


@contextlib.contextmanager
def spooled(source: Source, stdin_by_default: bool = False) -> Iterator[Source]:
    """The source with temporary files in place of pipes. The files are removed afterwards.

    All pipes are read at the same time. If one program writes to two pipes in turn (`tee`), it
    would otherwise wait for the one that is not read yet.

    Args:
      source: the source of a command line.
      stdin_by_default: whether stdin is the system only because no system is named. Then it must
        not be empty: whoever forgets -i has an empty stdin under cron.

    Raises:
      InputError: a pipe cannot be read, or no system is named and stdin is empty.
      JobError: the folder for temporary files cannot be written.
    """
    pipes = [stream for stream in _streams_of(source) if is_pipe(stream.pattern)]
    if not pipes:
        yield source
        return
    folder = ""
    try:
        with uninterrupted():
            folder = _new_folder("the text of pipes")
        copies = {
            stream: Stream(stream.label, os.path.join(folder, name), _name(stream.pattern))
            for name, stream in zip(_file_names(pipes), pipes, strict=True)
        }
        _copy_all(copies, f"; or {NAME_SYSTEMS}" if stdin_by_default else "")
        for stream, copy in copies.items():
            of_system = stdin_by_default and stream.pattern in _STDIN
            if of_system and not os.path.getsize(copy.pattern):
                raise InputError("stdin is empty, and no system is named", NAME_SYSTEMS)
        yield _with_copies(source, copies)
    finally:
        if folder:
            with uninterrupted():
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def with_row_folder(source: Source, in_process: bool) -> Iterator[Source]:
    """The source with a temporary folder, if it has a use for one. It is removed afterwards.

    Args:
      source: the source of a command line.
      in_process: whether the job runs on this machine. Other workers do not see the folder.

    Raises:
      JobError: there is no folder for temporary files.
    """
    if not in_process or not hasattr(source, "row_folder"):
        yield source
        return
    # Only joins need these modules.
    from beam_bleu.transforms.pairing.records.joins.row_messages import RowFolder

    joined: Any = source
    folder = ""
    try:
        with uninterrupted():
            folder = _new_folder("the rows of the join")
        changed: Source = dataclasses.replace(joined, row_folder=RowFolder(folder))
        yield changed
    finally:
        if folder:
            with uninterrupted():
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def files_of_beam(in_process: bool) -> Iterator[None]:
    """While the body submits a job to an engine, Beam's temporary files are in a folder of the run.

    Beam leaves what it has prepared for an engine, so each run of the command would leave files.

    Raises:
      JobError: no temporary folder can be used.
    """
    if in_process:
        yield
        return
    folder = _new_folder("what is sent to the engine")
    # Only at the end of the process, after Beam has stopped the job server that it has started: the
    # server's files are in the folder, too.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _streams_of(value: Any) -> Iterator[Stream]:
    """The streams in a value: in a source, in its fields, and in tuples."""
    if isinstance(value, Stream):
        yield value
    elif type(value) is tuple:
        for item in value:
            yield from _streams_of(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _streams_of(getattr(value, field.name))


def _with_copies(value: Any, copies: Mapping[Stream, Stream]) -> Any:
    """The value with other streams in place of its own, at any depth."""
    if isinstance(value, Stream):
        return copies.get(value, value)
    if isinstance(value, tuple):
        return tuple(_with_copies(item, copies) for item in value)
    if not any(stream in copies for stream in _streams_of(value)):
        return value
    named = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dataclasses.replace(
        value, **{name: _with_copies(content, copies) for name, content in named.items()}
    )


def _is_fifo(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _name(path: str) -> str:
    return "stdin" if path in _STDIN else f"the pipe {path}"


def _new_folder(content: str) -> str:
    try:
        return tempfile.mkdtemp(prefix="beam-bleu-")  # only this user can open it
    except OSError as error:
        raise JobError(
            f"no temporary folder can be used for {content}: {error.strerror}",
            "name a folder that you can write to: TMPDIR=DIR",
        ) from error


def _file_names(pipes: Sequence[Stream]) -> list[str]:
    """A name for each copy. It has no suffix, so the text is never decompressed."""
    return [
        "stdin" if stream.pattern in _STDIN else f"pipe-{number}"
        for number, stream in enumerate(pipes, 1)
    ]


def _copy_all(copies: dict[Stream, Stream], hint: str = "") -> None:
    """Copies pipes to files, each whenever it has data, until all of them have ended.

    Args:
      copies: for each pipe, the file.
      hint: the end of the message that says what the command is waiting for.
    """
    with contextlib.ExitStack() as stack:
        poll = select.poll()
        being_read = {}
        for pipe, copy in copies.items():
            number = _opened(pipe)
            stack.callback(os.close, number)
            being_read[number] = _Copy(pipe, copy, stack)
            poll.register(number, select.POLLIN)
        patience: float | None = _PATIENCE
        while being_read:
            ready = poll.poll(None if patience is None else 1000 * patience)
            if not ready:
                names = [_name(being_read[number].pipe.pattern) for number in being_read]
                warn(f"waiting for {joined(names)}: no data came for {patience:.0f} seconds{hint}")
                patience = None  # it is said once
            for number, _ in ready:
                if not being_read[number].read(number):
                    poll.unregister(number)
                    del being_read[number]


def _opened(pipe: Stream) -> int:
    """A file descriptor for a pipe. Opening a pipe in a folder does not wait for its writer."""
    open_file = _OPEN_FILE.fullmatch(pipe.pattern)
    try:
        # Opening /dev/stdin would read a file (< FILE) from its beginning again.
        if pipe.pattern in _STDIN or open_file:
            return os.dup(int(open_file[1]) if open_file else 0)
        return os.open(pipe.pattern, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise _unreadable(pipe, error) from error


class _Copy:
    """The file to which a pipe is copied.

    Attributes:
      pipe: the stream as it was given.
    """

    def __init__(self, pipe: Stream, copy: Stream, stack: contextlib.ExitStack) -> None:
        self.pipe = pipe
        self._folder = os.path.dirname(copy.pattern)
        self._bytes = 0
        try:
            file = open(copy.pattern, "xb", buffering=0)  # noqa: SIM115
            self._file = stack.enter_context(file)
        except OSError as error:
            raise self._unwritable(error) from error

    def read(self, number: int) -> bool:
        """Copies what the pipe has now; returns False at its end."""
        try:
            data = os.read(number, _READ)
        except BlockingIOError:  # another process has read the same data
            return True
        except OSError as error:
            raise _unreadable(self.pipe, error) from error
        left = memoryview(data)
        while left:
            try:
                written = self._file.write(left)
            except OSError as error:  # a full disk, or a quota
                raise self._unwritable(error) from error
            left = left[written:]
        self._bytes += len(data)
        return bool(data)

    def _unwritable(self, error: OSError) -> JobError:
        copied = f"{self._bytes:,} bytes of {_name(self.pipe.pattern)} copied"
        return JobError(
            f"{self.pipe.label}: the temporary folder {os.path.dirname(self._folder)} cannot be "
            f"written: {error.strerror} ({copied})",
            "free space there, or name a folder on a larger disk: TMPDIR=DIR",
        )


def _unreadable(pipe: Stream, error: OSError) -> InputError:
    return InputError(
        f"{pipe.label}: {_name(pipe.pattern)} cannot be read: {error.strerror}",
        "check the program that writes to it, or save its text in a file",
    )
