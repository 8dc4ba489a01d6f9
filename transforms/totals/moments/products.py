"""Sums of products of the columns of a few units of one system, for the library.

`by_column` is for everybody: from the rows of segments to one array for each column.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.unit_sums import UnitSums, products


def unit_sums(statistics: BatchStatistics, system: int, rows: slice = slice(None)) -> UnitSums:
    """The sums of some segments of one system, each of which is a unit."""
    counts = statistics.counts[system : system + 1, rows]
    (columns,) = by_column(counts)
    return sums_of_columns(columns)


def sums_of_columns(columns: Integers) -> UnitSums:
    """The sums of units.

    Args:
      columns: int64 (W, units).
    """
    of_unit, units = columns.shape
    largest = int(columns.max(initial=0))
    if largest * largest * units > LARGEST_INTEGER:
        unbounded = columns.astype(object)
        triangle = np.tril_indices(of_unit)
        added = (unbounded @ unbounded.T)[triangle].tolist()
        return UnitSums(units, tuple(unbounded.sum(axis=1).tolist()), tuple(added))
    sums = np.empty(of_unit, np.int64)
    found = np.empty(products(of_unit), np.int64)
    _add_products(columns, sums, found)
    return UnitSums(units, tuple(sums.tolist()), tuple(found.tolist()))


def compile_products() -> None:
    """Compiles the code of this module, or loads it, unless this process has done so."""
    sums_of_columns(by_column(np.ones((1, 1, 1), np.int64))[0])


@compiled
def _add_products(columns, sums, found):
    """Writes the sums of all columns, and of the products of all pairs of columns.

    Args:
      columns: int64 (W, units).
      sums: int64 (W,), for the sums.
      found: int64 (W (W + 1) / 2,), for those of products, packed.
    """
    of_unit, units = columns.shape
    place = 0
    for i in range(of_unit):
        total = 0
        for unit in range(units):
            total += columns[i, unit]
        sums[i] = total
        for j in range(i + 1):
            # Most columns are 0, and a column of zeros gives zeros.
            added = 0
            if total != 0 and sums[j] != 0:
                for unit in range(units):
                    added += columns[i, unit] * columns[j, unit]
            found[place] = added
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
