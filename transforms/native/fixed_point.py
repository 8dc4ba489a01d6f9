"""Floats as integers that add up exactly: fixed point, in columns of 24 bits, the highest first.

A value from 0 to 1 is rounded to a multiple of 2^-48, in two columns. A larger one, below 2^24, is
rounded to a multiple of 2^-72, in four columns, which is exact from 2^-20 (about 1e-6) on, and for
0. Values below 0 need columns of their own: with an offset instead, the derivatives of their mean
would be small differences of large numbers.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.native.compiling import inlined

LOW_BITS = 24  # the bits of each column except the highest
_HIGHEST = 2**LOW_BITS
_ONE = _HIGHEST**2
_LARGEST_LOW = _HIGHEST - 1


@inlined
def fixed_point(value):
    """(high, low), the columns of a float from 0 to 1."""
    number = round(value * _ONE)
    return number >> LOW_BITS, number & _LARGEST_LOW


def fixed_point_mean(high: Any, low: Any, count: Any) -> Any:
    """The mean of `count` values from the sums of their columns: integers or recorded numbers."""
    return (high * _HIGHEST + low) / (count * _ONE)


VALUE_COLUMNS = 4  # the columns of a larger value; the first has the bits before the point
VALUE_BOUND = 2**LOW_BITS  # larger values are below this number
VALUE_ONE = _HIGHEST ** (VALUE_COLUMNS - 1)  # a value of 1, in the units of `value_sum`


def value_columns(values: Floats) -> Integers:
    assert ((values >= 0) & (values < VALUE_BOUND)).all()
    columns = np.empty((*values.shape, VALUE_COLUMNS), np.int64)
    # Only the last step rounds: to multiply a float by a power of two changes no digit of it.
    rest = values
    for place in range(VALUE_COLUMNS - 1):
        whole = np.floor(rest)
        columns[..., place] = whole
        rest = (rest - whole) * _HIGHEST
    columns[..., -1] = np.rint(rest)
    return columns


def value_sum(columns: Sequence[Any]) -> Any:
    """The sum of larger values, in units of 1 / `VALUE_ONE`, from the sums of their columns."""
    total = columns[0]
    for column in columns[1:]:
        total = total * _HIGHEST + column
    return total
