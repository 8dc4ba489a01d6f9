"""What can go wrong, in a form that survives the way from a worker to the launcher.

An exception reaches the launcher of a distributed job as text, often as a plain
RuntimeError inside an engine's own words. So the text carries a marker with the
exit code, the cause and the remedy, and the launcher finds it there.
"""

from __future__ import annotations

import re

FAILED = 1
USAGE = 2
BAD_INPUT = 3

_MARKER = re.compile(r"beam-bleu\[(\d)\]: (.*?) \|\| (.*?) \|\|", re.DOTALL)


class BleuError(Exception):
    """A failure with an exit code, a one-line cause and a one-line remedy."""

    exit_code = FAILED

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)  # both, so that it can be pickled
        self.cause = _one_line(cause)
        self.remedy = _one_line(remedy)

    def __str__(self) -> str:
        return f"beam-bleu[{self.exit_code}]: {self.cause} || {self.remedy} ||"


class JobError(BleuError):
    """The job could not do its work: the engine failed or the output cannot be written."""


class UsageError(BleuError):
    """An impossible option or combination."""

    exit_code = USAGE


class InputError(BleuError):
    """The input is missing, unreadable, truncated or bad."""

    exit_code = BAD_INPUT


def find_error(text: str) -> BleuError | None:
    """The error whose marker stands in `text`, or None."""
    found = _MARKER.search(text)
    if not found:
        return None
    kinds = {kind.exit_code: kind for kind in (JobError, UsageError, InputError)}
    kind = kinds.get(int(found[1]), JobError)
    return kind(found[2], found[3])


def _one_line(text: str) -> str:
    return " ".join(text.replace("||", "| |").splitlines())
