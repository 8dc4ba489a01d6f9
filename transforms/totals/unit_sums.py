"""The sums of units, with their products: what a standard error and a comparison are made of.

A unit is what is drawn at random if a test set is drawn at random: a segment, or a document with
all of its segments. The columns of a document are the sums of those of its segments. Two systems
that are compared are one vector with the columns of both, side by side.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import ExactIntegers


def products(width: int) -> int:
    """The number of different products of two of W columns: W (W + 1) / 2."""
    return width * (width + 1) // 2


def product(one: int, other: int) -> int:
    """The place of a product of two columns in a packed lower triangle, row by row."""
    low, high = sorted((one, other))
    return high * (high + 1) // 2 + low


@dataclasses.dataclass(frozen=True, eq=False)
class UnitSums:
    """The sums over units, and the sums of products: their second moments.

    They are of the W columns of a metric, for one system; or of 2 W columns, those of a system and
    then those of its baseline, over the units that both have.

    All integers are exact: int64, or Python's unbounded integers where one does not fit.

    Attributes:
      units: the number of units, n.
      columns: (W,), for each column its sum over the units.
      products: (W (W + 1) / 2,), for each pair of columns the sum over the units of their product;
        `product(i, j)` is the place of a pair.
    """

    units: int
    columns: ExactIntegers
    products: ExactIntegers

    @classmethod
    def zero(cls, width: int) -> UnitSums:
        """The sums of no unit, of so many columns."""
        return cls(0, np.zeros(width, np.int64), np.zeros(products(width), np.int64))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, UnitSums)
            and self.units == other.units
            and np.array_equal(self.columns, other.columns)
            and np.array_equal(self.products, other.products)
        )

    __hash__ = None  # type: ignore[assignment]  # it has arrays


def side_by_side(system: UnitSums, baseline: UnitSums, cross: ExactIntegers) -> UnitSums:
    """The sums of two systems over the same units, as those of one vector.

    Args:
      system: the sums of one system, of W columns.
      baseline: those of the other system.
      cross: (W, W), the sum over the units of the product of column i of the system and column j
        of the baseline.
    """
    width = len(system.columns)
    square: NDArray[Any] = np.empty(
        (2 * width, 2 * width), np.result_type(system.products, baseline.products, cross)
    )
    triangle = _triangle(width)
    square[:width, :width][triangle] = system.products
    square[width:, :width] = cross.T
    square[width:, width:][triangle] = baseline.products
    columns: NDArray[Any] = np.concatenate((system.columns, baseline.columns))
    return UnitSums(system.units, columns, square[_triangle(2 * width)])


@functools.cache
def _triangle(width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows and columns of a lower triangle, in the order in which it is packed."""
    return np.tril_indices(width)
