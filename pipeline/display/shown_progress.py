"""Shows on stderr how far a run has come.

On a terminal one line is written again and again, and disappears at the end. If stderr is not a
terminal, each line begins with the time, and with --log_format json each line is an object, also on
a terminal. A thread writes the lines. It ends with the run, and a run goes on if stderr cannot be
written.

rich only measures the width of texts: importing its console takes more than 1 % of the CPU of a run
of a few seconds.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import io
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TextIO

from beam_bleu.pipeline.display.json_lines import JsonLines
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import BottomLine, knows_escapes
from beam_bleu.transforms.progress import COMPILING, PROGRESS, Phase, Progress, State

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
_MINUTE = 60.0
_OFTEN = 10.0

_WINDOW = 30.0
"""Seconds over which the rate is measured, so that a person sees when a job stands still."""

_SHORTEST = 1e-6
"""Seconds. Two looks that are closer together give no rate."""

_SYMBOLS = ("B", "kB", "MB", "GB", "TB", "PB")

_LONGEST = 100 * 86_400
"""Seconds. The rate is nearly 0 if more time seems to be left, so this time says nothing."""

_USUAL_COLUMNS = 80
_BAR = 20
"""How many cells the bar has."""
_GAP = "  "


@contextlib.contextmanager
def progress_shown(mode: ProgressMode, progress: Progress = PROGRESS) -> Iterator[None]:
    """While the body runs, stderr shows how far it has come."""
    if mode not in PROGRESS_MODES:
        raise ValueError(f"the mode must be one of {', '.join(PROGRESS_MODES)}, got {mode!r}")
    stream = None if mode == "off" else _kept_stderr()
    if stream is None:
        yield
        return
    ended = threading.Event()
    with contextlib.ExitStack() as until_end:
        # Whether a line can be written again and again.
        if stream.isatty() and knows_escapes() and JsonLines.current is None:
            line = until_end.enter_context(BottomLine.of(stream))
            writer: LineOfTerminal | LinesOfLog = LineOfTerminal(line)
        else:
            every = _OFTEN if mode == "on" else _MINUTE
            writer = LinesOfLog(stream, every, with_phases=mode == "on")
        thread = threading.Thread(
            target=_show, args=(writer, stream, progress, ended), name="progress", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            # Nothing is written afterwards, unless stderr blocks its writers.
            ended.set()
            thread.join(_PATIENCE)


def _show(
    writer: LineOfTerminal | LinesOfLog, stream: TextIO, progress: Progress, ended: threading.Event
) -> None:
    """Shows the progress of a run until it has ended."""
    stderr = sys.stderr
    # The display is not worth a failed run, whatever goes wrong with stderr.
    with contextlib.suppress(OSError, ValueError):
        wait = writer.delay
        while not ended.wait(wait):
            writer.show(progress.state, tuple(progress.seconds))
            wait = _TICK
    with contextlib.suppress(OSError, ValueError):
        writer.end(tuple(progress.seconds))
    # Here, because another thread could wait forever for a writer that is blocked. It would write
    # again what it could not write.
    with contextlib.suppress(OSError, ValueError):
        if stream is not stderr:
            stream.close()


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


def _local_time() -> datetime.datetime:
    return datetime.datetime.now().astimezone()


class LinesOfLog:
    """Writes a line at regular times, and perhaps one for each phase.

    Args:
      stream: where the lines go.
      every: seconds between two lines, and before the first one.
      with_phases: whether each phase gets a line when it is first seen.
      now: gives the time of a line.
    """

    delay = 0.0

    def __init__(
        self,
        stream: TextIO,
        every: float,
        with_phases: bool,
        now: Callable[[], datetime.datetime] = _local_time,
    ) -> None:
        self._stream = stream
        self._every = every
        self._with_phases = with_phases
        self._now = now
        self._rate = Rate()
        self._due = every
        self._seen: set[str] = set()

    def show(self, state: State, phases: Sequence[Phase]) -> None:
        rate = self._rate.see(state)
        self.end([phase for phase in phases if phase != state.phase])
        if state.detail == COMPILING and COMPILING not in self._seen:
            self._seen.add(COMPILING)  # nobody expects the first run to take so long
            self._write(COMPILING)
        is_new = self._with_phases and state.phase not in self._seen
        if is_new or state.run_seconds >= self._due:
            self._write(sentence(state, rate))
            self._seen.add(state.phase)
            # Not a multiple of `every`: two lines could follow each other at once.
            self._due = state.run_seconds + self._every

    def end(self, phases: Sequence[Phase]) -> None:
        """Shows the phases that began and ended between two looks."""
        for phase in phases:
            if self._with_phases and phase not in self._seen:
                self._seen.add(phase)
                self._write(phase)

    def _write(self, message: str) -> None:
        now, lines = self._now(), JsonLines.current
        if lines is None:
            line = f"{now.isoformat(timespec='seconds')} beam-bleu: {printable(message)}"
        else:
            line = lines.line("info", message, now.timestamp())
        self._stream.write(f"{line}\n")
        self._stream.flush()


class LineOfTerminal:
    """Writes the last line of a terminal again and again."""

    delay = _DELAY

    def __init__(self, line: BottomLine) -> None:
        self._line = line
        self._rate = Rate()

    def show(self, state: State, phases: Sequence[Phase]) -> None:
        width = _USUAL_COLUMNS
        with contextlib.suppress(OSError, ValueError):
            width = os.get_terminal_size(self._line.stream.fileno()).columns or width
        # A full line could begin another one.
        self._line.write(fitted(state, self._rate.see(state), max(width - 1, 1)))

    def end(self, phases: Sequence[Phase]) -> None:
        self._line.erase()


class Rate:
    """The bytes per second of the current phase, from the states that it has seen.

    It is measured from the moment at which the first byte is done. Before that, code may be
    compiled, or a filesystem may be slow to answer.
    """

    def __init__(self) -> None:
        self._phase: Phase | None = None
        self._seen: collections.deque[tuple[float, int]] = collections.deque()

    def see(self, state: State) -> float | None:
        """The rate after another state; None if it is not known yet."""
        is_new = self._phase != state.phase or state.done == 0
        if is_new or (self._seen and state.done < self._seen[-1][1]):
            self._phase = state.phase
            self._seen.clear()
        self._seen.append((state.run_seconds, state.done))
        while len(self._seen) > 2 and self._seen[1][0] <= state.run_seconds - _WINDOW:
            self._seen.popleft()
        (begin, before), (end, after) = self._seen[0], self._seen[-1]
        return (after - before) / (end - begin) if end - begin > _SHORTEST else None


def facts(state: State, rate: float | None) -> list[str]:
    """What is known about a state and its rate, as texts, the most important one first."""
    if not state.planned:
        return [f"for {duration(state.phase_seconds)}"]
    seconds = (state.planned - state.done) / rate if rate else math.inf
    return [
        f"{100 * state.done // state.planned} %",  # rounded down
        *([f"{duration(seconds)} left"] if seconds <= _LONGEST else []),
        *([] if rate is None else [f"{size(rate)}/s"]),
        f"{size(state.done)} of {size(state.planned)}",
    ]


def sentence(state: State, rate: float | None) -> str:
    """One line of a log."""
    first, *others = facts(state, rate)
    return ", ".join(filter(None, [f"{state.phase} {first}", *others, state.detail]))


def fitted(state: State, rate: float | None, width: int) -> str:
    """The line for a width. Numbers are shown whole, or not at all; a detail can be cut.

    Args:
      state: what the line shows.
      rate: the bytes per second, if they are known.
      width: the width of the line.
    """
    from rich.cells import cell_len, set_cell_size

    line = state.phase[:width]
    parts = facts(state, rate)
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
