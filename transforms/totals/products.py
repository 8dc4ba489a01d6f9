"""Sums of products of the columns of a few units, for transforms of the library.

The command adds up the products of many units, systems and slices: see `moments`. `by_column` is
for both: from the rows of segments to one array for each column.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, Integers, exact
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.totals.unit_sums import UnitSums, products


def sums_of_columns(columns: Integers) -> UnitSums:
    """The sums of units.

    Args:
      columns: int64 (W, units).
    """
    width, units = columns.shape
    largest = int(columns.max(initial=0))
    if largest * largest * units > LARGEST_INTEGER:
        unbounded = columns.astype(object)
        packed = (unbounded @ unbounded.T)[np.tril_indices(width)]
        return UnitSums(units, exact(unbounded.sum(axis=1)), exact(packed))
    sums = np.empty(width, np.int64)
    added = np.empty(products(width), np.int64)
    _add_products(columns, sums, added)
    return UnitSums(units, sums, added)


def compile_products() -> None:
    """Compiles the code of this module, or loads it, unless this process has done so."""
    sums_of_columns(by_column(np.ones((1, 1, 1), np.int64))[0])


@compiled
def _add_products(columns, sums, added):
    """Writes the sums of all columns, and of the products of all pairs of columns.

    Args:
      columns: int64 (W, units).
      sums: int64 (W,), for the sums.
      added: int64 (W (W + 1) / 2,), for those of products, packed.
    """
    width, units = columns.shape
    place = 0
    for i in range(width):
        total = 0
        for unit in range(units):
            total += columns[i, unit]
        sums[i] = total
        for j in range(i + 1):
            # Most columns are 0, and a column of zeros gives zeros.
            of_pair = 0
            if total != 0 and sums[j] != 0:
                for unit in range(units):
                    of_pair += columns[i, unit] * columns[j, unit]
            added[place] = of_pair
            place += 1


_BLOCK = 64


def by_column(counts: Integers) -> Integers:
    """The columns of some segments, int64 (systems, W, segments).

    Args:
      counts: int64 (systems, segments, W), as in `BatchStatistics`.
    """
    systems, segments, width = counts.shape
    columns = np.empty((systems, width, segments), np.int64)
    fill(counts, columns)
    return columns


@compiled
def fill(counts, columns):
    """Writes the columns of each segment, as in `by_column`.

    It writes one column after the other for a few segments, because a cache cannot hold places
    of all columns at once if they are a power of two apart.
    """
    systems, segments, width = counts.shape
    for system in range(systems):
        for start in range(0, segments, _BLOCK):
            end = min(start + _BLOCK, segments)
            of_block = counts[system, start:end]
            to = columns[system, :, start:end]
            for column in range(width):
                for i in range(end - start):
                    to[column, i] = of_block[i, column]
