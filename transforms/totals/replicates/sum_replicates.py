"""Wires replicates to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apache_beam as beam
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.replicates.replicate_adder import (
    ReplicateAdder,
    compile_replicate_adder,
    require_same_systems,
)
from beam_bleu.transforms.totals.replicates.replicates import Replicates
from beam_bleu.transforms.wiring.bundles import CollectBundles
from beam_bleu.transforms.wiring.coders import giving_keyed_batches
from beam_bleu.transforms.wiring.keyed import keyed
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["AddUpReplicates", "SumReplicates", "sum_replicates"]


def sum_replicates(
    statistics: PCollection[BatchStatistics],
    resampling: Resampling,
    labels: Sequence[str],
    max_order: int,
    step: Step = unchanged,
    *,
    documents: str | None = None,
    threads: int = 1,
) -> PCollection[tuple[int, Replicates]]:
    """Adds the steps from `BatchStatistics` to one (0, `Replicates`), or none without a batch.

    Args:
      statistics: the statistics of batches, all in the global window. All have the same systems.
      resampling: the replicates.
      labels: the names of the columns of `BatchStatistics.labels`.
      max_order: the largest n-gram order that is counted.
      step: the function that makes a step of the DoFn that adds up.
      documents: the label with the document of each segment; None if each segment is a unit.
      threads: the number of threads of a worker that add up.
    """
    adding = step(SumReplicates(resampling, labels, max_order, documents, threads))
    return (
        statistics
        | "Sum replicates" >> giving_keyed_batches(adding, Replicates)
        | "Add up replicates" >> beam.CombinePerKey(AddUpReplicates())
    )


class SumReplicates(CollectBundles):
    """Adds up the replicates of each bundle of `BatchStatistics`, to (0, `Replicates`)."""

    def __init__(
        self,
        resampling: Resampling,
        labels: Sequence[str],
        max_order: int,
        documents: str | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(threads)
        self._resampling = resampling
        self._labels = tuple(labels)
        self._max_order = max_order
        self._documents = documents

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_replicate_adder()

    def start_bundle(self) -> None:
        super().start_bundle()
        self._systems: tuple[str, ...] = ()

    def process(self, element: BatchStatistics) -> None:
        if len(element):
            # Here, because batches with other systems can come to another adder.
            self._systems = self._systems or element.systems
            require_same_systems(self._systems, element.systems)
            super().process(element)

    def new_collector(self) -> ReplicateAdder:
        return ReplicateAdder(self._resampling, self._labels, self._max_order, self._documents)

    def collected(self, collector: ReplicateAdder) -> list[tuple[int, Replicates]]:
        return [keyed(collector.sums())]


class AddUpReplicates(beam.CombineFn):
    """Adds up `Replicates`. Before the first of them, the accumulator is None."""

    def create_accumulator(self) -> Replicates | None:
        return None

    def add_input(self, accumulator: Replicates | None, replicates: Replicates) -> Replicates:
        return replicates if accumulator is None else accumulator.added(replicates)

    def merge_accumulators(self, accumulators: Iterable[Replicates | None]) -> Replicates | None:
        total = None
        for each in accumulators:
            if each is not None:
                total = self.add_input(total, each)
        return total

    def extract_output(self, accumulator: Replicates | None) -> Replicates | None:
        return accumulator
