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
