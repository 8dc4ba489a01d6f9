"""Wires the addition of corpus sums to Beam: the way from batches to sums."""

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
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.products import compile_products

__all__ = [
    "AddUp",
    "KeyedSums",
    "add_up",
    "count_and_add_up",
    "sums_of_groups",
    "without_empty_panes",
]

KeyedSums = tuple[tuple[str, Any], CorpusSums]
"""((name of the system, key of the group), sums)."""


def count_and_add_up(
    batches: PCollection[SegmentBatch],
    text: Text,
    max_order: int,
    key_type: Any,
    *,
    with_units: bool = False,
) -> PCollection[KeyedSums]:
    """Adds the steps that count batches of segments and add the counts up, by the groups' keys.

    Args:
      batches: the batches.
      text: how texts become tokens. If a tokenizer has a model, it is sent only with this step.
      max_order: the largest n-gram order that is counted.
      key_type: the type of the groups' keys. Beam uses it to find their coder.
      with_units: whether the sums have those of units, for the uncertainty of each group's score.
    """
    statistics = batches | "Count matches" >> count_matches(text, max_order, threads=1)
    total = beam.ParDo(_TotalWithUnits()) if with_units else beam.FlatMap(sums_of_groups)
    return without_empty_panes(add_up(statistics, total, max_order, key_type))


def without_empty_panes(sums: PCollection[Any]) -> PCollection[Any]:
    """Leaves out sums of no segment.

    A trigger can fire when nothing has come since the last time, for example at the end of a
    window whose segments were all in an early pane that was discarded. Then Beam gives the sums
    of nothing, and their score would be 0.

    Args:
      sums: PCollection of (key, sums); the sums have `segments`.
    """
    return sums | "Leave out empty panes" >> beam.Filter(_has_segments)


def _has_segments(keyed: tuple[Any, Any]) -> bool:
    _, sums = keyed
    return bool(sums.segments)


def add_up(
    statistics: PCollection[BatchStatistics],
    total: beam.PTransform,
    max_order: int,
    key_type: Any,
    label_suffix: str = "",
) -> PCollection[KeyedSums]:
    """Adds the steps from the counts of batches to their sums.

    This is a function and not a transform, so that consoles show each step by its own name.

    Args:
      statistics: the counts.
      total: the step that maps them to sums of some of them.
      max_order: the largest n-gram order that is counted.
      key_type: the type of the groups' keys; None if all keys are None.
      label_suffix: what the steps' labels end in.
    """
    keyed = typehints.Tuple[typehints.Tuple[str, key_type], CorpusSums]
    return (
        statistics
        | f"Total each batch{label_suffix}" >> total.with_output_types(keyed)
        | f"Add up totals{label_suffix}" >> beam.CombinePerKey(AddUp(max_order))
    )


def sums_of_groups(statistics: BatchStatistics, *, with_units: bool = False) -> Iterator[Any]:
    """The sums of a batch, as ((name of the system, key of the group), sums)."""
    for group in statistics.groups:
        for number, system in enumerate(statistics.systems):
            sums = CorpusSums.of(statistics, number, group.rows, with_units=with_units)
            keyed = (system, group.key), sums
            if group.window is None:
                yield keyed
            else:
                yield WindowedValue(keyed, group.timestamp, (group.window,))


class _TotalWithUnits(beam.DoFn):
    """The sums of a batch, with those of units."""

    def setup(self) -> None:
        # Once in a worker, before its first batch, as for the kernel.
        compile_products()

    def process(self, statistics: BatchStatistics) -> Iterator[Any]:
        yield from sums_of_groups(statistics, with_units=True)


class AddUp(beam.CombineFn):
    """Adds up `CorpusSums`.

    The accumulator is a frozen `CorpusSums`, so neither an input nor another
    accumulator is ever changed, and any split and order gives the same sum.
    """

    def __init__(self, max_order: int) -> None:
        self._max_order = max_order

    def create_accumulator(self) -> CorpusSums:
        return CorpusSums.zero(self._max_order)

    def add_input(self, accumulator: CorpusSums, sums: CorpusSums) -> CorpusSums:
        return accumulator + sums

    def merge_accumulators(self, accumulators: Iterable[CorpusSums]) -> CorpusSums:
        return sum(accumulators, start=self.create_accumulator())

    def extract_output(self, accumulator: CorpusSums) -> CorpusSums:
        return accumulator
