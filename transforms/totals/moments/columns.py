"""From the counts of segments to the columns of units."""

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
    _fill(counts, reference_counts, columns)
    return columns


@compiled
def _fill(counts, reference_counts, columns):
    """Writes the columns of each segment, as in `unit_columns`."""
    systems, segments, of_counts = counts.shape
    orders = (of_counts - _COUNTED_MATCHES) // 2
    for system in range(systems):
        for i in range(segments):
            length = counts[system, i, _COUNTED_LENGTH]
            shortest = counts[system, i, _COUNTED_SHORTEST]
            closest = counts[system, i, _COUNTED_CLOSEST]
            references = reference_counts[i]
            # The count is the sum of all references.
            above = counts[system, i, _COUNTED_AVERAGE] - shortest * references
            columns[system, _SEGMENTS, i] = 1
            columns[system, _CANDIDATE_LENGTH, i] = length
            columns[system, _SHORTEST, i] = shortest
            columns[system, _CLOSEST, i] = closest - shortest
            columns[system, _CLOSEST_FIRST, i] = counts[system, i, _COUNTED_CLOSEST_FIRST] - closest
            columns[system, _LONGEST, i] = counts[system, i, _COUNTED_LONGEST] - shortest
            columns[system, _AVERAGE, i] = above * _PARTS_OF_A_TOKEN // references
            for n in range(orders):
                columns[system, _MATCHES + n, i] = counts[system, i, _COUNTED_MATCHES + n]
                columns[system, _MATCHES + orders + n, i] = length <= n
