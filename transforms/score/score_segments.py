"""Wires the scores of segments (segment_table.py) to Beam."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.score.segment_table import compile_segment_table, segment_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["ScoreSegments"]


class ScoreSegments(ThreadedDoFn):
    """Maps each `BatchStatistics` to a table with a row for each segment and system.

    Args:
      name: the metric's name.
      kind_of: finds the metric by its name.
      metric: its definition, for single segments.
      schema: the columns of the table.
      threads: the number of threads of a worker.
    """

    def __init__(
        self,
        name: str,
        kind_of: Callable[[str], MetricKind],
        metric: Any,
        schema: pa.Schema,
        threads: int,
    ) -> None:
        super().__init__(threads)
        self._name = name
        self._kind_of = kind_of
        self._metric = metric
        self._schema = schema

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_segment_table(self._kind_of(self._name), self._metric)

    def work(self, statistics: BatchStatistics) -> Iterable[pa.Table]:
        kind = self._kind_of(self._name)
        return [segment_table(statistics, self._name, kind, self._metric, self._schema)]
