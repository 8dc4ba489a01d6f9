"""Values from 0 to 1 as integers that add up exactly: fixed point, in two columns.

A mean of floats depends on the order in which they are added up, and so on how a corpus is split. A
sum of integers does not. A value is rounded to a multiple of 2^-48. The multiple has two columns:
the high bits, and the low ones. Each column is short enough for the sums of products of many
segments (`totals/moments`). The mean differs by at most 2^-49 from that of the values as they are.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, ExactIntegers, largest
from beam_bleu.transforms.native.compiling import inlined

LOW_BITS = 24
"""The bits of the low column. A value of 1 is the same power of two in the high column."""

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


def fixed_point_is_possible(high: ExactIntegers, low: ExactIntegers, count: ExactIntegers) -> bool:
    """Whether columns can be sums of `count` values.

    Args:
      high: the high columns of the values, added up, of any shape.
      low: the same of the low columns.
      count: the numbers of values.
    """
    if largest(count) * _ONE > LARGEST_INTEGER:
        high, low, count = (values.astype(object) for values in (high, low, count))
    # A value of 1 has no low bits. So each value adds its low bits below the next high one.
    facts = [
        high <= count * _HIGHEST,
        low <= count * _LARGEST_LOW,
        low <= (count * _HIGHEST - high) * _LARGEST_LOW,
    ]
    return all(bool(fact.all()) for fact in facts)
