"""What every metric has: columns that add up, a function from their sums to a score, and tables."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.differentiation import Number

SEGMENTS = 0
"""The first column of every basis: 1 for each segment."""


@dataclasses.dataclass(frozen=True)
class Basis:
    """The columns of a metric.

    All integers are 0 or more. Those of several segments are added up, and no column follows from
    the others.

    Attributes:
      names: the name of each column. The first one is "segments".
      shared: the columns that follow from the references alone, in ascending order. They are the
        same for all systems of a segment.
    """

    names: tuple[str, ...]
    shared: tuple[int, ...]

    @property
    def width(self) -> int:
        """The number of columns, W."""
        return len(self.names)


Scores = NDArray[np.float64]
"""float64 (rows,), the scores of many sums."""


@dataclasses.dataclass(frozen=True)
class Lengths:
    """How long the texts of a corpus are, as a metric counts them.

    Attributes:
      counted: what is counted, such as "token".
      candidates: of all candidates.
      references: of all references, one for each segment.
      empty_candidates: the candidates that have none.
    """

    counted: str
    candidates: int
    references: Fraction
    empty_candidates: int


class Metric(abc.ABC):
    """A definition of a metric: how sums of its columns become a score.

    It is a frozen dataclass, so that it can be sent to workers.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Its name for readers, such as "chrF2"."""

    @abc.abstractmethod
    def value(self, sums: Sequence[Number]) -> Number:
        """The score.

        Args:
          sums: W columns, added up over segments: integers without a bound, or numbers that carry
            their derivatives.

        Raises:
          ValueError: these sums lack columns that the definition needs.
        """

    def values(self, sums: NDArray[np.int64]) -> Scores:
        """The scores of many sums at once: to the last bit those of `value`.

        Args:
          sums: int64 (rows, W).

        Returns:
          float64 (rows,). Sums of no segment have the score 0.

        Raises:
          ValueError: these sums lack columns that the definition needs.
        """
        return np.array([self.value(row) for row in sums.tolist()], np.float64)

    def require_corpus(self) -> None:
        """Checks that it can score the sums of a corpus.

        Raises:
          ValueError: it is for single segments only.
        """
        return

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Why a small change of the sums does not change the score smoothly; "" if it does."""
        return ""

    def used(self, width: int) -> Sequence[int]:
        """Those of W columns from which the score is computed."""
        return range(width)

    def lengths(self, columns: Sequence[int]) -> Lengths | None:
        """How long the texts of a corpus are, by their columns; None if it counts no texts."""
        return None


class Presentation(Protocol):
    """The module `presentation` of a folder: what tables and reports show of its scores."""

    @property
    def DECIMALS(self) -> int:  # noqa: N802
        """How many decimals a score has in tables if it has no standard error."""

    def cells(self, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        """What a table shows beside the score: texts by the names of their columns."""

    def parts(self, score: Mapping[str, Any]) -> dict[str, float]:
        """The parts of a score that have one unit, so that a chart can have all of them.

        They have names for readers. A metric without such parts has none.
        """


def require_width(name: str, width: int, expected: int) -> None:
    """Checks the number of columns of sums.

    Raises:
      ValueError: it is not what the metric of this name needs.
    """
    if width != expected:
        raise ValueError(f"{name} needs {expected} columns, got {width}")
