"""Wires the scores of segments (segment_table.py) to Beam."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.segment_table import compile_segment_table, segment_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["ScoreSegments"]


class ScoreSegments(ThreadedDoFn):
    """Maps each `BatchStatistics` to a table with a row for each segment and system.

    Args:
      name: the metric's name.
      place: the place of the metric in `BatchStatistics.counts`.
      metric: its definition, for single segments.
      schema: the columns of the table.
      threads: the number of threads of a worker.
    """

    def __init__(
        self,
        name: str,
        place: int,
        metric: Metric,
        schema: pa.Schema,
        threads: int,
    ) -> None:
        super().__init__(threads)
        self._name = name
        self._place = place
        self._metric = metric
        self._schema = schema

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_segment_table(self._metric)

    def work(self, statistics: BatchStatistics) -> Iterable[pa.Table]:
        return [segment_table(statistics, self._place, self._name, self._metric, self._schema)]
