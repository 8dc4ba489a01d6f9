"""Wires the addition of the sums of several systems to Beam: the way from batches to sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.count_matches import count_matches
from beam_bleu.transforms.totals.add_up import without_empty_panes
from beam_bleu.transforms.totals.moments.products import compile_products
from beam_bleu.transforms.totals.system_sums import ComparedPair, SystemSums

__all__ = ["AddUpSystems", "count_and_add_up_systems"]


def count_and_add_up_systems(
    batches: PCollection[SegmentBatch],
    text: Text,
    max_order: int,
    systems: int,
    pairs: tuple[ComparedPair, ...],
    key_type: Any,
) -> PCollection[tuple[Any, SystemSums]]:
    """Adds the steps that count batches of segments and add the counts up, by the groups' keys.

    Args:
      batches: the batches. All of them have the same systems in the same order.
      text: how texts become tokens.
      max_order: the largest n-gram order that is counted.
      systems: the number of systems.
      pairs: the pairs of systems that are compared.
      key_type: the type of the groups' keys; None if all keys are None.
    """
    return without_empty_panes(
        batches
        | "Count matches" >> count_matches(text, max_order, threads=1)
        | "Total each batch"
        >> beam.ParDo(_TotalSystems(pairs)).with_output_types(typehints.Tuple[key_type, SystemSums])
        | "Add up totals" >> beam.CombinePerKey(AddUpSystems(max_order, systems, pairs))
    )


class _TotalSystems(beam.DoFn):
    """The sums of a batch, as (key of the group, sums)."""

    def __init__(self, pairs: tuple[ComparedPair, ...]) -> None:
        self._pairs = pairs

    def setup(self) -> None:
        compile_products()

    def process(self, statistics: BatchStatistics) -> Iterator[Any]:
        for group in statistics.groups:
            keyed = group.key, SystemSums.of(statistics, self._pairs, group.rows)
            if group.window is None:
                yield keyed
            else:
                yield WindowedValue(keyed, group.timestamp, (group.window,))


class AddUpSystems(beam.CombineFn):
    """Adds up `SystemSums`. The accumulator is a frozen `SystemSums`, as in `AddUp`."""

    def __init__(self, max_order: int, systems: int, pairs: tuple[ComparedPair, ...]) -> None:
        self._max_order = max_order
        self._systems = systems
        self._pairs = pairs

    def create_accumulator(self) -> SystemSums:
        return SystemSums.zero(self._max_order, self._systems, self._pairs)

    def add_input(self, accumulator: SystemSums, sums: SystemSums) -> SystemSums:
        return accumulator + sums

    def merge_accumulators(self, accumulators: Iterable[SystemSums]) -> SystemSums:
        return sum(accumulators, start=self.create_accumulator())

    def extract_output(self, accumulator: SystemSums) -> SystemSums:
        return accumulator
