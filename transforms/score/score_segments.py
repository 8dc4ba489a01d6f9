"""Wires segment scores to Beam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.score.segment_scores import compile_segment_scores, segment_scores
from beam_bleu.transforms.statistics.segment_statistics import SegmentStatistics
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["ScoreSegments"]


class ScoreSegments(ThreadedDoFn):
    """Maps each `SegmentStatistics` to a table with a row for each segment and system."""

    def __init__(self, scoring: Scoring, systems: Sequence[str], threads: int) -> None:
        super().__init__(threads)
        self._scoring = scoring
        self._systems = tuple(systems)

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_segment_scores(self._scoring)

    def work(self, statistics: SegmentStatistics) -> Iterable[pa.Table]:
        return [segment_scores(statistics, self._scoring, self._systems)]
