"""Wires replicates to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.replicates.replicate_adder import (
    ReplicateAdder,
    compile_replicate_adder,
)
from beam_bleu.transforms.totals.replicates.replicates import Replicates
from beam_bleu.transforms.wiring.coders import giving_keyed_batches
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
      threads: the number of threads of a worker that share the replicates.
    """
    adding = step(SumReplicates(resampling, labels, max_order, documents, threads))
    return (
        statistics
        | "Sum replicates" >> giving_keyed_batches(adding, Replicates)
        | "Add up replicates" >> beam.CombinePerKey(AddUpReplicates())
    )


class SumReplicates(beam.DoFn):
    """Adds up the replicates of each bundle of `BatchStatistics`, to (0, `Replicates`)."""

    def __init__(
        self,
        resampling: Resampling,
        labels: Sequence[str],
        max_order: int,
        documents: str | None = None,
        threads: int = 1,
    ) -> None:
        self._resampling = resampling
        self._labels = tuple(labels)
        self._max_order = max_order
        self._documents = documents
        self._threads = threads

    def setup(self) -> None:
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_replicate_adder()
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None

    def start_bundle(self) -> None:
        self._adder: ReplicateAdder | None = None

    def process(self, statistics: BatchStatistics) -> None:
        if not len(statistics):
            return
        if self._adder is None:
            self._adder = ReplicateAdder(
                self._resampling,
                self._labels,
                self._max_order,
                self._documents,
                self._threads,
                self._pool,
            )
        self._adder.add(statistics)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._adder is not None:
            yield GlobalWindows.windowed_value((0, self._adder.sums()))
            self._adder = None

    def teardown(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


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
