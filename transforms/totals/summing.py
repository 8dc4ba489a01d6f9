"""The steps from the statistics of batches to sums of bundles, and of groups."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics, MetricStatistics
from beam_bleu.transforms.totals.adding import Adder, Adding
from beam_bleu.transforms.totals.corpus_sums import (
    CorpusSums,
    MetricSums,
    metric_sums_of_each_system,
)
from beam_bleu.transforms.totals.products import compile_products
from beam_bleu.transforms.totals.system_sums import ComparedPair, SystemSums
from beam_bleu.transforms.wiring.add_up import AddUp, NamedSums, giving_sums
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = [
    "KeyedSums",
    "SumBundles",
    "SumGroups",
    "sum_batches",
    "sum_groups",
    "sum_groups_of_metrics",
    "sum_groups_of_systems",
    "sums_of_each_system",
]

KeyedSums = tuple[tuple[str, Any], CorpusSums]
"""((name of the system, key of the group), sums)."""


def sum_batches(
    statistics: PCollection[BatchStatistics],
    name: str,
    adding: Adding,
    step: Step = unchanged,
    *,
    threads: int = 1,
) -> PCollection[NamedSums]:
    """Adds the step from `BatchStatistics` to parts of their sums.

    This is no transform, so that consoles show each step by its own name. `add_up` adds up what
    several of these steps give.

    Args:
      statistics: the statistics of batches, all in the global window.
      name: what is added up, as in `NamedSums` and in the step's label.
      adding: how.
      step: the function that makes a step of the DoFn that adds up.
      threads: the number of threads of a worker that add up.
    """
    return statistics | f"Sum the {name}" >> giving_sums(step(SumBundles(name, adding, threads)))


def sum_groups(
    statistics: PCollection[BatchStatistics],
    key_type: Any,
    *,
    with_products: bool = False,
) -> PCollection[KeyedSums]:
    """Adds the steps from `BatchStatistics` to the sums of each system and group.

    Args:
      statistics: the statistics of batches.
      key_type: the type of the groups' keys. Beam uses it to find their coder.
      with_products: whether the sums have products, for the uncertainty of each group's score.
    """
    of_group = functools.partial(sums_of_each_system, with_products=with_products)
    keyed = typehints.Tuple[typehints.Tuple[str, key_type], CorpusSums]
    return _sum_groups(statistics, SumGroups(of_group, with_products=with_products), keyed)


def sums_of_each_system(
    statistics: BatchStatistics, group: RowGroup, *, with_products: bool = False
) -> Iterator[KeyedSums]:
    """The sums of a group of a batch, for each system."""
    for number, system in enumerate(statistics.systems):
        sums = CorpusSums.of(statistics, number, group.rows, with_products=with_products)
        yield (system, group.key), sums


def sum_groups_of_metrics(
    statistics: PCollection[MetricStatistics],
    key_type: Any,
    *,
    with_products: bool = False,
) -> PCollection[tuple[tuple[str, Any], MetricSums]]:
    """The same for several metrics: the steps to the `MetricSums` of each system and group."""
    of_group = functools.partial(metric_sums_of_each_system, with_products=with_products)
    keyed = typehints.Tuple[typehints.Tuple[str, key_type], MetricSums]
    return _sum_groups(statistics, SumGroups(of_group, with_products=with_products), keyed)


def sum_groups_of_systems(
    statistics: PCollection[BatchStatistics],
    pairs: tuple[ComparedPair, ...],
    key_type: Any,
) -> PCollection[tuple[Any, SystemSums]]:
    """Adds the steps from `BatchStatistics` to (key of the group, `SystemSums`).

    Args:
      statistics: the statistics of batches. All have the same systems in the same order.
      pairs: the pairs of systems that are compared.
      key_type: the type of the groups' keys; None if all keys are None.
    """
    keyed = typehints.Tuple[key_type, SystemSums]
    summing = SumGroups(functools.partial(_sums_of_all_systems, pairs), with_products=True)
    return _sum_groups(statistics, summing, keyed)


def _sums_of_all_systems(
    pairs: tuple[ComparedPair, ...], statistics: BatchStatistics, group: RowGroup
) -> Iterator[tuple[Any, SystemSums]]:
    yield group.key, SystemSums.of(statistics, pairs, group.rows)


def _sum_groups(statistics: PCollection[Any], summing: SumGroups, keyed: Any) -> PCollection[Any]:
    """The sums of each group; none of groups without a segment.

    A trigger can fire when nothing has come since the last time, for example at the end of a
    window whose segments were all in an early pane that was discarded. Then Beam gives the sum
    of nothing, which would have a score of 0.
    """
    return (
        statistics
        | "Sum each group" >> beam.ParDo(summing).with_output_types(keyed)
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(keyed)
        | "Leave out empty panes" >> beam.Filter(_has_segments)
    )


def _has_segments(keyed: tuple[Any, CorpusSums | MetricSums | SystemSums | None]) -> bool:
    _, sums = keyed
    return sums is not None and bool(sums.segments)


class SumBundles(CollectBundles):
    """Adds up each bundle of `BatchStatistics`, to `NamedSums`.

    Args:
      name: what is added up.
      adding: how.
      threads: the number of threads of a worker that add up.
    """

    def __init__(self, name: str, adding: Adding, threads: int = 1) -> None:
        super().__init__(threads)
        self._name = name
        self._adding = adding

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        self._adding.compile_adder()

    def new_collector(self) -> Adder:
        return self._adding.new_adder()

    def collected(self, collector: Adder) -> Iterable[NamedSums]:
        return [((self._name, system), sums) for system, sums in collector.by_system().items()]


class SumGroups(beam.DoFn):
    """Adds up each group of a batch, to (key, sums), in the window of the group.

    Args:
      sums_of: the sums of a group of a batch.
      with_products: whether these have sums of products.
    """

    def __init__(
        self,
        sums_of: Callable[[Any, RowGroup], Iterable[tuple[Any, Any]]],
        *,
        with_products: bool,
    ) -> None:
        self._sums_of = sums_of
        self._with_products = with_products

    def setup(self) -> None:
        if self._with_products:
            # Once in a worker, before its first batch, as for the kernel.
            compile_products()

    def process(self, statistics: BatchStatistics | MetricStatistics) -> Iterator[Any]:
        for group in statistics.groups:
            for keyed in self._sums_of(statistics, group):
                if group.window is None:
                    yield keyed
                else:
                    yield WindowedValue(keyed, group.timestamp, (group.window,))
