"""Adds up the whole corpus as one slice, whose integers a compiled loop adds up."""

from __future__ import annotations

from collections.abc import Iterable

from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.slice_adder import ALL, OneSlice, SliceAdder


class CorpusAdder:
    """Adds up all segments of batches, for each system. Mutable.

    Args:
      width: the number of columns of the metric, W.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._adder = SliceAdder(OneSlice(), width)
        self._systems: dict[str, None] = {}

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""
        self._systems |= dict.fromkeys(statistics.systems)
        self._adder.add(statistics)

    def keyed_sums(self) -> Iterable[tuple[tuple[str, None], CorpusSums]]:
        """((system, None), its sums)."""
        return [((system, None), sums) for system, sums in self.sums().items()]

    def sums(self) -> dict[str, CorpusSums]:
        """The sums of each system, also of one that has batches without a segment only."""
        found = self._adder.sums()
        zero = CorpusSums.zero(self._width)
        return {system: found.of_system(system).get(ALL, zero) for system in self._systems}
