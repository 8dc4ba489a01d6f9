"""The results of the benchmark: figures, and the measurements that they come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from benchmarks.measure import Run, medians


@dataclasses.dataclass(frozen=True)
class Figure:
    """A line of the table of results; the texts are for people."""

    figure: str
    reach: str
    measured: str
    reached: bool


@dataclasses.dataclass(frozen=True)
class Reach:
    """What a figure must reach; see `at_most` and `at_least`.

    Attributes:
      limit: the smallest or the largest value that is good.
      is_most: whether it is the largest one.
      unit: what follows the numbers: "x" for a ratio.
      digits: digits after the point of a measured value.
    """

    limit: float
    is_most: bool
    unit: str
    digits: int

    def __str__(self) -> str:
        return f"{'≤' if self.is_most else '≥'} {self.limit:,}{self.unit}"

    def figure(self, what: str, value: float, note: str = "", *, is_right: bool = True) -> Figure:
        """The figure with a measured value.

        Args:
          what: what was measured.
          value: the value.
          note: more about it.
          is_right: whether the measured programs did what they should. If not, nothing is reached.
        """
        is_reached = value <= self.limit if self.is_most else value >= self.limit
        measured = f"{value:,.{self.digits}f}{self.unit}" + (f"; {note}" if note else "")
        return Figure(what, str(self), measured, is_right and is_reached)

    def missed(self, what: str, why: str) -> Figure:
        """The figure if nothing could be measured."""
        return Figure(what, str(self), why, False)


def at_most(limit: float, unit: str = "x", digits: int = 2) -> Reach:
    """A figure that must not be larger."""
    return Reach(limit, True, unit, digits)


def at_least(limit: float, unit: str = "x", digits: int = 2) -> Reach:
    """A figure that must not be smaller."""
    return Reach(limit, False, unit, digits)


@dataclasses.dataclass(frozen=True)
class Measurement:
    """The runs of one program for a figure.

    Attributes:
      what: the program.
      pairs: how many pairs it scored, or counted the words of.
      runs: its runs.
    """

    what: str
    pairs: int
    runs: Sequence[Run]

    @property
    def median(self) -> Run:
        """The medians of its runs."""
        return medians(self.runs)

    @property
    def rate(self) -> float:
        """Pairs per CPU second."""
        return self.pairs / self.median.cpu


Results = tuple[list[Figure], list[Measurement]]
"""The figures of one subject, and their measurements."""
