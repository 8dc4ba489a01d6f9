"""The sums over the same segments for several metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.wiring.sums import Sums


@dataclasses.dataclass(frozen=True)
class MetricSums(Sums):
    """The sums over any number of segments of one system, for several metrics.

    One value has all of them, so that no trigger of a pipeline can fire for one metric alone.

    Attributes:
      metrics: the sums of each metric.
    """

    metrics: tuple[CorpusSums, ...]

    @property
    def segments(self) -> int:
        """The number of segments, which is the same for each metric."""
        return self.metrics[0].segments

    def __add__(self, other: MetricSums) -> MetricSums:
        return MetricSums(
            tuple(one + more for one, more in zip(self.metrics, other.metrics, strict=True))
        )


def metric_sums_of_each_system(
    statistics: MetricStatistics, group: RowGroup, *, with_products: bool = False
) -> Iterator[tuple[tuple[str, object], MetricSums]]:
    """The sums of a group of a batch, for each system: ((name of the system, key), sums)."""
    for number, system in enumerate(statistics.systems):
        sums = (
            CorpusSums.of(of_metric, number, group.rows, with_products=with_products)
            for of_metric in statistics.metrics
        )
        yield (system, group.key), MetricSums(tuple(sums))
