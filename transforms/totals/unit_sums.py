"""The sums of units, with their products: what a standard error and a comparison are made of.

A unit is what is drawn at random if a test set is drawn at random: a segment, or a document with
all of its segments. The columns of a document are the sums of those of its segments. Two systems
that are compared are one vector with the columns of both, side by side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


def products(width: int) -> int:
    """The number of different products of two of W columns: W (W + 1) / 2."""
    return width * (width + 1) // 2


def product(one: int, other: int) -> int:
    """The place of a product of two columns in a packed lower triangle, row by row."""
    low, high = sorted((one, other))
    return high * (high + 1) // 2 + low


@dataclasses.dataclass(frozen=True)
class UnitSums:
    """The sums over units, and the sums of products: their second moments.

    They are of the W columns of a metric, for one system; or of 2 W columns, those of a system and
    then those of its baseline, over the units that both have.

    All integers are exact. They have no bound, so the products of very long segments fit.

    Attributes:
      units: the number of units, n.
      columns: for each column its sum over the units.
      products: for each pair of columns the sum over the units of their product;
        `product(i, j)` is the place of a pair.
    """

    units: int
    columns: tuple[int, ...]
    products: tuple[int, ...]

    @classmethod
    def zero(cls, width: int) -> UnitSums:
        """The sums of no unit, of so many columns."""
        return cls(0, (0,) * width, (0,) * products(width))


def side_by_side(system: UnitSums, baseline: UnitSums, cross: Sequence[int]) -> UnitSums:
    """The sums of two systems over the same units, as those of one vector.

    Args:
      system: the sums of one system, of W columns.
      baseline: those of the other system.
      cross: W * W integers, row by row: row i, column j is the sum over the units of the product
        of column i of the system and column j of the baseline.
    """
    width = len(system.columns)
    packed = list(system.products)
    for column in range(width):
        packed += cross[column::width]
        packed += baseline.products[product(column, 0) : product(column, column) + 1]
    return UnitSums(system.units, system.columns + baseline.columns, tuple(packed))
