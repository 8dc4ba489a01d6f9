"""The errors of the library and of the command: each has a cause and a remedy, in plain words."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence

_NO_FILES_LEFT = (errno.EMFILE, errno.ENFILE)


class BleuError(Exception):
    """A failure: a one-line cause, what is wrong and where, and a one-line remedy."""

    def __init__(self, cause: str, remedy: str, original: str | None = None) -> None:
        # Beam makes the error again and adds the step's name to the first argument. The third
        # argument keeps the cause without it, also when the error is pickled.
        original = cause if original is None else original
        super().__init__(cause, remedy, original)
        self.cause = original
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.args[0]}; {self.remedy}"


class JobError(BleuError):
    """The job could not do its work: the engine failed or the output cannot be written."""


class UsageError(BleuError):
    """An impossible option or combination."""


class InputError(BleuError):
    """The input is missing, unreadable, truncated or bad."""


class GateError(BleuError):
    """The result is written, but a threshold that was asked for is missed."""


def unreadable(what: str, error: BaseException, remedy: str, path: str = "") -> BleuError:
    """The error for something that cannot be read; a `JobError` if too many files are open."""
    end = f": {path}" if path else ""
    if lacks_open_files(error):
        return open_file_limit(what + end)
    # Python adds the path to the text of some of these errors.
    return InputError(f"{what}: {said(error, whole=not path)}{end}", remedy)


def said(error: BaseException, whole: bool = False) -> str:
    """What an exception says; the whole text of an `OSError` has its number and path, too."""
    # Beam's filesystems wrap the exception of each path, sometimes twice.
    details = getattr(error, "exception_details", None)
    if isinstance(details, dict) and details:
        return said(next(iter(details.values())), whole)
    if isinstance(error, OSError) and error.strerror and not whole:
        return error.strerror
    return str(error)


def joined(names: Sequence[str], most: int = 3, separator: str = ", ") -> str:
    """Names as a part of a message, at most this number of them.

    >>> joined(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def lost_data(cause: str) -> JobError:
    return JobError(cause, "the runner lost or repeated data: do not use it for this job")


def open_file_limit(what: str) -> JobError:
    said = "too many open files: "
    return JobError(
        said + what.removeprefix(said),
        "raise the limit where the job runs (such as ulimit -n 4096), or score fewer systems",
    )


def lacks_open_files(error: BaseException | None) -> bool:
    return any(
        isinstance(cause, OSError) and cause.errno in _NO_FILES_LEFT for cause in causes(error)
    )


def causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def installing(extra: str) -> str:
    """The commands that install an extra. beam-bleu is not on PyPI, so both are for its folder."""
    return f"./run.sh install {extra}, or pip install '.[{extra}]', in the folder of beam-bleu"
