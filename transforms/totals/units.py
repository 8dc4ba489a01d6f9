"""The integers of a unit, from whose sums every definition of BLEU can be computed.

A unit is what is drawn at random if a test set is drawn at random: a segment, or a document with
all of its segments. The integers of a document are the sums of those of its segments.

The columns are a basis: no column follows from the others, all integers are 0 or more, and most
columns are 0 for usual texts. For a corpus of segments with one reference each and without very
short candidates only `SEGMENTS`, `CANDIDATE_LENGTH`, `SHORTEST` and the matches are not 0.

The totals follow from the other columns. Let h_j be 1 if a candidate has fewer than j tokens,
otherwise 0 (`short_candidates`). Then t_n = max(c - n + 1, 0) = c - (n - 1) + h_1 + ... + h_(n-1).
"""

from __future__ import annotations

import dataclasses

SEGMENTS, CANDIDATE_LENGTH, SHORTEST, CLOSEST, CLOSEST_FIRST, LONGEST, AVERAGE, FIRST_MATCHES = (
    range(8)
)
"""The columns of a unit: the number of its segments, the tokens of its candidates, the tokens of
its references by the rule "shortest", then what other rules give in addition: "closest" minus
"shortest", "closest_first" minus "closest", "longest" minus "shortest", and "average" minus
"shortest" in parts of a token (`PARTS_OF_A_TOKEN`); then matches and short candidates of N orders.
"""

PARTS_OF_A_TOKEN = 720_720
"""The unit of the column `AVERAGE`: the least common multiple of 1 to 16. So the average of up to
16 references is exact. With more references it is rounded, by less than a millionth of a token."""


def width(max_order: int) -> int:
    """The number of integers of a unit, W."""
    return FIRST_MATCHES + 2 * max_order


def first_short(max_order: int) -> int:
    """The column of the candidates that have no token (h_1). That of h_n is n - 1 columns later."""
    return FIRST_MATCHES + max_order


def products(max_order: int) -> int:
    """The number of different products of two columns: W (W + 1) / 2."""
    return width(max_order) * (width(max_order) + 1) // 2


def product(one: int, other: int) -> int:
    """The place of a product of two columns in a packed lower triangle, row by row."""
    low, high = sorted((one, other))
    return high * (high + 1) // 2 + low


@dataclasses.dataclass(frozen=True)
class UnitSums:
    """The sums over the units of one system, and the sums of products: its second moments.

    All integers are exact. They have no bound, so the products of very long segments fit.

    Attributes:
      max_order: the largest n-gram order, N.
      units: the number of units, n.
      sums: W integers: for each column its sum over the units.
      products: W (W + 1) / 2 integers: for each pair of columns the sum over the units of their
        product; `product(i, j)` is the place of a pair.
    """

    max_order: int
    units: int
    sums: tuple[int, ...]
    products: tuple[int, ...]

    @classmethod
    def zero(cls, max_order: int) -> UnitSums:
        """The sums of no unit."""
        return cls(max_order, 0, (0,) * width(max_order), (0,) * products(max_order))

    def __add__(self, other: UnitSums) -> UnitSums:
        if self.max_order != other.max_order:
            raise ValueError(f"sums of order {self.max_order} and {other.max_order} do not add up")
        return UnitSums(
            self.max_order,
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
