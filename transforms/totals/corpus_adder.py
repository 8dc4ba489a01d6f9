"""Adds up the whole corpus as one slice, whose integers a compiled loop adds up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.slice_adder import SliceAdder

_ALL = SliceKey(0, ())


class CorpusAdder:
    """Adds up all segments of batches, for each system. Mutable.

    Args:
      max_order: the largest n-gram order.
    """

    def __init__(self, max_order: int) -> None:
        self._max_order = max_order
        self._adder = SliceAdder(_OneSlice(), max_order)
        self._systems: dict[str, None] = {}

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""
        self._systems |= dict.fromkeys(statistics.systems)
        self._adder.add(statistics)

    def sums(self) -> dict[str, CorpusSums]:
        """The sums of each system, also of one that has batches without a segment only."""
        found = self._adder.sums()
        zero = CorpusSums.zero(self._max_order)
        return {system: found.of_system(system).get(_ALL, zero) for system in self._systems}


class _OneSlice:
    """All segments belong to the same slice."""

    keys: Sequence[SliceKey] = (_ALL,)

    def __init__(self) -> None:
        self._zeros = np.zeros((1, 0), np.int64)

    def rows_of(self, statistics: BatchStatistics) -> Integers:
        if self._zeros.size < len(statistics):
            self._zeros = np.zeros((1, len(statistics)), np.int64)
        return self._zeros[:, : len(statistics)]
