"""Wires the addition of corpus totals to Beam: the way from batches to sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.count_matches import count_matches
from beam_bleu.transforms.statistics.segment_statistics import SegmentStatistics
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["Counted", "SumTotals", "count_and_add_up", "totals_of_groups"]


@dataclasses.dataclass(frozen=True)
class Counted:
    """What batches of segments come to.

    Attributes:
      statistics: PCollection of `SegmentStatistics`, one for each batch.
      totals: PCollection of ((number of the system, key of the group), `CorpusTotals`).
    """

    statistics: PCollection[SegmentStatistics]
    totals: PCollection[tuple[tuple[int, Any], CorpusTotals]]


def count_and_add_up(
    batches: PCollection[SegmentBatch],
    text: Text,
    max_order: int,
    threads: int,
    key_type: Any,
    step: Step = unchanged,
) -> Counted:
    """Adds the steps that count batches of segments and add the counts up.

    A function, and no transform of its own, so that consoles show each step by its own name.

    Args:
      batches: the batches.
      text: how texts become tokens; with a tokenizer's model, which is sent only with this step.
      max_order: the largest n-gram order that is counted.
      threads: how many threads a worker counts with.
      key_type: the type of the groups' keys, by which Beam finds their coder; None if all are None.
      step: what makes a step of the DoFn that counts.
    """
    statistics = batches | "Count matches" >> count_matches(text, max_order, threads, step)
    totals = (
        statistics
        | "Total each batch"
        >> beam.FlatMap(totals_of_groups).with_output_types(
            typehints.Tuple[typehints.Tuple[int, key_type], CorpusTotals]
        )
        | "Add up totals" >> beam.CombinePerKey(SumTotals(max_order))
    )
    return Counted(statistics, totals)


def totals_of_groups(statistics: SegmentStatistics) -> Iterator[Any]:
    """The totals of a batch, as ((number of the system, key of the group), totals)."""
    for group in statistics.groups:
        for system in range(statistics.systems):
            keyed = (system, group.key), CorpusTotals.of(statistics, system, group.rows)
            if group.place is None:
                yield keyed
            else:
                window, timestamp = group.place
                yield WindowedValue(keyed, timestamp, (window,))


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
