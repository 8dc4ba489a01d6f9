"""Wires the sums of slices to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.slice_adder import SliceAdder, compile_slice_adder
from beam_bleu.transforms.totals.slice_sums import SliceSums
from beam_bleu.transforms.wiring.coders import giving_keyed_batches
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["AddUpSlices", "SumSlices", "sum_slices"]


def sum_slices(
    statistics: PCollection[BatchStatistics],
    slicing: Slicing,
    labels: Sequence[str],
    max_order: int,
    step: Step = unchanged,
    *,
    variant: str = "",
) -> PCollection[tuple[int, SliceSums]]:
    """Adds the steps from `BatchStatistics` to one (0, `SliceSums`), or none if there is no batch.

    Args:
      statistics: the statistics of batches, all in the global window.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      max_order: the largest n-gram order that is counted.
      step: the function that makes a step of the DoFn that adds up.
      variant: as for `count_and_add_up`.
    """
    suffix = f" ({variant})" if variant else ""
    adding = step(SumSlices(slicing, labels, max_order))
    return (
        statistics
        | f"Sum slices{suffix}" >> giving_keyed_batches(adding, SliceSums)
        | f"Add up slices{suffix}" >> beam.CombinePerKey(AddUpSlices(slicing.most, max_order))
    )


class SumSlices(beam.DoFn):
    """Adds up the slices of each bundle of `BatchStatistics`, to (0, `SliceSums`)."""

    def __init__(self, slicing: Slicing, labels: Sequence[str], max_order: int) -> None:
        self._slicing = slicing
        self._labels = tuple(labels)
        self._max_order = max_order

    def setup(self) -> None:
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_slice_adder()

    def start_bundle(self) -> None:
        self._adder: SliceAdder | None = None

    def process(self, statistics: BatchStatistics) -> None:
        if self._adder is None:
            self._adder = SliceAdder(self._slicing, self._labels, self._max_order)
        self._adder.add(statistics)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._adder is not None:
            yield GlobalWindows.windowed_value((0, self._adder.sums()))
            self._adder = None


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
