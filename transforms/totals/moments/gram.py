"""Compiled code: sums of products of many columns, over ranges of units.

A tile is 2 columns times 4 columns: 8 sums at a time. Their vectors fit in the registers of a
processor, and each value that is loaded is used several times.

`add_rows` does so for whole batches whose integers are as usual. It copies the columns of a few
units at a time, so that they stay in the fastest cache. Only the columns that are needed are kept
for a whole batch. Other integers are left to the general way, which looks at all columns of the
batch before it begins.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.totals.products import fill

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
def add_tiles(packed, bounds, tiles, added):
    """Adds up the products of the columns of tiles.

    Args:
      packed: uint32 (packed columns, units).
      bounds: int64 (ranges + 1,), where each range of units begins; at last the end.
      tiles: int64 (tiles, 2), the first of 2 columns, and the first of 4 columns.
      added: int64 (ranges, tiles, 8), which is written.
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
            to = added[place, tile]
            to[0], to[1], to[2], to[3] = ap, aq, ar, as_
            to[4], to[5], to[6], to[7] = bp, bq, br, bs


@compiled
def scatter(added, groups, sources, targets, totals):
    """Adds sums of ranges to those of their groups.

    Args:
      added: int64 (ranges, places), the sums of ranges.
      groups: int64 (ranges,), the row of each range's group in `totals`.
      sources: int64 (sums,), places in `added`.
      targets: int64 (sums,), places in a row of `totals`.
      totals: int64 (groups, places), which is changed.
    """
    for place in range(len(groups)):
        row, to = added[place], totals[groups[place]]
        for i in range(len(sources)):
            to[targets[i]] += row[sources[i]]


_BLOCK = 256

_ONLY_GROUP = np.zeros(1, np.int64)
SAME_ORDER = np.zeros(0, np.int64)
"""As the order of `pack`: the units stay in their order."""


class RowsPlan(NamedTuple):
    """What `add_rows` does with a batch.

    Attributes:
      order: int64 (systems,), the system in the counts at each place.
      sources: int64 (packed columns,), as for `pack`.
      shifts: int64 (packed columns,), the same.
      tiles: int64 (tiles, 2), as for `add_tiles`.
      masks: int64 (W,), the bits that a value of each column can have.
      places: int64 (sums,), as the sources of `scatter`.
      targets: int64 (sums,), as for `scatter`.
    """

    order: Integers
    sources: Integers
    shifts: Integers
    tiles: Integers
    masks: Integers
    places: Integers
    targets: Integers


class Scratch(NamedTuple):
    """The memory that `add_rows` needs, which is overwritten.

    Attributes:
      columns: int64 (systems, W, units at a time).
      rows: int64 (systems * W, units at a time), the same memory.
      packed: uint32 (packed columns, segments or more).
      bounds: int64 (2,), the first segment and the end of the last one.
      added: int64 (1, tiles, 8).
      sums: int64 (1, tiles * 8), the same memory.
      groups: int64 (1,), the number of the group: 0.
      same_order: int64 (0,), as the order of `pack`.
    """

    columns: Integers
    rows: Integers
    packed: NDArray[np.uint32]
    bounds: Integers
    added: Integers
    sums: Integers
    groups: Integers
    same_order: Integers


def scratch(systems: int, width: int, packed: int, tiles: int, segments: int) -> Scratch:
    """The memory for batches of up to `segments`, with these numbers of systems and columns."""
    columns = np.empty((systems, width, _BLOCK), np.int64)
    added = np.empty((1, tiles, 8), np.int64)
    return Scratch(
        columns,
        columns.reshape(-1, _BLOCK),
        np.empty((packed, segments), np.uint32),
        np.empty(2, np.int64),
        added,
        added.reshape(1, -1),
        _ONLY_GROUP,
        SAME_ORDER,
    )


@compiled
def add_rows(counts, plan, most, totals, memory):
    """Adds the products of the units of a batch to those of a group, if it can be sure of them.

    Args:
      counts: int64 (systems, segments, W), as in `BatchStatistics`.
      plan: the items of `RowsPlan`.
      most: no sum may be larger than this.
      totals: int64 (1, places), which is changed.
      memory: the items of `Scratch`.

    Returns:
      A number that no sum of the batch exceeds; -1 if a value has other bits or a sum could be
      too large. Then nothing is added.
    """
    order, sources, shifts, tiles, masks, places, targets = plan
    columns, rows, packed, bounds, added, sums, groups, same_order = memory
    systems, width, _ = columns.shape
    segments = counts.shape[1]
    all_bits = np.int64(0)
    for start in range(0, segments, _BLOCK):
        end = min(start + _BLOCK, segments)
        for place in range(systems):
            system = order[place]
            fill(counts[system : system + 1, start:end], columns[place : place + 1])
            for column in range(width):
                values = columns[place, column]
                bits = np.int64(0)
                for i in range(end - start):
                    bits |= values[i]
                if bits & ~masks[column]:
                    return -1
                all_bits |= bits
        pack(rows[:, : end - start], sources, shifts, same_order, packed[:, start:end])
    if all_bits * all_bits > most // segments:
        return -1
    bounds[0], bounds[1] = 0, segments
    add_tiles(packed, bounds, tiles, added)
    scatter(sums, groups, places, targets, totals)
    return all_bits * all_bits * segments
