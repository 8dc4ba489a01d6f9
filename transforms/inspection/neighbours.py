"""Whether lines belong together: each candidate is compared with the references around its own.

Texts are compared by their sequences of four bytes, the rare ones above all, which works for all
languages. Similarities are quotients of integers.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from beam_bleu.transforms.inspection.streams import Finding, Stream
from beam_bleu.transforms.native.arrays import Bytes, Floats, Integers

# The largest offset that is looked for.
_FARTHEST = 8

# The fewest segments that must fit better at another offset.
_FEWEST_SHIFTED = 30

# How many times as similar the texts must be at another offset than at their own.
_TIMES_BETTER = 2

# With fewer segments, chance decides whether they look like their own references.
_FEWEST_IN_ORDER = 50

# How many standard errors from equality a mean is by chance.
_CHANCE = 3

# If texts are this similar to any others, their similarity tells nothing.
_ALIKE = 1 / 4

# How many segments too late the beginning of a range may be found.
_UNSURE = 4

# Shorter texts tell nothing: they are often the same.
_SHORTEST = 12

# If the sample has at least this share of the corpus, it has the references of some candidates
# that are in another place.
_CONFIRMING_SHARE = 1 / 10


def misplaced(candidates: Stream, references: Stream) -> Iterator[Finding]:
    """What is wrong with the order of the lines of a system and of the references of a position."""
    if not len(references):
        return
    pair = _Pair(candidates, references)
    if len(pair.numbers) < _FEWEST_SHIFTED:
        return
    places = np.arange(len(pair.numbers))
    own, others = pair.similarities(places), pair.similarities(places - _FARTHEST - 1)
    shift = _shift(pair, own, others)
    if shift is not None:
        where = f"{abs(shift.offset)} {'below' if shift.offset > 0 else 'above'}"
        yield Finding(
            "order",
            True,
            f"from segment {shift.first + 1:,} on, {candidates.name} match {references.name} of "
            f"the segments {where}, not of their own",
            f"look between segments {shift.before + 1:,} and {shift.first + 1:,} for a line that "
            "one of the files lacks, or that is in two pieces",
        )
    elif _is_shuffled(pair, own, others):
        yield Finding(
            "order",
            False,
            f"{candidates.name} are no more similar to {references.name} of their own segments "
            "than to those of others",
            "check that both have the same segments in the same order",
        )


class _Pair:
    """The segments of two streams whose texts can be told from others.

    Attributes:
      numbers: the numbers of the segments, in order.
    """

    def __init__(self, candidates: Stream, references: Stream) -> None:
        rows = np.searchsorted(references.numbers, candidates.numbers)
        rows[rows == len(references)] = 0
        clear = _occur_once(candidates) & _occur_once(references)[rows]
        clear &= references.numbers[rows] == candidates.numbers
        self.numbers = candidates.numbers[clear]
        self._candidates = candidates.cells[clear]
        there = references.cells[rows[clear]]
        times = there.sum(axis=0, dtype=np.int32).tolist()
        # The fewer references have a sequence, the more it tells.
        weights = [(len(self.numbers) // max(number, 1)).bit_length() for number in times]
        self._weights = np.array(weights, np.uint8)
        self._references = there * self._weights
        self._sizes = _sums(self._candidates * self._weights)

    def similarities(self, places: Integers) -> Floats:
        """The similarity of each candidate to the reference at a place; 1 if all is shared."""
        return _sums(self._candidates * self._references[places]) / self._sizes

    def closest_others(self, texts: str, rows: range) -> Floats:
        """For candidates or references, the similarity to the closest reference of other rows."""
        cells = self._candidates if texts == "candidates" else self._references > 0
        closest = []
        for row in rows:
            shared = _sums(cells[row] * self._references)
            shared[row] = 0
            closest.append(shared.max() / _sums(cells[row] * self._weights))
        return np.array(closest)


def _sums(weights: Bytes) -> Floats:
    """The sum of each row, at least 1."""
    sums: Floats = np.maximum(weights.sum(axis=-1, dtype=np.int32), 1).astype(np.float64)
    return sums


def _occur_once(stream: Stream) -> np.ndarray:
    """Which texts are not short, and occur only once in the sample."""
    times = collections.Counter(stream.texts)
    return np.array([times[text] == 1 and len(text) >= _SHORTEST for text in stream.texts], bool)


class _Shift(NamedTuple):
    """A range of candidates that belong to other references.

    Attributes:
      gain: how much better they fit there, in all.
      offset: how many lines below their own ones.
      first: the number of the first segment that was looked at.
      before: the number of one before it that belongs to its own.
    """

    gain: float
    offset: int
    first: int
    before: int


def _shift(pair: _Pair, own: Floats, others: Floats) -> _Shift | None:
    """The range of candidates that fit best at another offset; None if there is none."""
    if not _range_of(others - own / _TIMES_BETTER):
        return None  # everywhere, the own references are clearly better than any others
    shifts = []
    for offset in (*range(-_FARTHEST, 0), *range(1, _FARTHEST + 1)):
        places = np.searchsorted(pair.numbers, pair.numbers + offset) % len(own)
        rows = np.flatnonzero(pair.numbers[places] == pair.numbers + offset)
        gain = (pair.similarities(places) - _TIMES_BETTER * own)[rows]
        found = _range_of(gain)
        if found and _is_clear(gain[found]):
            row = rows[found.start]
            before = int(pair.numbers[max(row - _UNSURE, 0)])
            total, first = float(gain[found].sum()), int(pair.numbers[row])
            shifts.append(_Shift(total, offset, first, before))
    return max(shifts, default=None)


def _range_of(gain: Floats) -> slice | None:
    """The neighbouring segments with the largest sum; None if they are few."""
    sums = np.concatenate([[0], np.cumsum(gain)])
    stop = int(np.argmax(sums - np.minimum.accumulate(sums)))
    start = int(np.argmin(sums[: stop + 1]))
    return slice(start, stop) if stop - start >= _FEWEST_SHIFTED else None


def _is_clear(gain: Floats) -> bool:
    """Whether most of the segments gain, and all together more than by chance."""
    clear = gain.mean() * np.sqrt(len(gain)) > 2 * _CHANCE * gain.std()
    return bool(clear and np.mean(gain > 0) > 0.6)


def _is_shuffled(pair: _Pair, own: Floats, others: Floats) -> bool:
    """Whether the candidates are no closer to their own references than to those of others.

    Those of a very bad system are not, either. But if candidates are in another order, some of
    them are much closer to a reference than a text of the corpus usually is to another one.
    """
    count = len(own)
    if count < _FEWEST_IN_ORDER:
        return False
    gain = own - others
    if others.mean() > _ALIKE:
        return False
    if gain.mean() * np.sqrt(count) > _CHANCE * gain.std():
        return False
    share = count / (int(pair.numbers[-1]) + 1)
    if share < _CONFIRMING_SHARE:
        return False
    rows = range(0, count, max(count // 512, 1))
    usual = np.quantile(pair.closest_others("references", rows), 0.95)
    closer = np.mean(pair.closest_others("candidates", rows) > usual)
    return bool(closer > 0.07 + share / 6)
