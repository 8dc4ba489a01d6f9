"""How scores are distributed: exact counts that add up, whatever range the scores have.

A score is counted in a cell. A cell is the floats with the same exponent and the same first bits of
their fraction, so its width is about 3 % of the scores in it, and its bounds are short binary
fractions. The bounds of every power of two are bounds of cells, too. So the cells of any scores can
be put together to bins of equal width when all of them are counted, without an error, and a part of
a corpus need not know the scores of the others.
"""

from __future__ import annotations

import dataclasses
import math

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
"""A bin without an end has at most one in this number of scores."""


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
        lower = _lower(self.cells)
        if highest is not None:
            width = 1.0
            while highest <= MOST_BINS * width / 2:
                width /= 2
            while highest > MOST_BINS * width:
                width *= 2
            end = math.ceil(highest / width)
            return self._in_bins(np.minimum(lower // width, end - 1), width, 0, end)
        if not len(self.cells):
            return Histogram((), ())
        few = int(self.counts.sum()) // _OUTSIDE
        upwards = np.searchsorted(np.cumsum(self.counts), few, side="right")
        downwards = -1 - np.searchsorted(np.cumsum(self.counts[::-1]), few, side="right")
        places = [upwards, downwards]
        # No bin is narrower than a cell that it has.
        width = float((_lower(self.cells[places] + 1) - lower[places]).max())
        while np.ptp(lower[places] // width) >= MOST_BINS:
            width *= 2
        first, last = (lower[places] // width).astype(int).tolist()
        return self._in_bins(np.clip(lower // width, first - 1, last + 1), width, first, last + 1)

    def _in_bins(self, bins: Floats, width: float, first: int, end: int) -> Histogram:
        """The counts in bins of a width. Bins before `first` and from `end` on have no end."""
        sums = np.zeros(end - first + 2, np.int64)
        np.add.at(sums, bins.astype(np.int64) - first + 1, self.counts)
        edges: list[float | None] = [number * width for number in range(first, end + 1)]
        counts = sums[1:-1].tolist()
        if sums[0]:
            edges, counts = [None, *edges], [int(sums[0]), *counts]
        if sums[-1]:
            edges, counts = [*edges, None], [*counts, int(sums[-1])]
        return Histogram(tuple(edges), tuple(counts))


def _lower(cells: Integers) -> Floats:
    """The lower end of each cell; of one below 0, it is minus the upper end of the one above 0."""
    sizes = np.abs(cells)
    ends = np.where(sizes == 0, 0.0, (sizes + _FIRST << _DROPPED).view(np.float64))
    return np.copysign(ends, cells)
