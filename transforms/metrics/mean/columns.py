"""The columns of a mean: the number of a segment, as integers that add up exactly."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import ExactIntegers
from beam_bleu.transforms.native.fixed_point import SIGNED_COLUMNS, signed_is_possible
from beam_bleu.transforms.totals.unit_sums import columns_of_units

NUMBER = slice(1, 1 + SIGNED_COLUMNS)
"""The columns after `SEGMENTS`: those of the signed value of fixed point."""


@functools.cache
def mean_basis() -> Basis:
    """The columns."""
    parts = (f"number_{place}" for place in reversed(range(SIGNED_COLUMNS)))
    return Basis(("segments", *parts), shared=(SEGMENTS,))


def mean_is_possible(columns: ExactIntegers) -> bool:
    """Whether columns, (..., 5), can be a sum of units with weights of 0 or more."""
    rows = columns_of_units(columns)
    return rows is not None and signed_is_possible(rows[..., NUMBER], rows[..., SEGMENTS])


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments. What is true of all units is all that is known.

    Args:
      full: (..., W, W), the sums of products.
      sums: (..., W), the sums of the columns.
    """
    return bool(np.all(full[..., SEGMENTS, SEGMENTS] == sums[..., SEGMENTS]))
