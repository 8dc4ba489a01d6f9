"""Writing to stdout and stderr.

Only printable text is written, and it is an error if stdout fails.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, ClassVar, Literal, TextIO

from beam_bleu.pipeline.display.printable import json_text, printable
from beam_bleu.transforms.errors import JobError

ERASED_LINE = "\r\x1b[K"
"""Removes the line of a terminal at whose end something was written."""

LogFormatName = Literal["text", "json"]

LOG_FORMATS: Mapping[LogFormatName, str] = {
    "text": "lines for people",
    "json": "a JSON object on each line, with time, level, message, run and host",
}
"""The values of --log_format, and what each of them makes of stderr."""


class Log:
    """Whether stderr has objects for programs that collect logs, and the name of their run.

    It is the name that run.json has, once it is known.
    """

    is_json: ClassVar[bool] = False
    run: ClassVar[str | None] = None


@contextlib.contextmanager
def formatted_log(name: LogFormatName) -> Iterator[None]:
    """While the body runs, stderr has this format."""
    before = Log.is_json, Log.run
    Log.is_json, Log.run = name == "json", None
    logging.captureWarnings(Log.is_json)  # Python would print them as text
    try:
        yield
    finally:
        Log.is_json, Log.run = before
        logging.captureWarnings(False)


def log_line(level: str, message: str, text: str, **more: Any) -> str:
    """A message of a level such as "info", with other keys after it, or the text for people."""
    if not Log.is_json:
        return text
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    fields = {"time": now, "level": level, "message": message, "run": Log.run}
    return json_text(fields | {"host": platform.node()} | more)


def say(message: str) -> None:
    """Writes a message to stderr, if that is possible.

    On a terminal it takes the place of the line of progress, which is written again below it.
    """
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            above = ERASED_LINE if is_redrawn(sys.stderr) else ""
            sys.stderr.write(f"{above}{message}\n")
            sys.stderr.flush()


def tell(message: str) -> None:
    """Writes a message of beam-bleu to stderr, in the format of --log_format."""
    say(log_line("info", message, f"beam-bleu: {printable(message)}"))


@contextlib.contextmanager
def silent_stderr() -> Iterator[None]:
    """While the body runs, this process and its children write nothing to stderr."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        kept = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def write_to_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise JobError("stdout is closed", "redirect it to a file or to /dev/null")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as error:
        # At its end Python would try to write again, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise JobError(
            f"stdout cannot be written: {error.strerror}", "check where it goes"
        ) from error


def open_standard_streams() -> None:
    """Opens stdin, stdout and stderr to /dev/null if they are closed.

    Otherwise the next opened file would get the number of a closed one. If a library then
    prints to stdout or stderr, its text would go into that file, for example into scores.json.
    `sys.stdout` and `sys.stderr` stay None.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)


def is_redrawn(stream: TextIO) -> bool:
    """Whether a line on this stream can be written again and again."""
    knows_escapes = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return stream.isatty() and knows_escapes and not Log.is_json
