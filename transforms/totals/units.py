"""The sums of units, with their products: what a standard error and a comparison are made of.

A unit is what is drawn at random if a test set is drawn at random: a segment, or a document with
all of its segments. The integers of a document are the sums of those of its segments.
"""

from __future__ import annotations

import dataclasses


def products(width: int) -> int:
    """The number of different products of two of W columns: W (W + 1) / 2."""
    return width * (width + 1) // 2


def product(one: int, other: int) -> int:
    """The place of a product of two columns in a packed lower triangle, row by row."""
    low, high = sorted((one, other))
    return high * (high + 1) // 2 + low


@dataclasses.dataclass(frozen=True)
class UnitSums:
    """The sums over the units of one system, and the sums of products: its second moments.

    All integers are exact. They have no bound, so the products of very long segments fit.

    Attributes:
      units: the number of units, n.
      sums: W integers: for each column its sum over the units.
      products: W (W + 1) / 2 integers: for each pair of columns the sum over the units of their
        product; `product(i, j)` is the place of a pair.
    """

    units: int
    sums: tuple[int, ...]
    products: tuple[int, ...]

    @classmethod
    def zero(cls, width: int) -> UnitSums:
        """The sums of no unit, of W columns."""
        return cls(0, (0,) * width, (0,) * products(width))

    def __add__(self, other: UnitSums) -> UnitSums:
        if len(self.sums) != len(other.sums):
            raise ValueError(
                f"sums of {len(self.sums)} and {len(other.sums)} columns do not add up"
            )
        return UnitSums(
            self.units + other.units,
            tuple(map(int.__add__, self.sums, other.sums)),
            tuple(map(int.__add__, self.products, other.products)),
        )


@dataclasses.dataclass(frozen=True)
class PairSums:
    """The sums over the units that two systems have in common.

    Attributes:
      system: the sums of one system over these units.
      baseline: those of the other system, over the same units.
      cross: W rows of W integers: cross[i][j] is the sum over the units of the product of column
        i of the system and column j of the baseline.
    """

    system: UnitSums
    baseline: UnitSums
    cross: tuple[tuple[int, ...], ...]

    @property
    def units(self) -> int:
        """The number of units that both systems have."""
        return self.system.units
