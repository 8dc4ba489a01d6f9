"""Wires the scores of segments (segment_table.py) to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.bleu.segment_table import bleu_table, compile_bleu_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["ScoreSegments"]


class ScoreSegments(ThreadedDoFn):
    """Maps each `BatchStatistics` to a table with a row for each segment and system."""

    def __init__(self, scoring: Scoring, threads: int, labels: Sequence[str] = ()) -> None:
        super().__init__(threads)
        self._labels = tuple(labels)
        self._scoring = scoring

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_bleu_table(self._scoring)

    def work(self, statistics: BatchStatistics) -> Iterable[pa.Table]:
        return [bleu_table(statistics, self._scoring, self._labels)]
