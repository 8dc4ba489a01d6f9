"""Adds up the integers of units with the weights of replicates: a product of two matrices.

The weights are drawn for a few units and a tile of replicates at a time, into a buffer that fits
in the fastest cache. They are used at once for all columns. So nothing of size
units x replicates ever exists.

The product is of float32, because all machines multiply and add vectors of them fast. It is
exact: a float32 holds each integer up to 2^24, and the sums of `_EXACT_UNITS` units are smaller
if the integers have at most `DIGIT_BITS` bits. Larger integers are several digits.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import address_of
from beam_bleu.transforms.totals.replicates.tiles import TILE, draw_tile

DIGIT_BITS = 12
"""The number of bits of a digit."""

UNITS_AT_ONCE = 16
"""Units come in multiples of this number. Units whose integers are 0 fill it up."""

COLUMNS_AT_ONCE = 4
"""Columns come in multiples of this number. Columns of 0 fill it up."""

_EXACT_UNITS = 512
"""After this number of units, the sums of float32 go to the sums of int64.

With the largest weight, 8, they are at most 512 * 8 * (2^12 - 1) < 2^24.
"""


def scratch(columns: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The memory that `add_weighted` needs for these columns: float32, for weights and sums."""
    return np.empty((UNITS_AT_ONCE, TILE), np.float32), np.empty((columns, TILE), np.float32)


@compiled
def add_weighted(units, digits, places, shifts, seed, is_bootstrap, sums, weights, added):
    """Adds the units to the sums of all replicates.

    Args:
      units: uint64 (units,), their keys; a multiple of `UNITS_AT_ONCE`.
      digits: float32 (units, columns), integers below 2^DIGIT_BITS; the number of columns is a
        multiple of `COLUMNS_AT_ONCE`.
      places: int64 (used columns,), the row of `sums` to which each of the first columns belongs.
      shifts: int64 (used columns,), how many bits are below a column's digit in its integer.
      seed: uint64.
      is_bootstrap: whether the weights are those of the bootstrap, or coins.
      sums: int64 (tiles, rows, TILE), which is changed; in the tiles' own order.
      weights: float32 (UNITS_AT_ONCE, TILE), of `scratch`; it is overwritten.
      added: float32 (columns, TILE), of `scratch`; it is overwritten.
    """
    for tile in range(sums.shape[0]):
        for start in range(0, len(units), _EXACT_UNITS):
            added[:] = 0
            for first in range(start, min(start + _EXACT_UNITS, len(units)), UNITS_AT_ONCE):
                for number in range(UNITS_AT_ONCE):
                    address = address_of(weights) + number * (TILE * 4)
                    draw_tile(tile, units[first + number], seed, is_bootstrap, address)
                _add_products(weights, digits[first : first + UNITS_AT_ONCE], added)
            for column in range(len(places)):
                of_place = sums[tile, places[column]]
                shift = shifts[column]
                of_column = added[column]
                for number in range(TILE):
                    of_place[number] += np.int64(np.int32(of_column[number])) << shift


# To contract is to multiply and add in one instruction. It changes no result that is exact.
@functools.partial(inner, fastmath={"contract"})
def _add_products(weights, digits, added):
    """Adds digits times weights, 4 units and 4 columns at a time.

    Args:
      weights: float32 (units, TILE).
      digits: float32 (units, columns).
      added: float32 (columns, TILE), which is changed.
    """
    for unit in range(0, weights.shape[0], 4):
        a, b, c, d = weights[unit], weights[unit + 1], weights[unit + 2], weights[unit + 3]
        of_a, of_b, of_c, of_d = digits[unit], digits[unit + 1], digits[unit + 2], digits[unit + 3]
        for column in range(0, digits.shape[1], 4):
            a0, a1, a2, a3 = of_a[column], of_a[column + 1], of_a[column + 2], of_a[column + 3]
            b0, b1, b2, b3 = of_b[column], of_b[column + 1], of_b[column + 2], of_b[column + 3]
            c0, c1, c2, c3 = of_c[column], of_c[column + 1], of_c[column + 2], of_c[column + 3]
            d0, d1, d2, d3 = of_d[column], of_d[column + 1], of_d[column + 2], of_d[column + 3]
            to_0, to_1 = added[column], added[column + 1]
            to_2, to_3 = added[column + 2], added[column + 3]
            for i in range(TILE):
                to_0[i] += a[i] * a0 + b[i] * b0 + c[i] * c0 + d[i] * d0
                to_1[i] += a[i] * a1 + b[i] * b1 + c[i] * c1 + d[i] * d1
                to_2[i] += a[i] * a2 + b[i] * b2 + c[i] * c2 + d[i] * d2
                to_3[i] += a[i] * a3 + b[i] * b3 + c[i] * c3 + d[i] * d3
