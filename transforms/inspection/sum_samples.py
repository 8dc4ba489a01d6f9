"""Wires the sample of a corpus (sample.py) to Beam."""

from __future__ import annotations

from collections.abc import Iterable

from apache_beam.pvalue import PCollection

from beam_bleu.transforms.inspection.sample import Sample, largest_number
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.wiring.add_up import NamedSums, giving_sums
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = ["sum_samples"]


def sum_samples(
    batches: PCollection[SegmentBatch], name: str, step: Step = unchanged
) -> PCollection[NamedSums]:
    """Adds the step from batches to parts of the `Sample` of the corpus, under this name."""
    return batches | "Take a sample" >> giving_sums(step(_TakeSamples(name)))


class _TakeSamples(CollectBundles):
    """Collects the samples of the batches of a bundle."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def new_collector(self) -> _Collector:
        return _Collector()

    def collected(self, collector: _Collector) -> Iterable[NamedSums]:
        return [(self._name, collector.total)]


class _Collector:
    """Mutable: the sample of the batches so far.

    A batch waits until the next one is there, which tells that its last segments are not the last
    ones of the corpus. Otherwise the texts of all batches' last segments would be taken.
    """

    def __init__(self) -> None:
        self._sample = Sample()
        self._waiting: SegmentBatch | None = None

    def add(self, batch: SegmentBatch) -> None:
        self._take(largest_number(batch))
        self._waiting = batch

    def _take(self, largest: int) -> None:
        if self._waiting is not None:
            self._sample += Sample.of(self._waiting, largest)

    @property
    def total(self) -> Sample:
        """The sample of all batches."""
        self._take(-1)
        self._waiting = None
        return self._sample
