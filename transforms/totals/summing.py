"""The steps from the statistics of batches to sums: of the corpus, of slices, of products, ..."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.adding import Adder, AddUp, SumBundles, SumGroups
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.moments_adder import MomentsAdder, compile_moments
from beam_bleu.transforms.totals.moments.sum_document_moments import moments_of_documents
from beam_bleu.transforms.totals.replicates.replicate_adder import (
    ReplicateAdder,
    compile_replicate_adder,
)
from beam_bleu.transforms.totals.replicates.replicates import Replicates
from beam_bleu.transforms.totals.slice_adder import CorpusAdder, SliceAdder, compile_slice_adder
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.totals.slice_sums import SliceSums
from beam_bleu.transforms.totals.system_sums import ComparedPair, SystemSums
from beam_bleu.transforms.wiring.coders import BatchCoder
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = [
    "KeyedSums",
    "sum_corpus",
    "sum_groups",
    "sum_groups_of_systems",
    "sum_moments",
    "sum_replicates",
    "sum_slices",
    "sums_of_each_system",
]

KeyedSums = tuple[tuple[str, Any], CorpusSums]
"""((name of the system, key of the group), sums)."""


@dataclasses.dataclass(frozen=True)
class _Kind:
    """A kind of sums of a job.

    Attributes:
      name: what the labels of its steps name.
      type: the type of the sums.
      zero: those of no segment.
      add: returns the sum of two of them.
    """

    name: str
    type: type
    zero: Any
    add: Callable[[Any, Any], Any]


def _sum(
    statistics: PCollection[BatchStatistics],
    kind: _Kind,
    new_adder: Callable[[], Adder],
    compile_adder: Callable[[], None],
    step: Step,
    threads: int,
    label_suffix: str,
) -> PCollection[tuple[int, Any]]:
    """Adds the steps from `BatchStatistics` to one (0, sums), or none if there is no batch."""
    summing = step(SumBundles(new_adder, compile_adder, threads))
    parts = statistics | f"Sum {kind.name}{label_suffix}" >> beam.ParDo(summing)
    return _added_up(parts, kind, label_suffix)


def _added_up(
    parts: PCollection[Any], kind: _Kind, label_suffix: str
) -> PCollection[tuple[int, Any]]:
    keyed = typehints.Tuple[int, kind.type]
    typecoders.registry.register_coder(kind.type, BatchCoder)
    parts.element_type = keyed
    adding = beam.CombinePerKey(AddUp(kind.zero, kind.add)).with_output_types(keyed)
    return parts | f"Add up {kind.name}{label_suffix}" >> adding


def sum_corpus(
    statistics: PCollection[BatchStatistics],
    basis: Basis,
    step: Step = unchanged,
    *,
    threads: int = 1,
    label_suffix: str = "",
) -> PCollection[KeyedSums]:
    """Adds the steps from `BatchStatistics` to ((name of the system, None), `CorpusSums`).

    This is a function and not a transform, so that consoles show each step by its own name.

    Args:
      statistics: the statistics of batches, all in the global window.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      threads: the number of threads of a worker that add up.
      label_suffix: what the steps' labels end in.
    """
    summing = SumBundles(functools.partial(CorpusAdder, basis.width), compile_slice_adder, threads)
    return _sums_by_key(statistics, beam.ParDo(step(summing)), basis, None, label_suffix)


def sum_slices(
    statistics: PCollection[BatchStatistics],
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    threads: int = 1,
    label_suffix: str = "",
) -> PCollection[tuple[int, SliceSums]]:
    """Adds the steps from `BatchStatistics` to one (0, `SliceSums`), or none if there is no batch.

    If there are too many slices, the last step of the job finds it.

    Args:
      statistics: the statistics of batches, all in the global window.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      threads: the number of threads of a worker that add up.
      label_suffix: what the steps' labels end in.
    """
    adding = functools.partial(SliceSums.added, most=slicing.most)
    return _sum(
        statistics,
        _Kind("slices", SliceSums, SliceSums.zero(basis.width), adding),
        functools.partial(_slice_adder, slicing, tuple(labels), basis.width),
        compile_slice_adder,
        step,
        threads,
        label_suffix,
    )


def _slice_adder(slicing: Slicing, labels: tuple[str, ...], width: int) -> SliceAdder:
    return SliceAdder(SliceNumbering(slicing, labels), width)


def sum_moments(
    statistics: PCollection[BatchStatistics],
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    baseline: str | None = None,
    with_all_pairs: bool = False,
    documents: str | None = None,
    threads: int = 1,
    label_suffix: str = "",
) -> PCollection[tuple[int, Moments]]:
    """Adds the steps from `BatchStatistics` to one (0, `Moments`), or none if there is no batch.

    If there are too many slices, only the whole corpus is kept, so that the memory is bounded. The
    job fails then, because the last step sees in the sums of slices that there are too many.

    Args:
      statistics: the statistics of batches, all in the global window.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
      documents: the label with the document of each segment; None if each segment is a unit.
      threads: the number of threads of a worker that add up.
      label_suffix: what the steps' labels end in.
    """
    adding = functools.partial(Moments.added, most=slicing.most)
    kind = _Kind("products", Moments, Moments.zero(basis.width), adding)
    if documents is not None:
        moments = moments_of_documents(
            statistics,
            slicing,
            labels,
            basis,
            step,
            documents=documents,
            baseline=baseline,
            with_all_pairs=with_all_pairs,
            label_suffix=label_suffix,
        )
        return _added_up(moments, kind, label_suffix)
    new_adder = functools.partial(
        MomentsAdder, slicing, tuple(labels), basis, baseline, with_all_pairs=with_all_pairs
    )
    return _sum(statistics, kind, new_adder, compile_moments, step, threads, label_suffix)


def sum_replicates(
    statistics: PCollection[BatchStatistics],
    resampling: Resampling,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    documents: str | None = None,
    threads: int = 1,
    label_suffix: str = "",
) -> PCollection[tuple[int, Replicates]]:
    """Adds the steps from `BatchStatistics` to one (0, `Replicates`), or none without a batch.

    Args:
      statistics: the statistics of batches, all in the global window. All have the same systems.
      resampling: the replicates.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn that adds up.
      documents: the label with the document of each segment; None if each segment is a unit.
      threads: the number of threads of a worker that add up.
      label_suffix: what the steps' labels end in.
    """
    zero = Replicates.zero(resampling, basis.width, ())
    return _sum(
        statistics,
        _Kind("replicates", Replicates, zero, Replicates.added),
        functools.partial(ReplicateAdder, resampling, tuple(labels), basis, documents),
        compile_replicate_adder,
        step,
        threads,
        label_suffix,
    )


def sum_groups(
    statistics: PCollection[BatchStatistics],
    basis: Basis,
    key_type: Any,
    *,
    with_units: bool = False,
) -> PCollection[KeyedSums]:
    """Adds the steps from `BatchStatistics` to the sums of each system and group.

    Args:
      statistics: the statistics of batches.
      basis: the columns of the metric.
      key_type: the type of the groups' keys. Beam uses it to find their coder.
      with_units: whether the sums have those of units, for the uncertainty of each group's score.
    """
    of_group = functools.partial(sums_of_each_system, with_units=with_units)
    summing = SumGroups(of_group, with_products=with_units)
    return _without_empty_panes(_sums_by_key(statistics, beam.ParDo(summing), basis, key_type))


def sums_of_each_system(
    statistics: BatchStatistics, group: RowGroup, *, with_units: bool = False
) -> Iterator[KeyedSums]:
    """The sums of a group of a batch, for each system."""
    for number, system in enumerate(statistics.systems):
        sums = CorpusSums.of(statistics, number, group.rows, with_units=with_units)
        yield (system, group.key), sums


def sum_groups_of_systems(
    statistics: PCollection[BatchStatistics],
    basis: Basis,
    systems: int,
    pairs: tuple[ComparedPair, ...],
    key_type: Any,
) -> PCollection[tuple[Any, SystemSums]]:
    """Adds the steps from `BatchStatistics` to (key of the group, `SystemSums`).

    Args:
      statistics: the statistics of batches. All have the same systems in the same order.
      basis: the columns of the metric.
      systems: the number of systems.
      pairs: the pairs of systems that are compared.
      key_type: the type of the groups' keys; None if all keys are None.
    """
    keyed = typehints.Tuple[key_type, SystemSums]
    summing = SumGroups(functools.partial(_sums_of_all_systems, pairs), with_products=True)
    zero = SystemSums.zero(basis.width, systems, pairs)
    return _without_empty_panes(
        statistics
        | "Total each batch" >> beam.ParDo(summing).with_output_types(keyed)
        | "Add up totals" >> beam.CombinePerKey(AddUp(zero)).with_output_types(keyed)
    )


def _sums_of_all_systems(
    pairs: tuple[ComparedPair, ...], statistics: BatchStatistics, group: RowGroup
) -> Iterator[tuple[Any, SystemSums]]:
    yield group.key, SystemSums.of(statistics, pairs, group.rows)


def _sums_by_key(
    statistics: PCollection[BatchStatistics],
    total: beam.ParDo,
    basis: Basis,
    key_type: Any,
    label_suffix: str = "",
) -> PCollection[KeyedSums]:
    keyed = typehints.Tuple[typehints.Tuple[str, key_type], CorpusSums]
    adding = beam.CombinePerKey(AddUp(CorpusSums.zero(basis.width))).with_output_types(keyed)
    return (
        statistics
        | f"Total each batch{label_suffix}" >> total.with_output_types(keyed)
        | f"Add up totals{label_suffix}" >> adding
    )


def _without_empty_panes(sums: PCollection[Any]) -> PCollection[Any]:
    """Leaves out sums of no segment.

    A trigger can fire when nothing has come since the last time, for example at the end of a
    window whose segments were all in an early pane that was discarded. Then Beam gives the sums
    of nothing, and their score would be 0.
    """
    return sums | "Leave out empty panes" >> beam.Filter(_has_segments)


def _has_segments(keyed: tuple[Any, Any]) -> bool:
    _, sums = keyed
    return bool(sums.segments)
