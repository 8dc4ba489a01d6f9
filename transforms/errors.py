"""What can go wrong, in a form that survives the way from a worker to the launcher.

An exception reaches the launcher of a distributed job as text, often as a plain
RuntimeError inside an engine's own words. So the text of an error has two parts:

    beam-bleu[3]: CAUSE || REMEDY || [beam-bleu.PAYLOAD.CHECKSUM]

The first part is for people who read an engine's log. The second part is the mark
that the launcher finds. Its letters survive quoting, and no path or name can end it
or stand in for it: a mark inside a cause or a remedy is broken up.
"""

from __future__ import annotations

import base64
import binascii
import errno
import json
import re
from collections.abc import Iterator
from typing import Any

from beam_bleu.transforms.printable import printable

FAILED = 1
USAGE = 2
BAD_INPUT = 3

_MARK = re.compile(r"\[beam-bleu\.([A-Za-z0-9_-]+)\.([0-9a-f]{8})\]")

_CUT = re.compile(
    r"beam-bleu\[([123])\]: (?P<cause>.*?) \|\| (?P<remedy>.*?) \|\| \[beam-bleu\.", re.DOTALL
)
"""What is left of an error whose mark an engine has cut off."""

_NO_FILES_LEFT = (errno.EMFILE, errno.ENFILE)


class BleuError(Exception):
    """A failure with an exit code, a one-line cause and a one-line remedy.

    Attributes:
      cause: what is wrong, and where.
      remedy: what to do.
    """

    exit_code = FAILED

    def __init__(self, cause: str, remedy: str, original: str | None = None) -> None:
        # Beam makes the error again, with the step's name behind its first argument;
        # and it can be pickled.
        original = cause if original is None else original
        super().__init__(cause, remedy, original)
        self.cause = original
        self.remedy = remedy

    def __str__(self) -> str:
        plain = f"{_without_marks(self.args[0])} || {_without_marks(self.remedy)}"
        return f"beam-bleu[{self.exit_code}]: {plain} || {_mark(self)}"


class JobError(BleuError):
    """The job could not do its work: the engine failed or the output cannot be written."""


class UsageError(BleuError):
    """An impossible option or combination."""

    exit_code = USAGE


class InputError(BleuError):
    """The input is missing, unreadable, truncated or bad."""

    exit_code = BAD_INPUT


_KINDS = {kind.exit_code: kind for kind in (JobError, UsageError, InputError)}


def find_error(text: str) -> BleuError | None:
    """The error whose mark stands in `text`, or None.

    Of several it is the last one, because Python writes an exception after its cause.
    Where an engine has cut the last mark off, the part for people must do.
    """
    cut = max(_CUT.finditer(text), key=lambda match: match.start(), default=None)
    for mark in reversed([*_MARK.finditer(text)]):
        if cut and mark.start() < cut.start():
            break
        found = _from_payload(mark[1]) if mark[2] == _checksum(mark[1]) else None
        if found is not None:
            return found
    return _KINDS[int(cut[1])](cut["cause"], cut["remedy"]) if cut else None


def unreadable(what: str, error: BaseException, remedy: str) -> BleuError:
    """The error of something that cannot be read; not the input's fault if no file can be."""
    if lacks_open_files(error):
        return too_many_open_files(what)
    return InputError(f"{what}: {error}", remedy)


def too_many_open_files(what: str) -> JobError:
    """The error of a process that may not open another file."""
    said = "too many open files: "
    return JobError(
        said + what.removeprefix(said),
        "raise the limit where the job runs (such as ulimit -n 4096), or score fewer systems",
    )


def lacks_open_files(error: BaseException | None) -> bool:
    """Whether an exception, or one that led to it, says that no file can be opened any more."""
    return any(isinstance(each, OSError) and each.errno in _NO_FILES_LEFT for each in causes(error))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _mark(error: BleuError) -> str:
    content = json.dumps([error.exit_code, error.cause, error.remedy])
    payload = base64.urlsafe_b64encode(content.encode("ascii")).decode("ascii").rstrip("=")
    return f"[beam-bleu.{payload}.{_checksum(payload)}]"


def _from_payload(payload: str) -> BleuError | None:
    try:
        padded = payload + "=" * (-len(payload) % 4)
        content: Any = json.loads(base64.urlsafe_b64decode(padded))
        code, cause, remedy = content
        kind = _KINDS[code]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(cause, str) or not isinstance(remedy, str):
        return None
    return kind(cause, remedy)


def _checksum(payload: str) -> str:
    return f"{binascii.crc32(payload.encode('ascii')):08x}"


def _without_marks(text: str) -> str:
    """A text as one line in which nothing looks like a part of a mark."""
    text = re.sub(r"\|(?=\|)", "| ", printable(text))
    return re.sub(r"beam-bleu(?=\[\d)|\[beam-bleu(?=\.)", r"\g<0> ", text)
