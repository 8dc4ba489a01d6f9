"""The words and numbers that tell how far a run has come."""

from __future__ import annotations

import collections
import dataclasses

from beam_bleu.transforms.progress import Phase, State

_WINDOW = 30.0
"""Seconds over which the rate is measured, so that a person sees when a job stands still."""

_SHORTEST = 1e-6
"""Seconds. Two looks that are closer together give no rate."""

_SYMBOLS = ("B", "kB", "MB", "GB", "TB", "PB")

_LONGEST = 100 * 86_400
"""Seconds. The rate is nearly 0 if more time seems to be left, so this time says nothing."""


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


@dataclasses.dataclass(frozen=True)
class Shares:
    """A state as texts. A text is "" if it is not known.

    Attributes:
      phase: the phase.
      percent: the share of the bytes that is done, rounded down.
      amount: the bytes done, and the bytes planned.
      rate: the bytes per second.
      left: the time left in this phase.
      elapsed: the time since the beginning of the phase, if it has no bytes.
      detail: the detail.
    """

    phase: str
    percent: str
    amount: str
    rate: str
    left: str
    elapsed: str
    detail: str


def shares(state: State, rate: float | None) -> Shares:
    """The texts for a state and its rate."""
    planned = state.planned
    if not planned:
        elapsed = f"for {duration(state.phase_seconds)}"
        return Shares(state.phase, "", "", "", "", elapsed, state.detail)
    seconds = (planned - state.done) / rate if rate else None
    is_known = seconds is not None and seconds <= _LONGEST
    return Shares(
        state.phase,
        f"{100 * state.done // planned} %",
        f"{size(state.done)} of {size(planned)}",
        "" if rate is None else f"{size(rate)}/s",
        f"{duration(seconds)} left" if seconds is not None and is_known else "",
        "",
        state.detail,
    )


def sentence(state: State, rate: float | None) -> str:
    """One line of a log."""
    texts = shares(state, rate)
    amount = f"{texts.amount} ({texts.percent})" if texts.amount else texts.elapsed
    parts = (f"{texts.phase} {amount}", texts.rate, texts.left, texts.detail)
    return ", ".join(part for part in parts if part)


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
