"""Wires the sums of slices to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apache_beam as beam
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.slice_adder import SliceAdder, compile_slice_adder
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.totals.slice_sums import SliceSums
from beam_bleu.transforms.wiring.bundles import CollectBundles
from beam_bleu.transforms.wiring.coders import giving_keyed_batches
from beam_bleu.transforms.wiring.keyed import keyed
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["AddUpSlices", "SumSlices", "sum_slices"]


def sum_slices(
    statistics: PCollection[BatchStatistics],
    slicing: Slicing,
    labels: Sequence[str],
    max_order: int,
    step: Step = unchanged,
    *,
    threads: int = 1,
) -> PCollection[tuple[int, SliceSums]]:
    """Adds the steps from `BatchStatistics` to one (0, `SliceSums`), or none if there is no batch.

    Args:
      statistics: the statistics of batches, all in the global window.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      max_order: the largest n-gram order that is counted.
      step: the function that makes a step of the DoFn that adds up.
      threads: the number of threads of a worker that add up.
    """
    adding = step(SumSlices(slicing, labels, max_order, threads))
    return (
        statistics
        | "Sum slices" >> giving_keyed_batches(adding, SliceSums)
        | "Add up slices" >> beam.CombinePerKey(AddUpSlices(slicing.most, max_order))
    )


class SumSlices(CollectBundles):
    """Adds up the slices of each bundle of `BatchStatistics`, to (0, `SliceSums`)."""

    def __init__(
        self, slicing: Slicing, labels: Sequence[str], max_order: int, threads: int
    ) -> None:
        super().__init__(threads)
        self._slicing = slicing
        self._labels = tuple(labels)
        self._max_order = max_order

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_slice_adder()

    def new_collector(self) -> SliceAdder:
        return SliceAdder(SliceNumbering(self._slicing, self._labels), self._max_order)

    def collected(self, collector: SliceAdder) -> list[tuple[int, SliceSums]]:
        return [keyed(collector.sums())]


class AddUpSlices(beam.CombineFn):
    """Adds up `SliceSums`. If there are too many slices, the last step of the job finds it."""

    def __init__(self, most: int, max_order: int) -> None:
        self._most = most
        self._max_order = max_order

    def create_accumulator(self) -> SliceSums:
        return SliceSums.zero(self._max_order)

    def add_input(self, accumulator: SliceSums, sums: SliceSums) -> SliceSums:
        return accumulator.added(sums, self._most)

    def merge_accumulators(self, accumulators: Iterable[SliceSums]) -> SliceSums:
        total = self.create_accumulator()
        for each in accumulators:
            total = total.added(each, self._most)
        return total

    def extract_output(self, accumulator: SliceSums) -> SliceSums:
        return accumulator
