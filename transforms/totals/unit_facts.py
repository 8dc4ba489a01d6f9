"""What is true of the sums of products of every corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.totals.moments.exact import ExactIntegers
from beam_bleu.transforms.totals.units import product

Fact = tuple[str, bool]
"""What is checked, as messages name it, and whether it can be true."""

_TOLERANCE = 1e-9
"""Floats decide whether squares are bounded, because the integers are too long for int64."""


def unpacked(packed: NDArray[Any], width: int) -> NDArray[Any]:
    """The full matrices (..., W, W) of lower triangles."""
    columns = range(width)
    found: NDArray[Any] = packed[..., np.array([[product(i, j) for j in columns] for i in columns])]
    return found


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
        found: NDArray[Any] = of_squares - sums.astype(float) ** 2 + _TOLERANCE * of_squares
        return found

    rows, columns = deviations(sums, squares), deviations(other_sums, other_squares)
    if (rows < 0).any() or (columns < 0).any():
        return False
    means = sums.astype(float)[..., :, np.newaxis] * other_sums.astype(float)[..., np.newaxis, :]
    common = n[..., np.newaxis] * products.astype(float) - means
    bound = np.sqrt(rows)[..., :, np.newaxis] * np.sqrt(columns)[..., np.newaxis, :]
    return bool((np.abs(common) <= bound * (1 + _TOLERANCE)).all())
