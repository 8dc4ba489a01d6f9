"""The sums of units, with their products: what a standard error and a comparison are made of.

A unit is what is drawn at random if a test set is drawn at random: a segment, or a document with
all of its segments. The columns of a document are the sums of those of its segments. Two systems
that are compared are one vector with the columns of both, side by side.

The second half is what is true of such sums of every corpus, for the check of saved totals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, ExactIntegers, largest


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


Fact = tuple[str, bool]
"""What is checked, as messages name it, and whether it can be true."""

_TOLERANCE = 1e-9
"""Floats decide whether squares are bounded, because the integers are too long for int64."""


def columns_of_units(columns: ExactIntegers, factor: int = 1) -> NDArray[Any] | None:
    """The columns of sums, ready for the checks of a metric.

    Args:
      columns: (..., W), sums of units with weights of 0 or more.
      factor: the most that a fact about them multiplies a column by.

    Returns:
      The same, of two dimensions or more; unbounded integers if a product may not fit in an int64.
      None if no metric has such sums: a column is below 0, or above 0 without a segment.
    """
    rows: NDArray[Any] = np.atleast_2d(columns)
    if (rows < 0).any() or rows[rows[..., SEGMENTS] == 0].any():
        return None
    return rows.astype(object) if largest(rows) * factor > LARGEST_INTEGER else rows


def unpacked(packed: NDArray[Any], width: int) -> NDArray[Any]:
    """The full matrices (..., W, W) of lower triangles."""
    columns = range(width)
    full: NDArray[Any] = packed[..., np.array([[product(i, j) for j in columns] for i in columns])]
    return full


def products_of_units(
    units: NDArray[Any], sums: ExactIntegers, packed: ExactIntegers, *, are_segments: bool
) -> NDArray[Any] | None:
    """The full matrices (..., W, W) of sums of products; None if no units have these sums.

    Args:
      units: (...), the numbers of units.
      sums: (..., W), the sums of their columns, which are integers, 0 or more.
      packed: (..., W (W + 1) / 2), the sums of products, packed as in `UnitSums`.
      are_segments: whether each unit is a segment.
    """
    full = unpacked(packed, sums.shape[-1])
    squares = np.diagonal(full, axis1=-2, axis2=-1)
    if (squares < sums).any() or ((squares - sums) % 2).any():
        return None
    of_segments = full[..., SEGMENTS, :]
    if (of_segments < sums).any() or (are_segments and (of_segments != sums).any()):
        return None
    return full if is_bounded(units, sums, sums, squares, squares, full) else None


def is_bounded(
    units: NDArray[Any],
    sums: NDArray[Any],
    other_sums: NDArray[Any],
    squares: NDArray[Any],
    other_squares: NDArray[Any],
    products: NDArray[Any],
) -> bool:
    """Whether sums of products are as small as squares demand: the inequality of Cauchy-Schwarz.

    Args:
      units: (...), the numbers of units.
      sums: (..., W), the sums of the columns of the rows.
      other_sums: (..., W), those of the columns.
      squares: (..., W), the sums of squares of the columns of the rows.
      other_squares: (..., W), those of the columns.
      products: (..., W, W).
    """
    n = units.astype(float)[..., np.newaxis]

    def deviations(sums: NDArray[Any], squares: NDArray[Any]) -> NDArray[Any]:
        of_squares = n * squares.astype(float)
        bounded: NDArray[Any] = of_squares - sums.astype(float) ** 2 + _TOLERANCE * of_squares
        return bounded

    rows, columns = deviations(sums, squares), deviations(other_sums, other_squares)
    if (rows < 0).any() or (columns < 0).any():
        return False
    means = sums.astype(float)[..., :, np.newaxis] * other_sums.astype(float)[..., np.newaxis, :]
    common = n[..., np.newaxis] * products.astype(float) - means
    bound = np.sqrt(rows)[..., :, np.newaxis] * np.sqrt(columns)[..., np.newaxis, :]
    return bool((np.abs(common) <= bound * (1 + _TOLERANCE)).all())
