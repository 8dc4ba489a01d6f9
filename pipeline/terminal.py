"""What goes to a terminal: all of it printable, and all of it written or an error."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.printable import printable


class EscapingFormatter(logging.Formatter):
    """Log records with all but their line breaks escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n\t")


def say(message: str) -> None:
    """Writes a message to stderr, if that is possible."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            print(message, file=sys.stderr, flush=True)


@contextlib.contextmanager
def silent_stderr() -> Iterator[None]:
    """While this lasts, nothing reaches stderr: neither from this process nor from children."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        kept = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def write_to_stdout(data: bytes) -> None:
    """Writes what the command has to show.

    Raises:
      JobError: stdout does not take it.
    """
    if sys.stdout is None:
        raise JobError("stdout is closed", "redirect it to a file or to /dev/null")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as error:
        # Python would try again, and fail again, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise JobError(f"stdout cannot be written: {error.strerror}", "check it") from error


def open_standard_streams() -> None:
    """Opens those of stdin, stdout and stderr that are closed, to /dev/null.

    Otherwise the next file that is opened gets such a number, and what a library prints to
    stdout or stderr goes into that file: into scores.json, for instance. `sys.stdout`
    and `sys.stderr` stay None.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
