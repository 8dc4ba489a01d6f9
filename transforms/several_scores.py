"""The library's transforms that score segments by several metrics at once, in any Beam pipeline.

The segments are gathered into batches once, each batch is counted for all metrics, and one sum has
the columns of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.corpus_scores import (
    ScoreGlobally,
    ScorePerKey,
    ScorePerSystem,
    Scoring,
)
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.totals.rejected import DEFAULT_MAX_REJECTED

__all__ = ["CorpusScores"]


class _SeveralMetrics(Scoring):
    """What the transforms of `CorpusScores` do otherwise than those of one metric."""

    _is_single = False

    def _choose(self, config: Any) -> ChosenMetrics:
        return ChosenMetrics.of(config)


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
