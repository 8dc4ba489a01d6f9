"""Compiled code: adds up the products of whole batches, whose integers are as usual.

It copies the columns of a few units at a time, so that they stay in the fastest cache. Only the
columns that are needed are kept for a whole batch. Other integers than usual are left to the
general way, which looks at all columns of the batch before it begins.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.totals.moments.by_column import fill
from beam_bleu.transforms.totals.moments.gram import add_tiles, pack, scatter

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
      found: int64 (1, tiles, 8).
      sums: int64 (1, tiles * 8), the same memory.
      groups: int64 (1,), the number of the group: 0.
      same_order: int64 (0,), as the order of `pack`.
    """

    columns: Integers
    rows: Integers
    packed: NDArray[np.uint32]
    bounds: Integers
    found: Integers
    sums: Integers
    groups: Integers
    same_order: Integers


def scratch(systems: int, of_unit: int, packed: int, tiles: int, segments: int) -> Scratch:
    """The memory for batches of up to `segments`, with these numbers of systems and columns."""
    columns = np.empty((systems, of_unit, _BLOCK), np.int64)
    found = np.empty((1, tiles, 8), np.int64)
    return Scratch(
        columns,
        columns.reshape(-1, _BLOCK),
        np.empty((packed, segments), np.uint32),
        np.empty(2, np.int64),
        found,
        found.reshape(1, -1),
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
    columns, rows, packed, bounds, found, sums, groups, same_order = memory
    systems, of_unit, _ = columns.shape
    segments = counts.shape[1]
    all_bits = np.int64(0)
    for start in range(0, segments, _BLOCK):
        end = min(start + _BLOCK, segments)
        for place in range(systems):
            system = order[place]
            fill(counts[system : system + 1, start:end], columns[place : place + 1])
            for column in range(of_unit):
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
    add_tiles(packed, bounds, tiles, found)
    scatter(sums, groups, places, targets, totals)
    return all_bits * all_bits * segments
