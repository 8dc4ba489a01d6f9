"""Wires the moments to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apache_beam as beam
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.moments_adder import MomentsAdder, compile_moments
from beam_bleu.transforms.totals.moments.sum_document_moments import moments_of_documents
from beam_bleu.transforms.wiring.bundles import CollectBundles
from beam_bleu.transforms.wiring.coders import giving_keyed_batches
from beam_bleu.transforms.wiring.keyed import keyed
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["AddUpMoments", "SumMoments", "sum_moments"]


def sum_moments(
    statistics: PCollection[BatchStatistics],
    slicing: Slicing,
    labels: Sequence[str],
    max_order: int,
    step: Step = unchanged,
    *,
    baseline: str | None = None,
    with_all_pairs: bool = False,
    documents: str | None = None,
    threads: int = 1,
) -> PCollection[tuple[int, Moments]]:
    """Adds the steps from `BatchStatistics` to one (0, `Moments`), or none if there is no batch.

    Args:
      statistics: the statistics of batches, all in the global window.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      max_order: the largest n-gram order that is counted.
      step: the function that makes a step of the DoFn that adds up.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
      documents: the label with the document of each segment; None if each segment is a unit.
      threads: the number of threads of a worker that add up.
    """
    if documents is None:
        adding = step(SumMoments(slicing, labels, max_order, baseline, with_all_pairs, threads))
        moments = statistics | "Sum products" >> giving_keyed_batches(adding, Moments)
    else:
        moments = moments_of_documents(
            statistics,
            slicing,
            labels,
            max_order,
            step,
            documents=documents,
            baseline=baseline,
            with_all_pairs=with_all_pairs,
        )
    return moments | "Add up products" >> beam.CombinePerKey(AddUpMoments(slicing.most, max_order))


class SumMoments(CollectBundles):
    """Adds up the moments of each bundle of `BatchStatistics`, to (0, `Moments`)."""

    def __init__(
        self,
        slicing: Slicing,
        labels: Sequence[str],
        max_order: int,
        baseline: str | None,
        with_all_pairs: bool,
        threads: int,
    ) -> None:
        super().__init__(threads)
        self._slicing = slicing
        self._labels = tuple(labels)
        self._max_order = max_order
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_moments()

    def new_collector(self) -> MomentsAdder:
        return MomentsAdder(
            self._slicing,
            self._labels,
            self._max_order,
            self._baseline,
            with_all_pairs=self._with_all_pairs,
        )

    def collected(self, collector: MomentsAdder) -> list[tuple[int, Moments]]:
        return [keyed(collector.moments())]


class AddUpMoments(beam.CombineFn):
    """Adds up `Moments`.

    If there are too many slices, only the whole corpus is kept, so that the memory is bounded. The
    job fails then, because the last step sees in the sums of slices that there are too many.
    """

    def __init__(self, most: int, max_order: int) -> None:
        self._most = most
        self._max_order = max_order

    def create_accumulator(self) -> Moments:
        return Moments.zero(self._max_order)

    def add_input(self, accumulator: Moments, moments: Moments) -> Moments:
        total = accumulator.added(moments)
        return total.without_slices() if len(total.keys) - 1 > self._most else total

    def merge_accumulators(self, accumulators: Iterable[Moments]) -> Moments:
        total = self.create_accumulator()
        for each in accumulators:
            total = self.add_input(total, each)
        return total

    def extract_output(self, accumulator: Moments) -> Moments:
        return accumulator
