"""Wires the addition of corpus totals to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apache_beam as beam

from beam_bleu.transforms.statistics.segment_statistics import SegmentStatistics
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals

__all__ = ["SumTotals", "totals_by_system"]


class SumTotals(beam.CombineFn):
    """Adds up `CorpusTotals`.

    The accumulator is a frozen `CorpusTotals`, so neither an input nor another
    accumulator is ever changed, and any split and order gives the same sum.
    """

    def __init__(self, max_order: int) -> None:
        self._max_order = max_order

    def create_accumulator(self) -> CorpusTotals:
        return CorpusTotals.zero(self._max_order)

    def add_input(self, accumulator: CorpusTotals, totals: CorpusTotals) -> CorpusTotals:
        return accumulator + totals

    def merge_accumulators(self, accumulators: Iterable[CorpusTotals]) -> CorpusTotals:
        return sum(accumulators, start=self.create_accumulator())

    def extract_output(self, accumulator: CorpusTotals) -> CorpusTotals:
        return accumulator


def totals_by_system(statistics: SegmentStatistics) -> Iterator[tuple[int, CorpusTotals]]:
    """The totals of a batch, keyed by the number of the system."""
    for system in range(statistics.systems):
        yield system, CorpusTotals.of(statistics, system)
