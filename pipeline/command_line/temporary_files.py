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
import re
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.errors.reporting import uninterrupted
from beam_bleu.transforms.errors import BleuError, InputError, JobError, UsageError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.paired import Source

_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

_OPEN_FILE = re.compile(r"(?:/dev|/proc/self)/fd/([0-9]+)")
"""A file that this process has open: a shell writes this path for <(...)."""

_READ = 1 << 20
_NAME_SYSTEMS = "name systems with -i: beam-bleu REF... -i FILE..."


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
    """The source with temporary files in place of pipes, and with a folder for the rows of a join.

    All pipes are read at the same time. If one program writes to two pipes in turn (`tee`), it
    would otherwise wait for the one that is not read yet. The files are removed afterwards.

    Args:
      source: the source of a command line.
      in_process: whether the job runs on this machine. Other workers do not see the folder.

    Raises:
      InputError: a pipe cannot be read, or stdin is empty, as under cron if -i is forgotten.
      JobError: the folder for temporary files cannot be written.
    """
    pipes = [stream for stream in source.inputs if is_pipe(stream.pattern)]
    has_rows = in_process and hasattr(source, "row_folder")
    if not pipes and not has_rows:
        yield source
        return
    with contextlib.ExitStack() as stack:
        folder = _new_folder()
        stack.callback(_remove, folder)
        if pipes:
            # The names have no suffix, so the text is never decompressed.
            copies = {
                pipe: Stream(pipe.label, f"{folder}/pipe-{number}", _name(pipe.pattern))
                for number, pipe in enumerate(pipes)
            }
            _copy_all(copies)
            source = _with_copies(source, copies)
            for pipe, copy in copies.items():
                if pipe.pattern in _STDIN and not os.path.getsize(copy.pattern):
                    raise InputError(f"{pipe.label}: stdin is empty", _NAME_SYSTEMS)
        if has_rows:
            # Only joins need this module.
            from beam_bleu.transforms.pairing.records.joins.rows import RowFolder

            joins: Any = source
            source = dataclasses.replace(joins, row_folder=RowFolder(folder))
        yield source


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
    folder = _new_folder()
    # Only at the end of the process, after Beam has stopped the job server that it has started: the
    # server's files are in the folder, too.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _with_copies(value: Any, copies: Mapping[Stream, Stream]) -> Any:
    """The value with other streams in place of its own, at any depth."""
    if isinstance(value, Stream):
        return copies.get(value, value)
    if type(value) is tuple:
        return tuple(_with_copies(item, copies) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    before = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    after = {name: _with_copies(content, copies) for name, content in before.items()}
    return value if after == before else dataclasses.replace(value, **after)


def _is_fifo(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _name(path: str) -> str:
    return "stdin" if path in _STDIN else f"the pipe {path}"


def _remove(folder: str) -> None:
    with uninterrupted():
        shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="beam-bleu-")  # only this user can open it
    except OSError as error:
        raise JobError(
            f"no folder for temporary files can be used: {error.strerror}",
            "name a folder that you can write to: TMPDIR=DIR",
        ) from error


def _copy_all(copies: Mapping[Stream, Stream]) -> None:
    """Copies pipes to files, all at the same time, until all of them have ended."""
    ended: queue.SimpleQueue[BleuError | None] = queue.SimpleQueue()

    def copy(pipe: Stream, path: str) -> None:
        try:
            _copy(pipe.pattern, path)
            ended.put(None)
        except OSError as error:
            ended.put(_failure(pipe, error))

    for pipe, file in copies.items():
        # If the run is stopped, nothing waits for a pipe that never ends.
        threading.Thread(target=copy, args=(pipe, file.pattern), daemon=True).start()
    for _ in copies:
        failure = ended.get()
        if failure is not None:
            raise failure


def _copy(pipe: str, path: str) -> None:
    open_file = _OPEN_FILE.fullmatch(pipe)
    # Opening /dev/stdin would read a file (< FILE) from its beginning again.
    if pipe in _STDIN or open_file:
        number = os.dup(int(open_file[1]) if open_file else 0)
    else:
        number = os.open(pipe, os.O_RDONLY)
    with open(number, "rb", buffering=0) as source, open(path, "xb") as file:
        os.set_blocking(number, True)
        while data := source.read(_READ):
            file.write(data)
            file.flush()


def _failure(pipe: Stream, error: OSError) -> BleuError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return JobError(
            f"{pipe.label}: the temporary folder {tempfile.gettempdir()} cannot be written: "
            f"{error.strerror}",
            "free space there, or name a folder on a larger disk: TMPDIR=DIR",
        )
    return InputError(
        f"{pipe.label}: {_name(pipe.pattern)} cannot be read: {error.strerror}",
        "check the program that writes to it, or save its text in a file",
    )
