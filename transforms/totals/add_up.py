"""Wires the addition of corpus sums to Beam: the way from batches to sums."""

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
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.by_language import LanguageLabel
from beam_bleu.transforms.statistics.count_matches import count_matches
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.products import compile_products
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["AddUp", "Counted", "count_and_add_up", "sums_of_groups"]


@dataclasses.dataclass(frozen=True)
class Counted:
    """The counts of batches of segments.

    Attributes:
      statistics: PCollection of `BatchStatistics`, one for each batch.
      sums: PCollection of ((name of the system, key of the group), `CorpusSums`).
    """

    statistics: PCollection[BatchStatistics]
    sums: PCollection[tuple[tuple[str, Any], CorpusSums]]


def count_and_add_up(
    batches: PCollection[SegmentBatch],
    text: Text,
    max_order: int,
    threads: int,
    key_type: Any,
    step: Step = unchanged,
    *,
    languages: LanguageLabel | None = None,
    variant: str = "",
    with_units: bool = False,
) -> Counted:
    """Adds the steps that count batches of segments and add the counts up.

    This is a function and not a transform, so that consoles show each step by its own name.

    Args:
      batches: the batches.
      text: how texts become tokens. If a tokenizer has a model, it is sent only with this step.
      max_order: the largest n-gram order that is counted.
      threads: the number of threads with which a worker counts.
      key_type: the type of the groups' keys. Beam uses it to find their coder. None if all keys
        are None.
      step: the function that makes a step of the DoFn that counts.
      languages: where the segments have their languages, if each language has its own tokenizer.
        Then sums over several languages are only good for checks.
      variant: if these batches are counted in several ways, the name of this way, for the steps'
        labels. It is "" for one of the ways: only this one changes Beam's metrics.
      with_units: whether the sums have those of units, for the uncertainty of each group's score.
    """
    total = beam.ParDo(_TotalWithUnits()) if with_units else beam.FlatMap(sums_of_groups)
    suffix = f" ({variant})" if variant else ""
    statistics = batches | f"Count matches{suffix}" >> count_matches(
        text, max_order, threads, step, languages=languages, metrics=not variant
    )
    sums = (
        statistics
        | f"Total each batch{suffix}"
        >> total.with_output_types(typehints.Tuple[typehints.Tuple[str, key_type], CorpusSums])
        | f"Add up totals{suffix}" >> beam.CombinePerKey(AddUp(max_order))
    )
    return Counted(statistics, sums)


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
