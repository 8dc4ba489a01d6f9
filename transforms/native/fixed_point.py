"""Floats as integers that add up exactly: fixed point, in several columns.

A mean of floats depends on the order in which they are added up, and so on how a corpus is split. A
sum of integers does not. So a value is rounded to a multiple of a small power of two, and the
multiple has columns of 24 bits, the highest bits first. Each column is short enough for the sums of
products of many segments (`totals/moments`).

- A value from 0 to 1 is a multiple of 2^-48, in two columns. The mean differs by at most 2^-49 from
  that of the values as they are.
- A signed value, between -2^24 and 2^24, is a multiple of 2^-72, in four columns. That is exact for
  values of 2^-20 (about 1e-6) or more, and for 0. The mean differs by at most 2^-73, about 1e-22.
  Columns are 0 or more, so 2^24 is added to each value, and `signed_sum` takes it off again.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.native.compiling import inlined

LOW_BITS = 24
"""The bits of each column but the highest. Of values up to 1, 1 is the same power of two in the
high column."""

_HIGHEST = 2**LOW_BITS
_ONE = _HIGHEST**2
_LARGEST_LOW = _HIGHEST - 1


@inlined
def fixed_point(value):
    """(high, low), the columns of a float from 0 to 1."""
    number = round(value * _ONE)
    return number >> LOW_BITS, number & _LARGEST_LOW


def fixed_point_mean(high: Any, low: Any, count: Any) -> Any:
    """The mean of some values, 0 to 1.

    Args:
      high: the high columns of the values, added up: an integer, or a number that carries its
        derivatives.
      low: the same of the low columns.
      count: the number of values, 1 or more; of the same type.
    """
    return (high * _HIGHEST + low) / (count * _ONE)


SIGNED_COLUMNS = 4
"""The columns of a signed value. The first one has the bits before the point."""

SIGNED_BOUND = 2**LOW_BITS
"""A signed value is between the negative of this number and this number."""

SIGNED_ONE = _HIGHEST ** (SIGNED_COLUMNS - 1)
"""A signed value of 1, in the units of `signed_sum`."""


def signed_columns(values: Floats) -> Integers:
    """The columns of signed values, int64 (..., 4). Each one is 0 or more.

    Args:
      values: (...), each one between -`SIGNED_BOUND` and `SIGNED_BOUND`.
    """
    assert (np.abs(values) < SIGNED_BOUND).all()
    columns = np.empty((*values.shape, SIGNED_COLUMNS), np.int64)
    # Each step is exact but the last one, which rounds: a power of two changes no digit of a float.
    rest = np.abs(values)
    for place in range(SIGNED_COLUMNS - 1):
        whole = np.floor(rest)
        columns[..., place] = whole
        rest = (rest - whole) * _HIGHEST
    columns[..., -1] = np.rint(rest)
    columns[values < 0] *= -1
    for place in range(SIGNED_COLUMNS - 1, 0, -1):
        columns[..., place - 1] += columns[..., place] >> LOW_BITS  # -1 for a negative one
        columns[..., place] &= _LARGEST_LOW
    columns[..., 0] += SIGNED_BOUND
    return columns


def signed_sum(columns: Sequence[Any], count: Any) -> Any:
    """The sum of signed values, in units of 1 / `SIGNED_ONE`.

    Args:
      columns: their columns, added up: integers, or numbers that carry their derivatives.
      count: the number of values, of the same type.
    """
    total = columns[0] - count * SIGNED_BOUND
    for column in columns[1:]:
        total = total * _HIGHEST + column
    return total


def signed_mean(columns: Sequence[Any], count: Any) -> Any:
    """The mean of signed values; see `signed_sum`. `count` is 1 or more."""
    return signed_sum(columns, count) / (count * SIGNED_ONE)
