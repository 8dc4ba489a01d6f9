"""The columns of a mean: the number of a segment, as integers that add up exactly."""

from __future__ import annotations

import functools

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.fixed_point import VALUE_COLUMNS

POSITIVE = slice(1, 1 + VALUE_COLUMNS)
"""The columns after `SEGMENTS`: the number as a value of fixed point, if it is above 0."""

NEGATIVE = slice(POSITIVE.stop, POSITIVE.stop + VALUE_COLUMNS)
"""The same of minus the number, if it is below 0."""


@functools.cache
def mean_basis() -> Basis:
    """The columns."""
    places = [*reversed(range(VALUE_COLUMNS))]
    parts = (f"{sign}_{place}" for sign in ("positive", "negative") for place in places)
    return Basis(("segments", *parts), shared=(SEGMENTS,))
