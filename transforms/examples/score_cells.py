"""How scores are distributed: exact counts that add up, whatever range the scores have.

A score is counted in a cell. A cell is the floats with the same exponent and the same first bits of
their fraction, so its width is about 3 % of the scores in it, and its bounds are short binary
fractions. The bounds of every power of two are bounds of cells, too. So the cells of any scores can
be put together to bins of equal width when all of them are counted, without an error, and a part of
a corpus need not know the scores of the others.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np

from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.wiring.sums import Sums

_FRACTION_BITS = 5
"""A power of two has 32 cells up to the next one."""

_SMALLEST = -10
"""log2 of the smallest score, apart from its sign, that is not counted with 0."""

_DROPPED = 52 - _FRACTION_BITS
_FIRST = (1023 + _SMALLEST << _FRACTION_BITS) - 1
"""The first bits of 2 ** _SMALLEST as a float, less 1: its cell is 1, and cell 0 begins at 0."""

MOST_BINS = 32
"""The most bins of equal width."""

_OUTSIDE = 200
"""A bin without an end has at most one of so many scores."""


@dataclasses.dataclass(frozen=True)
class Histogram:
    """How many scores are in each bin.

    Attributes:
      edges: the lower end of each bin, and then the upper end of the last one. A score that is an
        edge is in the bin that begins there. The first edge is None if the first bin has all scores
        below the next edge, and so is the last one if the last bin has all scores from there on.
      counts: the number of scores of each bin.
    """

    edges: tuple[float | None, ...]
    counts: tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreCells(Sums):
    """The number of scores in each cell.

    Attributes:
      cells: int64 (C,), the cells that have a score, ascending. Those of negative scores are
        negative.
      counts: int64 (C,), the number of scores of each one.
    """

    cells: Integers
    counts: Integers

    @classmethod
    def of(cls, scores: Floats) -> ScoreCells:
        """Counts scores, all of which are defined."""
        if not len(scores):
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        bits = np.ascontiguousarray(scores).view(np.int64)
        if scores.min() < 0:
            # A cell has its lower end, not its upper one: below 0, the larger of the numbers.
            below = scores < 0
            sizes = np.where(below, (bits & np.int64(2**63 - 1)) - 1, bits)
            cells = np.maximum((sizes >> _DROPPED) - _FIRST, 0)
            cells = np.where(below, -1 - cells, cells)
        else:
            cells = np.maximum((bits >> _DROPPED) - _FIRST, 0)  # -0.0 is in cell 0, too
        lowest = int(cells.min())
        counts = np.bincount(cells - lowest)
        there = np.flatnonzero(counts)
        return cls(there + lowest, counts[there])

    def __add__(self, other: ScoreCells) -> ScoreCells:
        cells = np.union1d(self.cells, other.cells)
        counts = np.zeros(len(cells), np.int64)
        for part in (self, other):
            counts[np.searchsorted(cells, part.cells)] += part.counts
        return ScoreCells(cells, counts)

    def histogram(self, highest: float | None) -> Histogram:
        """The counts in bins of equal width, which is a power of two.

        With a highest score the bins go from 0 to it: 25 bins of 4 if it is 100. Otherwise they
        hold all scores but a few very low and very high ones, which have bins of their own: the
        scores of a metric such as perplexity can be far apart.

        Args:
          highest: the highest possible score; None if there is none.
        """
        if highest is not None:
            width = Fraction(1)
            while highest <= MOST_BINS * width / 2:
                width /= 2
            while highest > MOST_BINS * width:
                width *= 2
            end = -int(-highest // width)
            bins = [min(_lower(cell) // width, end - 1) for cell in self.cells.tolist()]
            return self._in_bins(bins, width, 0, end)
        if not len(self.cells):
            return Histogram((), ())
        few = int(self.counts.sum()) // _OUTSIDE
        upwards = np.searchsorted(np.cumsum(self.counts), few, side="right")
        downwards = np.searchsorted(np.cumsum(self.counts[::-1]), few, side="right")
        low, high = int(self.cells[upwards]), int(self.cells[::-1][downwards])
        # No bin is narrower than a cell that it has.
        width = max(_lower(cell + 1) - _lower(cell) for cell in (low, high))
        while _lower(high) // width - _lower(low) // width >= MOST_BINS:
            width *= 2
        first, last = _lower(low) // width, _lower(high) // width
        bins = [
            max(min(_lower(cell) // width, last + 1), first - 1) for cell in self.cells.tolist()
        ]
        return self._in_bins(bins, width, first, last + 1)

    def _in_bins(self, bins: list[int], width: Fraction, first: int, end: int) -> Histogram:
        """The counts in bins of a width. Bins before `first` and from `end` on have no end."""
        counts = dict.fromkeys(range(first, end), 0)
        for number, count in zip(bins, self.counts.tolist(), strict=True):
            counts[number] = counts.get(number, 0) + count
        edges: list[float | None] = [float(number * width) for number in range(first, end + 1)]
        if first - 1 in counts:
            edges.insert(0, None)
        if end in counts:
            edges.append(None)
        return Histogram(tuple(edges), tuple(counts[number] for number in sorted(counts)))


def _lower(cell: int) -> Fraction:
    """The lower end of a cell."""
    if cell < 0:
        return -_lower(-cell)  # the upper end of the same cell above 0
    if cell == 0:
        return Fraction(0)
    exponent, part = divmod(cell - 1, 1 << _FRACTION_BITS)
    return Fraction((1 << _FRACTION_BITS) + part, 1 << _FRACTION_BITS) * Fraction(2) ** (
        exponent + _SMALLEST
    )
