"""The library's transforms that score segments by several metrics at once, in any Beam pipeline.

The segments are gathered into batches once, each batch is counted for all metrics, and one sum has
the columns of all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.chosen_metrics import definitions_of
from beam_bleu.transforms.corpus_scores import (
    ScoreGlobally,
    ScorePerKey,
    ScorePerSystem,
    Scoring,
)
from beam_bleu.transforms.known_metrics import Definition, MetricWord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_steps import count_metrics
from beam_bleu.transforms.statistics.counting import Counter
from beam_bleu.transforms.totals.rejected import DEFAULT_MAX_REJECTED
from beam_bleu.transforms.totals.summing import SeveralTotals, sum_groups_of_metrics

__all__ = ["CorpusScores"]


@dataclasses.dataclass(frozen=True)
class _Definitions:
    """The definitions of several metrics.

    Attributes:
      metrics: one of each metric, in the order of the scores.
    """

    metrics: tuple[Definition, ...]

    def score(self, totals: SeveralTotals) -> dict[str, Score]:
        """The score of each metric, by its name."""
        pairs = zip(self.metrics, totals.metrics, strict=True)
        return {definition.name: definition.score(of_metric) for definition, of_metric in pairs}


class _SeveralMetrics(Scoring):
    """What the transforms of `CorpusScores` do otherwise than those of one metric."""

    def _define(self, metrics: Any) -> None:
        defined = definitions_of(metrics)
        self._texts = tuple(text for text, _ in defined)
        self._definitions = _Definitions(tuple(definition for _, definition in defined))

    @property
    def _scorer(self) -> _Definitions:
        return self._definitions

    @property
    def _counters(self) -> list[Counter]:
        return [definition.counter for definition in self._definitions.metrics]

    @property
    def _score_type(self) -> Any:
        return typehints.Dict[str, Any]

    def _sums_of_batches(
        self, batches: PCollection[SegmentBatch], key_type: Any
    ) -> PCollection[tuple[tuple[str, Any], SeveralTotals]]:
        counting = count_metrics(list(zip(self._texts, self._counters, strict=True)), threads=1)
        statistics = batches | "Count matches" >> counting
        return sum_groups_of_metrics(
            statistics,
            [counter.basis for counter in self._counters],
            key_type,
            with_products=self._uncertainty,
        )


class CorpusScores:
    """The scores of a corpus by several metrics, in one pass over its segments.

    `metrics` is a list of names, such as "bleu", and of configs, such as `ChrfConfig(beta=1)`; each
    metric can be there once. The result is a dict: the score of each metric by its name, in this
    order, each one the same as that of `CorpusScore`. Everything else is as for `CorpusBleu`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import ChrfConfig, CorpusScores
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScores.Globally(metrics=["bleu", ChrfConfig(word_order=2), "ter"])
      ...         | beam.Map(lambda scores: {name: round(scores[name].score, 2) for name in scores})
      ...         | beam.Map(print)
      ...     )
      {'bleu': 75.98, 'chrf': 87.19, 'ter': 16.67}
    """

    class Globally(_SeveralMetrics, ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one dict of scores."""

        def __init__(
            self,
            metrics: Sequence[MetricWord | Any],
            *,
            columns: ArrowColumns | None = None,
            uncertainty: bool = True,
        ) -> None:
            super().__init__(metrics, columns=columns, uncertainty=uncertainty)

    class PerKey(_SeveralMetrics, ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, dict of scores)."""

        def __init__(
            self,
            metrics: Sequence[MetricWord | Any],
            *,
            columns: ArrowColumns | None = None,
            uncertainty: bool = True,
        ) -> None:
            super().__init__(metrics, columns=columns, uncertainty=uncertainty)

    class PerSystem(_SeveralMetrics, ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, dict of scores).

        See `CorpusBleu.PerSystem`.
        """

        def __init__(
            self,
            metrics: Sequence[MetricWord | Any],
            *,
            max_rejected: float = DEFAULT_MAX_REJECTED,
            uncertainty: bool = True,
        ) -> None:
            super().__init__(metrics, max_rejected=max_rejected, uncertainty=uncertainty)
