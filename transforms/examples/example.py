"""What readers see of the segments: examples with their texts, and how scores are distributed.

Scores are counted in cells: exact counts that add up, whatever range the scores have. A cell is the
floats with the same exponent and the same first bits of their fraction. Every power of two is a
bound of cells, so the cells of all parts of a corpus can be put together to bins of equal width.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.native.arrays import Floats, Integers, Sums, added_by_key

if TYPE_CHECKING:  # few runs need the module
    from beam_bleu.transforms.examples.variety import Variety

_FRACTION_BITS = 5  # a power of two has 32 cells up to the next one
_SMALLEST = -10  # log2 of the smallest score, apart from its sign, that is not counted with 0
_DROPPED = 52 - _FRACTION_BITS
# The first bits of 2 ** _SMALLEST as a float, less 1: its cell is 1, and cell 0 begins at 0.
_FIRST = (1023 + _SMALLEST << _FRACTION_BITS) - 1
MOST_BINS = 32
_OUTSIDE = 200  # a bin without an end has at most one in this number of scores


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreCells(Sums):
    """The numbers of scores in cells, both int64 (C,). Cells of negative scores are negative."""

    cells: Integers
    counts: Integers

    @classmethod
    def of(cls, scores: Floats) -> ScoreCells:
        """Counts scores, all of which are defined."""
        if not len(scores):
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        bits, below = np.ascontiguousarray(scores).view(np.int64), scores < 0
        # A cell has its lower end, not its upper one: below 0, the larger of the numbers.
        sizes = np.where(below, (bits & np.int64(2**63 - 1)) - 1, bits)
        cells = np.maximum((sizes >> _DROPPED) - _FIRST, 0)  # -0.0 is in cell 0, too
        cells = np.where(below, -1 - cells, cells)
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

    def edges(self, highest: float | None) -> list[float | None]:
        """The edges of bins of equal width, which is a power of two.

        With a highest possible score the bins go from 0 to it. Otherwise a few very low and very
        high scores, which can be far apart, have bins without an outer edge: None.
        """
        lower = _lower(self.cells)
        if highest is not None:
            width = 2.0 ** math.ceil(math.log2(highest / MOST_BINS))
            return [number * width for number in range(math.ceil(highest / width) + 1)]
        if not len(self.cells):
            return []
        few = int(self.counts.sum()) // _OUTSIDE
        upwards = np.searchsorted(np.cumsum(self.counts), few, side="right")
        downwards = -1 - np.searchsorted(np.cumsum(self.counts[::-1]), few, side="right")
        places = [upwards, downwards]
        # No bin is narrower than a cell that it has.
        width = float((_lower(self.cells[places] + 1) - lower[places]).max())
        while np.ptp(lower[places] // width) >= MOST_BINS:
            width *= 2
        first, last = (lower[places] // width).astype(int).tolist()
        return [
            *([None] if lower[0] < first * width else []),
            *(number * width for number in range(first, last + 2)),
            *([None] if lower[-1] >= (last + 1) * width else []),
        ]

    def histogram(self, edges: Sequence[float | None]) -> list[int]:
        """The numbers of scores in bins with these edges, which `edges` has made of all parts.

        A score that is an edge is in the bin that begins there.
        """
        counts = np.zeros(max(len(edges) - 1, 0), np.int64)
        inner = np.array(edges[1:-1], np.float64)
        np.add.at(counts, np.searchsorted(inner, _lower(self.cells), "right"), self.counts)
        histogram: list[int] = counts.tolist()
        return histogram


def _lower(cells: Integers) -> Floats:
    """The lower end of each cell; below 0, minus the upper end of the same cell above 0."""
    sizes = np.abs(cells)
    ends = np.where(sizes == 0, 0.0, (sizes + _FIRST << _DROPPED).view(np.float64))
    return np.copysign(ends, cells)


KindName = Literal["best", "worst", "gain", "loss", "sample"]


@dataclasses.dataclass(frozen=True)
class ExampleKind:
    """Which segments are picked: by their scores, or by the difference from the baseline."""

    name: KindName
    description: str
    compares: bool = False


# In the order of the file of examples.
EXAMPLE_KINDS: Mapping[KindName, ExampleKind] = table(
    ExampleKind("best", "those with the best scores"),
    ExampleKind("worst", "those with the worst scores"),
    ExampleKind(
        "gain", "those whose score is better than the baseline's by the most", compares=True
    ),
    ExampleKind(
        "loss", "those whose score is worse than the baseline's by the most", compares=True
    ),
    ExampleKind(
        "sample",
        "a uniform random sample: the same segments for all metrics and, if all systems have the "
        "same segments, for all systems",
    ),
)

MOST_EXAMPLES = 1000  # the most examples of a kind, for each metric and system
MOST_CHARACTERS = 2000  # the most characters of a text of an example
CUT_MARK = " […]"


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """A segment of a system. Texts are cut, so its memory is bounded. The entry is its line in the
    file of examples; its baseline is the system with which it is compared, whatever the kind.
    Examples are in the order of `rank`: how good or bad they are, a random number, their index.
    """

    rank: tuple[float, float, int]
    entry: Mapping[str, Any]


def cut(text: memoryview | bytes) -> str:
    # One character more, of at most 4 bytes, shows whether there are more. The last bytes can be a
    # part of a character.
    begin = bytes(text[: (MOST_CHARACTERS + 1) * 4]).decode(errors="ignore")
    return begin if len(begin) <= MOST_CHARACTERS else begin[:MOST_CHARACTERS] + CUT_MARK


class ListKey(NamedTuple):
    """The key of a list of examples, with the baseline if their kind compares."""

    kind: KindName
    metric: str
    system: str
    baseline: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Picked(Sums):
    """The examples, distributions and varieties of a part, with the first `number` examples of each
    kind.
    """

    number: int
    examples: Mapping[ListKey, tuple[Example, ...]] = dataclasses.field(default_factory=dict)
    scores: Mapping[tuple[str, str], ScoreCells] = dataclasses.field(default_factory=dict)
    varieties: Mapping[str, Variety] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Picked) -> Picked:
        if self.number != other.number:
            raise ValueError(f"{self.number} and {other.number} examples cannot be added")
        return Picked(
            self.number,
            added_by_key(self.examples, other.examples, self._first_ones),
            added_by_key(self.scores, other.scores),
            added_by_key(self.varieties, other.varieties),
        )

    def _first_ones(
        self, first: tuple[Example, ...], second: tuple[Example, ...]
    ) -> tuple[Example, ...]:
        both = sorted((*first, *second), key=lambda example: example.rank)
        return tuple(both[: self.number])
