"""The columns of a mean: the number of a segment, as integers that add up exactly."""

from __future__ import annotations

import functools

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.fixed_point import SIGNED_COLUMNS

NUMBER = slice(1, 1 + SIGNED_COLUMNS)
"""The columns after `SEGMENTS`: those of the signed value of fixed point."""


@functools.cache
def mean_basis() -> Basis:
    """The columns."""
    parts = (f"number_{place}" for place in reversed(range(SIGNED_COLUMNS)))
    return Basis(("segments", *parts), shared=(SEGMENTS,))
