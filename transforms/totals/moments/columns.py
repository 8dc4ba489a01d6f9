"""From the counts of segments to the columns of units."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.statistics import batch_statistics as counted
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals import units

SHARED = (units.SEGMENTS, units.SHORTEST, units.LONGEST, units.AVERAGE)
"""The columns that are the same for all systems of a batch: they follow from the references."""

# As constants for the compiled code.
_COUNTED_LENGTH = counted.CANDIDATE_LENGTH
_COUNTED_CLOSEST = counted.CLOSEST
_COUNTED_CLOSEST_FIRST = counted.CLOSEST_FIRST
_COUNTED_SHORTEST = counted.SHORTEST
_COUNTED_LONGEST = counted.LONGEST
_COUNTED_AVERAGE = counted.AVERAGE
_COUNTED_MATCHES = counted.FIRST_MATCHES
_SEGMENTS = units.SEGMENTS
_CANDIDATE_LENGTH = units.CANDIDATE_LENGTH
_SHORTEST = units.SHORTEST
_CLOSEST = units.CLOSEST
_CLOSEST_FIRST = units.CLOSEST_FIRST
_LONGEST = units.LONGEST
_AVERAGE = units.AVERAGE
_MATCHES = units.FIRST_MATCHES
_PARTS_OF_A_TOKEN = units.PARTS_OF_A_TOKEN
_BLOCK = 64


def unit_columns(statistics: BatchStatistics) -> Integers:
    """The columns of each segment, int64 (systems, W, segments)."""
    return columns_of_rows(statistics.counts, statistics.reference_counts)


def columns_of_rows(counts: Integers, reference_counts: Integers) -> Integers:
    """The columns of some segments, int64 (systems, W, segments).

    Args:
      counts: int64 (systems, segments, 6 + 2 N), as in `BatchStatistics`.
      reference_counts: int64 (segments,).
    """
    systems, segments, of_counts = counts.shape
    max_order = (of_counts - counted.FIRST_MATCHES) // 2
    columns = np.empty((systems, units.width(max_order), segments), np.int64)
    fill(counts, reference_counts, columns)
    return columns


@compiled
def fill(counts, reference_counts, columns):
    """Writes the columns of each segment, as in `unit_columns`.

    It writes one column after the other for a few segments, because a cache cannot hold places
    of all columns at once if they are a power of two apart.
    """
    systems, segments, of_counts = counts.shape
    orders = (of_counts - _COUNTED_MATCHES) // 2
    for system in range(systems):
        for start in range(0, segments, _BLOCK):
            end = min(start + _BLOCK, segments)
            of_block = counts[system, start:end]
            references = reference_counts[start:end]
            to = columns[system, :, start:end]
            for i in range(end - start):
                to[_SEGMENTS, i] = 1
            for i in range(end - start):
                to[_CANDIDATE_LENGTH, i] = of_block[i, _COUNTED_LENGTH]
            for i in range(end - start):
                to[_SHORTEST, i] = of_block[i, _COUNTED_SHORTEST]
            for i in range(end - start):
                to[_CLOSEST, i] = of_block[i, _COUNTED_CLOSEST] - of_block[i, _COUNTED_SHORTEST]
            for i in range(end - start):
                closest_first = of_block[i, _COUNTED_CLOSEST_FIRST]
                to[_CLOSEST_FIRST, i] = closest_first - of_block[i, _COUNTED_CLOSEST]
            for i in range(end - start):
                to[_LONGEST, i] = of_block[i, _COUNTED_LONGEST] - of_block[i, _COUNTED_SHORTEST]
            for i in range(end - start):
                # The count is the sum of all references.
                shortest = of_block[i, _COUNTED_SHORTEST] * references[i]
                above = of_block[i, _COUNTED_AVERAGE] - shortest
                # A division takes long.
                to[_AVERAGE, i] = above * _PARTS_OF_A_TOKEN // references[i] if above else 0
            for n in range(orders):
                for i in range(end - start):
                    to[_MATCHES + n, i] = of_block[i, _COUNTED_MATCHES + n]
                for i in range(end - start):
                    to[_MATCHES + orders + n, i] = of_block[i, _COUNTED_LENGTH] <= n
