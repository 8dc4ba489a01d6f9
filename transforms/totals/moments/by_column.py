"""From the rows of segments to the columns of units: one array for each column."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled

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
