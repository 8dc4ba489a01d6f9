"""Shows on stderr how far a run has come.

On a terminal one line is written again and again, and disappears at the end. If stderr is not a
terminal, each line begins with the time, and with --log_format json each line is an object, also on
a terminal. A thread writes the lines. It ends with the run, and a run goes on if stderr cannot be
written.

rich only measures the width of texts: importing its console takes more than 1 % of the CPU of a run
of a few seconds.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TextIO

from beam_bleu.pipeline.display.json_lines import JsonLines
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import BottomLine, knows_escapes
from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.progress import PROGRESS, Phase, Progress, State

ProgressMode = Literal["auto", "on", "off"]

PROGRESS_MODES: Mapping[ProgressMode, str] = {
    "auto": "one line on a terminal, otherwise a log line each minute",
    "on": "one line on a terminal, otherwise a log line for each phase and every 10 seconds",
    "off": "nothing",
}
"""The values of --progress, and what each of them shows."""

_TICK = 0.5
"""Seconds between two looks at the state."""
_DELAY = 1.0
"""Seconds before the first line on a terminal."""
_PATIENCE = 2.0
"""Seconds to wait for the end of the thread. It can hang if nobody reads a pipe."""

_SYMBOLS = ("B", "kB", "MB", "GB", "TB", "PB")

_LONGEST = 100 * 86_400
"""Seconds. If more time seems to be left, almost nothing is done yet, so it says nothing."""

_USUAL_COLUMNS = 80
_BAR = 20
"""How many cells the bar has."""
_GAP = "  "


@contextlib.contextmanager
def progress_shown(mode: ProgressMode, progress: Progress = PROGRESS) -> Iterator[None]:
    """While the body runs, stderr shows how far it has come."""
    require_choice("the mode", mode, PROGRESS_MODES)
    stream = None if mode == "off" else _kept_stderr()
    if stream is None:
        yield
        return
    ended = threading.Event()
    with contextlib.ExitStack() as until_end:
        # Whether a line can be written again and again.
        if stream.isatty() and knows_escapes() and JsonLines.current is None:
            line = until_end.enter_context(BottomLine.of(stream))
            write = functools.partial(_write_line, line, _states(progress, ended, _DELAY))
        else:
            messages = log_lines(_states(progress, ended, 0.0), with_phases=mode == "on")
            write = functools.partial(_write_log, stream, messages)
        thread = threading.Thread(
            target=_until_it_fails, args=(write, stream, sys.stderr), name="progress", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            # Nothing is written afterwards, unless stderr blocks its writers.
            ended.set()
            thread.join(_PATIENCE)


def _until_it_fails(write: Callable[[], None], stream: TextIO, stderr: TextIO) -> None:
    """Shows the progress of a run. The display is not worth a failed run, whatever goes wrong."""
    with contextlib.suppress(OSError, ValueError):
        write()
    # Here, because another thread could wait forever for a writer that is blocked. It would write
    # again what it could not write.
    with contextlib.suppress(OSError, ValueError):
        if stream is not stderr:
            stream.close()


def _states(progress: Progress, ended: threading.Event, delay: float) -> Iterator[State]:
    """The states of a run until it has ended, the first one after some seconds."""
    while not ended.wait(delay):
        yield progress.state
        delay = _TICK


def _kept_stderr() -> TextIO | None:
    """Another way to stderr, which `terminal.silent_stderr` does not silence; None if closed."""
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


def _write_line(line: BottomLine, states: Iterable[State]) -> None:
    """Writes the last line of a terminal again and again."""
    for state in states:
        width = _USUAL_COLUMNS
        with contextlib.suppress(OSError, ValueError):
            width = os.get_terminal_size(line.stream.fileno()).columns or width
        # A full line could begin another one.
        line.write(fitted(state, max(width - 1, 1)))
    line.erase()


def _write_log(stream: TextIO, messages: Iterable[str]) -> None:
    for message in messages:
        if JsonLines.current is not None:
            line = JsonLines.current.line("info", message)
        else:
            now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
            line = f"{now} beam-bleu: {printable(message)}"
        stream.write(f"{line}\n")
        stream.flush()


def log_lines(states: Iterable[State], *, with_phases: bool) -> Iterator[str]:
    """A line each minute; with phases, a line for each new phase and every 10 seconds."""
    every = 10.0 if with_phases else 60.0
    due = every
    seen: set[Phase] = set()
    for state in states:
        if (with_phases and state.phase not in seen) or state.run_seconds >= due:
            yield sentence(state)
            seen.add(state.phase)
            # Not a multiple of `every`: two lines could follow each other at once.
            due = state.run_seconds + every


def facts(state: State) -> list[str]:
    """What is known about a state, as texts, the most important one first."""
    if not state.planned:
        return [f"for {duration(state.phase_seconds)}"]
    texts = [f"{100 * state.done // state.planned} %"]  # rounded down
    if state.done and state.phase_seconds:
        rate = state.done / state.phase_seconds
        if (seconds := (state.planned - state.done) / rate) <= _LONGEST:
            texts.append(f"{duration(seconds)} left")
        texts.append(f"{size(rate)}/s")
    return [*texts, f"{size(state.done)} of {size(state.planned)}"]


def sentence(state: State) -> str:
    """One line of a log."""
    first, *others = facts(state)
    return ", ".join(filter(None, [f"{state.phase} {first}", *others, state.detail]))


def fitted(state: State, width: int) -> str:
    """The line for a width. Numbers are shown whole, or not at all; a detail can be cut."""
    from rich.cells import cell_len, set_cell_size

    line = state.phase[:width]
    parts = facts(state)
    if state.planned:
        done = _BAR * state.done // state.planned
        parts.insert(0, "=" * done + "-" * (_BAR - done))
    for part in parts:
        if len(line) + len(_GAP) + len(part) <= width:
            line += f"{_GAP}{part}"
    detail, room = printable(state.detail), width - len(line) - len(_GAP)
    if not detail or room < 1:
        return line
    return f"{line}{_GAP}{detail if cell_len(detail) <= room else set_cell_size(detail, room)}"


def size(count: float) -> str:
    """A number of bytes with two or three digits: 999 B, 1.0 kB, 12 MB, 3.1 GB."""
    symbols = iter(_SYMBOLS)
    symbol = next(symbols)
    while count >= 999.5 and symbol != _SYMBOLS[-1]:
        count /= 1000
        symbol = next(symbols)
    digits = 1 if count < 9.95 and symbol != "B" else 0
    return f"{count:.{digits}f} {symbol}"


def duration(seconds: float) -> str:
    """A time as a clock shows it: 0:09, 12:34, 1:02:03. Hours can have more than two digits."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
