"""Writes to stdout and stderr: messages, JSON logs, scores, and the progress of a run."""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import logging
import math
import os
import platform
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, TextIO

from beam_bleu.pipeline.errors.printable import json_text, printable
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.progress import PROGRESS, Phase, Progress, State

ERASED_LINE = "\r\x1b[K"

LogFormatName = Literal["text", "json"]

LOG_FORMATS: Mapping[LogFormatName, str] = {
    "text": "lines for people",
    "json": "a JSON object on each line, with time, level, message, run and host",
}


class Log:
    """Whether stderr gets JSON lines, for programs that collect logs; and the run's identifier."""

    is_json: ClassVar[bool] = False
    run: ClassVar[str | None] = None


@contextlib.contextmanager
def formatted_log(name: LogFormatName) -> Iterator[None]:
    before = Log.is_json, Log.run
    Log.is_json, Log.run = name == "json", None
    logging.captureWarnings(Log.is_json)  # otherwise Python prints them as text
    try:
        yield
    finally:
        Log.is_json, Log.run = before
        logging.captureWarnings(False)


def now() -> str:
    time = datetime.datetime.now(datetime.timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def log_line(level: str, message: str, text: str, **more: Any) -> str:
    if not Log.is_json:
        return text
    fields = {"time": now(), "level": level, "message": message, "run": Log.run}
    return json_text(fields | {"host": platform.node()} | more)


def width_of(stream: TextIO | None) -> float:
    """The columns of a terminal, or what COLUMNS says; without both, there is no limit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or math.inf  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        return math.inf


def whole_words(line: str, width: float) -> str:
    """A line as several lines that are not wider, if possible without breaking words."""
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    lines = textwrap.wrap(
        line,
        int(width),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def say(message: str) -> None:
    """Writes a message to stderr, if possible; on a terminal, above the line of progress."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            above = ""
            if is_redrawn(sys.stderr):
                above, width = ERASED_LINE, width_of(sys.stderr)
                message = "\n".join(whole_words(line, width) for line in message.split("\n"))
            sys.stderr.write(f"{above}{message}\n")
            sys.stderr.flush()


def tell(message: str) -> None:
    say(log_line("info", message, f"beam-bleu: {printable(message)}"))


@contextlib.contextmanager
def silent_stderr() -> Iterator[None]:
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
        # Otherwise Python, when it ends, would try to write again, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise JobError(
            f"stdout cannot be written: {error.strerror}", "check where it goes"
        ) from error


def open_standard_streams() -> None:
    """Opens stdin, stdout and stderr to /dev/null if they are closed.

    Otherwise the next file, such as scores.json, would get the descriptor of a closed stream, and
    whatever a library prints would end up in it. `sys.stdout` and `sys.stderr` stay None.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)


def is_redrawn(stream: TextIO) -> bool:
    knows_escapes = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return stream.isatty() and knows_escapes and not Log.is_json


ProgressMode = Literal["auto", "on", "off"]

PROGRESS_MODES: Mapping[ProgressMode, str] = {
    "auto": "one line on a terminal, otherwise a log line each minute",
    "on": "one line on a terminal, otherwise a log line for each phase and every 10 seconds",
    "off": "nothing",
}

_TICK = 0.5  # seconds between two looks at the state
_DELAY = 1.0  # seconds before the first line on a terminal
_PATIENCE = 2.0  # seconds to wait for the thread, which can hang if stderr is a pipe nobody reads

_USUAL_COLUMNS = 80

_LONGEST = 100 * 86_400
"""Seconds. A longer estimate is not shown: so little is done that it would mean nothing."""


@contextlib.contextmanager
def progress_shown(mode: ProgressMode, progress: Progress = PROGRESS) -> Iterator[None]:
    stream = None if mode == "off" else _kept_stderr()
    if stream is None:
        yield
        return
    ended = threading.Event()
    work = functools.partial(
        _show, stream, progress, ended, with_phases=mode == "on", is_own=stream is not sys.stderr
    )
    thread = threading.Thread(target=work, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        # The thread writes nothing afterwards, unless a write to stderr has blocked it.
        ended.set()
        thread.join(_PATIENCE)


def _show(
    stream: TextIO, progress: Progress, ended: threading.Event, *, with_phases: bool, is_own: bool
) -> None:
    """Shows the progress of a run, and ignores failures: a display must not make a run fail."""
    is_line = is_redrawn(stream)

    def states() -> Iterator[State]:
        delay = _DELAY if is_line else 0.0
        while not ended.wait(delay):
            yield progress.state
            delay = _TICK

    with contextlib.suppress(OSError, ValueError):
        if is_line:
            _write_line(stream, states())
        else:
            _write_log(stream, log_lines(states(), with_phases=with_phases))
    # Closed in this thread, since another could wait forever for a blocked write. Closing can fail,
    # too: it writes again what could not be written.
    with contextlib.suppress(OSError, ValueError):
        if is_own:
            stream.close()


def _kept_stderr() -> TextIO | None:
    """A duplicate of stderr that `silent_stderr` does not silence; None if stderr is closed."""
    stream = sys.stderr
    if stream is None:
        return None
    try:
        kept = os.dup(stream.fileno())
    except io.UnsupportedOperation:  # not a file, such as a StringIO
        return stream
    except (OSError, ValueError):
        return None
    return os.fdopen(kept, "w", encoding=stream.encoding, errors="backslashreplace")


def _write_line(stream: TextIO, states: Iterator[State]) -> None:
    """Redraws the last line of a terminal for each state, and erases it at the end."""
    for state in states:
        from rich.cells import set_cell_size  # here, because a run of a second shows no line

        # One column stays free: a full line could make the terminal begin another one.
        room = (os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS) - 1
        stream.write(f"\r{set_cell_size(printable(sentence(state)), room).rstrip()}\x1b[K")
        stream.flush()
    stream.write(ERASED_LINE)
    stream.flush()


def _write_log(stream: TextIO, messages: Iterator[str]) -> None:
    for message in messages:
        time = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        line = log_line("info", message, f"{time} beam-bleu: {printable(message)}")
        stream.write(f"{line}\n")
        stream.flush()


def log_lines(states: Iterator[State], *, with_phases: bool) -> Iterator[str]:
    """A line each minute; with phases, a line for each new phase and every 10 seconds."""
    every = 10.0 if with_phases else 60.0
    due = every
    seen: set[Phase] = set()
    for state in states:
        if (with_phases and state.phase not in seen) or state.run_seconds >= due:
            yield sentence(state)
            seen.add(state.phase)
            # Counted from this line: with multiples of `every`, the next line could come at once.
            due = state.run_seconds + every


def sentence(state: State) -> str:
    """A state in words, the most important first, because a narrow terminal cuts the line."""
    from rich.filesize import decimal

    facts = [f"for {_clock(state.phase_seconds)}"]
    if state.planned:
        facts = [f"{100 * state.done // state.planned} %"]  # rounded down
        if state.done and state.phase_seconds:
            rate = state.done / state.phase_seconds
            if (seconds := (state.planned - state.done) / rate) <= _LONGEST:
                facts.append(f"{_clock(seconds)} left")
            facts.append(f"{decimal(int(rate))}/s")
        facts.append(f"{decimal(state.done)} of {decimal(state.planned)}")
    return ", ".join(filter(None, [f"{state.phase} {facts[0]}", *facts[1:], state.detail]))


def _clock(seconds: float) -> str:
    return str(datetime.timedelta(seconds=round(seconds)))
