"""The exit codes of the command, and the errors of its job as text.

The launcher of a distributed job gets exceptions as text, often as a plain RuntimeError with
an engine's own words before and after it. So the job's steps raise errors with two parts in
their text:

    beam-bleu[3]: CAUSE || REMEDY || [beam-bleu.PAYLOAD.CHECKSUM]

The first part is for people who read an engine's log. The second part is the mark that the
launcher finds. Quoting does not change its letters. A path or a name can look like a mark, too,
but it comes before the mark of its error.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.transforms.errors import BleuError, GateError, InputError, JobError, UsageError

USAGE = 2
MISSED = 4


class ExitCode(NamedTuple):
    """An exit code (signals have several), its meaning for readers, and the errors that have it."""

    codes: tuple[int, ...]
    meaning: str
    error: type[BleuError] | None = None


EXIT_CODES = (
    ExitCode((0,), "done"),
    ExitCode((1,), "the job failed: the engine, or writing the output", JobError),
    ExitCode((USAGE,), "usage: an option or a combination of options is impossible", UsageError),
    ExitCode((3,), "the input is missing, unreadable, truncated or bad", InputError),
    ExitCode((MISSED,), "the result is written, but a threshold is missed", GateError),
    ExitCode((129, 130, 143), "stopped by SIGHUP, SIGINT or SIGTERM"),
)

_KINDS = {row.codes[0]: row.error for row in EXIT_CODES if row.error is not None}

_MARK = re.compile(r"\[beam-bleu\.([A-Za-z0-9_-]+)\.([0-9a-f]{8})\]")


class MarkedError(Exception):
    """An error with its mark, and its cause for people."""

    def __init__(self, cause: str, error: BleuError) -> None:
        # Beam makes the error again and adds the step's name to the first argument.
        super().__init__(cause, error)
        self.error = error

    def __str__(self) -> str:
        told = f"beam-bleu[{exit_code(self.error)}]: {self.args[0]} || {self.error.remedy}"
        return f"{printable(told)} || {_mark(self.error)}"


@contextlib.contextmanager
def marking() -> Iterator[None]:
    try:
        yield
    except BleuError as error:
        marked = MarkedError(error.cause, error).with_traceback(error.__traceback__)
        # Not from the error: a path in its text, before the mark, can look like a mark.
        raise marked from error.__cause__


def exit_code(error: BleuError) -> int:
    return next(code for code, kind in _KINDS.items() if isinstance(error, kind))


def error_of_code(code: int, cause: str, remedy: str) -> BleuError:
    return _KINDS[code](cause, remedy)


def find_error(text: str) -> BleuError | None:
    """The error of the last mark in a text: Python writes an exception after its cause."""
    for payload, checksum in reversed(_MARK.findall(text)):
        if checksum == _checksum(payload):
            code, cause, remedy = json.loads(base64.urlsafe_b64decode(f"{payload}==="))
            return error_of_code(code, cause, remedy)
    return None


def _mark(error: BleuError) -> str:
    content = json.dumps([exit_code(error), error.cause, error.remedy]).encode()
    payload = base64.urlsafe_b64encode(content).decode().rstrip("=")
    return f"[beam-bleu.{payload}.{_checksum(payload)}]"


def _checksum(payload: str) -> str:
    return f"{zlib.crc32(payload.encode()):08x}"
