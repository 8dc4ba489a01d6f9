"""Wires the sample of a corpus (sample.py) to Beam."""

from __future__ import annotations

from collections.abc import Iterable

from apache_beam.pvalue import PCollection

from beam_bleu.transforms.inspection.sample import Sampling
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.wiring.steps import NamedSums, Step, giving_sums, unchanged
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

    def new_collector(self) -> Sampling:
        return Sampling()

    def collected(self, collector: Sampling) -> Iterable[NamedSums]:
        return [(self._name, collector.total)]
