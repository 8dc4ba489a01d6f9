"""The steps from the statistics of batches to sums: of the corpus, of slices, of products, ..."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics, MetricStatistics
from beam_bleu.transforms.totals.corpus_sums import (
    CorpusSums,
    MetricSums,
    metric_sums_of_each_system,
)
from beam_bleu.transforms.totals.moments.unit_adder import MomentsAdder, compile_moments
from beam_bleu.transforms.totals.products import compile_products
from beam_bleu.transforms.totals.replicates.replicate_adder import (
    ReplicateAdder,
    compile_replicate_adder,
)
from beam_bleu.transforms.totals.slice_adder import CorpusAdder, SliceAdder, compile_slice_adder
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.totals.system_sums import ComparedPair, SystemSums
from beam_bleu.transforms.wiring.add_up import AddUp, NamedSums, giving_sums
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.sums import Sums
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = [
    "Adder",
    "KeyedSums",
    "SumBundles",
    "SumGroups",
    "sum_corpus",
    "sum_groups",
    "sum_groups_of_metrics",
    "sum_groups_of_systems",
    "sum_moments",
    "sum_replicates",
    "sum_slices",
    "sums_of_each_system",
]

KeyedSums = tuple[tuple[str, Any], CorpusSums]
"""((name of the system, key of the group), sums)."""


def sum_corpus(
    statistics: PCollection[BatchStatistics],
    name: str,
    basis: Basis,
    step: Step = unchanged,
    *,
    threads: int = 1,
) -> PCollection[NamedSums]:
    """Adds the step from `BatchStatistics` to parts of the `CorpusSums` of each system.

    This and the next functions are no transforms, so that consoles show each step by its own name.
    `add_up` adds up what all of them give.

    Args:
      statistics: the statistics of batches, all in the global window.
      name: what is added up, as in `NamedSums` and in the step's label.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      threads: the number of threads of a worker that add up.
    """
    new_adder = functools.partial(CorpusAdder, basis.width)
    return _sum(statistics, name, new_adder, compile_slice_adder, step, threads)


def sum_slices(
    statistics: PCollection[BatchStatistics],
    name: str,
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    threads: int = 1,
) -> PCollection[NamedSums]:
    """Adds the step from `BatchStatistics` to parts of the `SliceSums`.

    If there are too many slices, the last step of the job finds it.

    Args:
      statistics: the statistics of batches, all in the global window.
      name: what is added up, as in `NamedSums` and in the step's label.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      threads: the number of threads of a worker that add up.
    """
    new_adder = functools.partial(_slice_adder, slicing, tuple(labels), basis.width)
    return _sum(statistics, name, new_adder, compile_slice_adder, step, threads)


def _slice_adder(slicing: Slicing, labels: tuple[str, ...], width: int) -> SliceAdder:
    return SliceAdder(SliceNumbering(slicing, labels), width, slicing.most)


def sum_moments(
    statistics: PCollection[BatchStatistics],
    name: str,
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    baseline: str | None = None,
    with_all_pairs: bool = False,
    threads: int = 1,
) -> PCollection[NamedSums]:
    """Adds the step from `BatchStatistics` to parts of the `Moments`; each segment is a unit.

    If there are too many slices, only the whole corpus is kept, so that the memory is bounded. The
    job fails then, because the last step sees in the sums of slices that there are too many.

    Args:
      statistics: the statistics of batches, all in the global window.
      name: what is added up, as in `NamedSums` and in the step's label.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
      threads: the number of threads of a worker that add up.
    """
    new_adder = functools.partial(
        MomentsAdder, slicing, tuple(labels), basis, baseline, with_all_pairs=with_all_pairs
    )
    return _sum(statistics, name, new_adder, compile_moments, step, threads)


def sum_replicates(
    statistics: PCollection[BatchStatistics],
    name: str,
    resampling: Resampling,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    documents: str | None = None,
    threads: int = 1,
) -> PCollection[NamedSums]:
    """Adds the step from `BatchStatistics` to parts of the `Replicates`.

    Args:
      statistics: the statistics of batches, all in the global window. All have the same systems.
      name: what is added up, as in `NamedSums` and in the step's label.
      resampling: the replicates.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      documents: the label with the document of each segment; None if each segment is a unit.
      threads: the number of threads of a worker that add up.
    """
    new_adder = functools.partial(ReplicateAdder, resampling, tuple(labels), basis, documents)
    return _sum(statistics, name, new_adder, compile_replicate_adder, step, threads)


def _sum(
    statistics: PCollection[BatchStatistics],
    name: str,
    new_adder: Callable[[], Adder],
    compile_adder: Callable[[], None],
    step: Step,
    threads: int,
) -> PCollection[NamedSums]:
    summing = step(SumBundles(name, new_adder, compile_adder, threads))
    return statistics | f"Sum the {name}" >> giving_sums(summing)


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


class Adder(Protocol):
    """Adds up batches. Mutable."""

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""

    def by_system(self) -> Mapping[str, Sums]:
        """The sums of all batches, by system; by `ALL_SYSTEMS` if they are those of all."""


class SumBundles(CollectBundles):
    """Adds up each bundle of `BatchStatistics`, to `NamedSums`.

    Args:
      name: what is added up.
      new_adder: returns an adder without batches.
      compile_adder: compiles its code, or loads it.
      threads: the number of threads of a worker that add up.
    """

    def __init__(
        self,
        name: str,
        new_adder: Callable[[], Adder],
        compile_adder: Callable[[], None],
        threads: int = 1,
    ) -> None:
        super().__init__(threads)
        self._name = name
        self._new_adder = new_adder
        self._compile_adder = compile_adder

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        self._compile_adder()

    def new_collector(self) -> Adder:
        return self._new_adder()

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
