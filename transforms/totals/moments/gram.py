"""Compiled code: sums of products of many columns, over ranges of units.

A tile is 2 columns times 4 columns: 8 sums at a time. Their vectors fit in the registers of a
processor, and each value that is loaded is used several times.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import compiled

LIMB_BITS = 25
"""The bits of a value in a packed column. Longer integers are packed as several columns."""

MOST_UNITS = 2 ** (63 - 2 * LIMB_BITS)
"""The units of a range. The sum of as many products of two values fits in an int64."""

HIGH, LOW = 2, 4
"""The columns of a tile."""

_LIMB = 2**LIMB_BITS - 1


@compiled
def pack(columns, sources, shifts, order, packed):
    """Copies the columns that are needed.

    Args:
      columns: int64 (columns of all systems, units).
      sources: int64 (packed columns,), a number of a column; -1 for a column of ones; -2 for a
        column of zeros.
      shifts: int64 (packed columns,), the lowest bit that is copied.
      order: int64 (units,), the units in their new order; empty for the same order.
      packed: uint32 (packed columns, units), which is written.
    """
    units = columns.shape[1]
    for column in range(len(sources)):
        source, shift = sources[column], shifts[column]
        to = packed[column]
        if source < 0:
            to[:] = 1 if source == -1 else 0
        elif len(order):
            values = columns[source]
            for i in range(units):
                to[i] = (values[order[i]] >> shift) & _LIMB
        else:
            values = columns[source]
            for i in range(units):
                to[i] = (values[i] >> shift) & _LIMB


@compiled
def add_tiles(packed, bounds, tiles, found):
    """Adds up the products of the columns of tiles.

    Args:
      packed: uint32 (packed columns, units).
      bounds: int64 (ranges + 1,), where each range of units begins; at last the end.
      tiles: int64 (tiles, 2), the first of 2 columns, and the first of 4 columns.
      found: int64 (ranges, tiles, 8), which is written.
    """
    for place in range(len(bounds) - 1):
        start, end = bounds[place], bounds[place + 1]
        units = end - start
        for tile in range(len(tiles)):
            high, low = tiles[tile]
            a, b = packed[high, start:end], packed[high + 1, start:end]
            p, q = packed[low, start:end], packed[low + 1, start:end]
            r, s = packed[low + 2, start:end], packed[low + 3, start:end]
            ap = aq = ar = as_ = bp = bq = br = bs = np.int64(0)
            for i in range(units):
                x, y = np.int64(a[i]), np.int64(b[i])
                ap += x * np.int64(p[i])
                aq += x * np.int64(q[i])
                ar += x * np.int64(r[i])
                as_ += x * np.int64(s[i])
                bp += y * np.int64(p[i])
                bq += y * np.int64(q[i])
                br += y * np.int64(r[i])
                bs += y * np.int64(s[i])
            to = found[place, tile]
            to[0], to[1], to[2], to[3] = ap, aq, ar, as_
            to[4], to[5], to[6], to[7] = bp, bq, br, bs


@compiled
def scatter(found, groups, sources, targets, totals):
    """Adds sums of ranges to those of their groups.

    Args:
      found: int64 (ranges, places), the sums of ranges.
      groups: int64 (ranges,), the row of each range's group in `totals`.
      sources: int64 (sums,), places in `found`.
      targets: int64 (sums,), places in a row of `totals`.
      totals: int64 (groups, places), which is changed.
    """
    for place in range(len(groups)):
        row, to = found[place], totals[groups[place]]
        for i in range(len(sources)):
            to[targets[i]] += row[sources[i]]
