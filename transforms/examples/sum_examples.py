"""Wires the examples of batches (picking.py) to Beam."""

from __future__ import annotations

from collections.abc import Iterable

from apache_beam.pvalue import PCollection

from beam_bleu.transforms.examples.picked import Picked
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.wiring.add_up import NamedSums, giving_sums
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = ["sum_examples"]


def sum_examples(
    statistics: PCollection[MetricStatistics], name: str, number: int, step: Step = unchanged
) -> PCollection[NamedSums]:
    """Adds the step from `MetricStatistics` to parts of the `Picked` of the corpus.

    Args:
      statistics: the statistics of batches, with what was picked of them.
      name: what is added up, as in `NamedSums` and in the step's label.
      number: the most examples of each kind.
      step: the function that makes a step of the DoFn that adds up.
    """
    return statistics | f"Sum the {name}" >> giving_sums(step(_SumPicked(name, number)))


class _SumPicked(CollectBundles):
    """Adds up what was picked of each bundle of `MetricStatistics`."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__()
        self._name = name
        self._number = number

    def new_collector(self) -> _Collector:
        return _Collector(Picked(self._number))

    def collected(self, collector: _Collector) -> Iterable[NamedSums]:
        return [(self._name, collector.total)]


class _Collector:
    """Mutable: the examples of the batches so far."""

    def __init__(self, total: Picked) -> None:
        self.total = total

    def add(self, statistics: MetricStatistics) -> None:
        assert isinstance(statistics.picked, Picked)
        self.total += statistics.picked
