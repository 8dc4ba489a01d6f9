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
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TextIO

from beam_bleu.pipeline.display.json_lines import JsonLines
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.progress_text import Rate, sentence, shares
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

_USUAL_COLUMNS = 80
_BAR = 20
"""How many cells the bar has."""
_GAP = "  "


@contextlib.contextmanager
def progress_shown(mode: ProgressMode, progress: Progress = PROGRESS) -> Iterator[None]:
    """While the body runs, stderr shows how far it has come."""
    if mode not in PROGRESS_MODES:
        raise ValueError(f"the mode must be one of {', '.join(PROGRESS_MODES)}, got {mode!r}")
    with contextlib.ExitStack() as until_end:
        stream = None if mode == "off" else _kept_stderr()
        if stream is not None:
            if _is_terminal(stream) and JsonLines.current is None:
                writer: LineOfTerminal | LinesOfLog = LineOfTerminal(
                    until_end.enter_context(BottomLine.of(stream))
                )
            else:
                every = _OFTEN if mode == "on" else _MINUTE
                writer = LinesOfLog(stream, every, with_phases=mode == "on")
            shown = _Shown(writer, stream, progress)
            until_end.callback(shown.stop)
            shown.start()
        yield


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


def _is_terminal(stream: TextIO) -> bool:
    """Whether a line of it can be written again and again."""
    return stream.isatty() and knows_escapes()


class _Shown:
    """A thread that shows the progress of a run."""

    def __init__(
        self, writer: LineOfTerminal | LinesOfLog, stream: TextIO, progress: Progress
    ) -> None:
        self._writer = writer
        self._stream = stream
        self._stderr = sys.stderr
        self._progress = progress
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread. Nothing is written afterwards, unless stderr blocks its writers."""
        self._ended.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        # The display is not worth a failed run, whatever goes wrong with stderr.
        with contextlib.suppress(OSError, ValueError):
            wait = self._writer.delay
            while not self._ended.wait(wait):
                self._writer.show(*self._seen())
                wait = _TICK
        with contextlib.suppress(OSError, ValueError):
            self._writer.end(*self._seen())
        # Here, because another thread could wait forever for a writer that is blocked. It would
        # write again what it could not write.
        with contextlib.suppress(OSError, ValueError):
            if self._stream is not self._stderr:
                self._stream.close()

    def _seen(self) -> tuple[State, tuple[Phase, ...]]:
        return self._progress.state, tuple(self._progress.seconds)


def _local_time() -> datetime.datetime:
    return datetime.datetime.now().astimezone()


class LinesOfLog:
    """Writes a line at regular times, and perhaps one for each phase.

    Args:
      stream: where the lines go.
      every: seconds between two lines, and before the first one.
      with_phases: whether each phase gets a line when it begins.
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
        self._phases: set[Phase] = set()
        self._compiles = False

    def show(self, state: State, phases: tuple[Phase, ...]) -> None:
        rate = self._rate.see(state)
        is_new = self._with_phases and state.phase not in self._phases
        self._show_new(phases, but=state.phase)
        if state.detail == COMPILING and not self._compiles:
            self._compiles = True  # nobody expects the first run to take so long
            self._write(COMPILING)
        if is_new or state.run_seconds >= self._due:
            self._write(sentence(state, rate))
            self._phases.add(state.phase)
            # Not a multiple of `every`: two lines could follow each other at once.
            self._due = state.run_seconds + self._every

    def end(self, state: State, phases: tuple[Phase, ...]) -> None:
        self._show_new(phases)

    def _show_new(self, phases: tuple[Phase, ...], but: Phase | None = None) -> None:
        """Shows the phases that began and ended between two looks."""
        for phase in phases:
            if self._with_phases and phase not in self._phases and phase != but:
                self._phases.add(phase)
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

    def show(self, state: State, phases: tuple[Phase, ...]) -> None:
        width = columns(self._line.stream) - 1  # a full line could begin another one
        self._line.write(fitted(state, self._rate.see(state), width))

    def end(self, state: State, phases: tuple[Phase, ...]) -> None:
        self._line.erase()


def columns(stream: TextIO) -> int:
    """The width of a terminal at this moment."""
    with contextlib.suppress(OSError, ValueError):
        if (width := os.get_terminal_size(stream.fileno()).columns) > 1:
            return width
    return _USUAL_COLUMNS


def fitted(state: State, rate: float | None, width: int) -> str:
    """The line for a width. Numbers are shown whole, or not at all; a detail can be cut.

    Args:
      state: what the line shows.
      rate: the bytes per second, if they are known.
      width: the width of the line.
    """
    from rich.cells import cell_len, set_cell_size

    texts = shares(state, rate)
    line = texts.phase[:width]
    if state.planned:
        done = _BAR * state.done // state.planned
        line += f"{_GAP}{'=' * done}{'-' * (_BAR - done)}"
        line = line if len(line) <= width else texts.phase[:width]
    # The most important ones come first.
    for part in (texts.percent, texts.left, texts.elapsed, texts.rate, texts.amount):
        if part and len(line) + len(_GAP) + len(part) <= width:
            line += f"{_GAP}{part}"
    detail, room = printable(texts.detail), width - len(line) - len(_GAP)
    if not detail or room < 1:
        return line
    return f"{line}{_GAP}{detail if cell_len(detail) <= room else set_cell_size(detail, room)}"
