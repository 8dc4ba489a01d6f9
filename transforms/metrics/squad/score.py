"""Exact match and token F1 of a corpus, with signature and warnings, and of each segment."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.metric import Presentation, Scores
from beam_bleu.transforms.metrics.squad import presentation
from beam_bleu.transforms.metrics.squad.columns import (
    CANDIDATE_LENGTH,
    COMMON,
    EXACT,
    REFERENCE_LENGTH,
)
from beam_bleu.transforms.metrics.squad.metric import ExactMatch, TokenF1
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.text import (
    CASES,
    TextName,
    own_signature,
    reference_field,
)


@dataclasses.dataclass(frozen=True, repr=False)
class ExactMatchScore(Score):
    """Exact match and its parts. `Score` explains the other attributes.

    Attributes:
      score: the share of segments with an exact match, 0..100, not rounded.
      exact_matches: the number of these segments: their candidate equals a reference.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, ExactMatchConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the Cat!", ["A dog", "a cat"])])
      ...         | CorpusScore.Globally(ExactMatchConfig())
      ...         | beam.Map(lambda score: print(score.score, score.exact_matches))
      ...     )
      100.0 1
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    exact_matches: int


@dataclasses.dataclass(frozen=True, repr=False)
class TokenF1Score(Score):
    """Token F1 and its parts. `Score` explains the other attributes.

    Attributes:
      score: the mean F1 of the segments, 0..100, not rounded.
      common_words: how many words the candidates have in common with their references, of each
        segment by the reference with the best F1.
      hyp_words: the words of the candidates.
      ref_words: the words of these references.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, TokenF1Config
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the big cat", ["A dog", "a cat"])])
      ...         | CorpusScore.Globally(TokenF1Config())
      ...         | beam.Map(lambda score: print(f"{score.score:.1f} {score.common_words}"))
      ...     )
      66.7 1
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    common_words: int
    hyp_words: int
    ref_words: int


def exact_match_parts(columns: Sequence[int], metric: ExactMatch) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    return {"score": metric.value(columns), "exact_matches": columns[EXACT]}


def token_f1_parts(columns: Sequence[int], metric: TokenF1) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    return {
        "score": metric.value(columns),
        "common_words": columns[COMMON],
        "hyp_words": columns[CANDIDATE_LENGTH],
        "ref_words": columns[REFERENCE_LENGTH],
    }


def squad_signatures(
    text: TextName, metric: ExactMatch | TokenF1, fewest: int, most: int
) -> Signatures:
    """The signatures. `normalize` is the Unicode normalization; sacreBLEU has no such metric."""
    fields = {
        "nrefs": reference_field(fewest, most),
        "case": CASES[text.lowercase].name,
        "tok": "squad",
    }
    if text.normalize is not None:
        fields["normalize"] = text.normalize
    return Signatures(own_signature(text, fields), None)


def exact_match_segment_scores(statistics: BatchStatistics, metric: ExactMatch) -> Scores:
    """The scores of a batch, system by system."""
    return 100.0 * statistics.counts[..., EXACT].ravel().astype(np.float64)


def token_f1_segment_fields(metric: TokenF1) -> Mapping[str, pa.DataType]:
    """The columns that only token F1 has: words in common, of the candidate, of the reference."""
    return {"common_words": pa.int64(), "hyp_words": pa.int64(), "ref_words": pa.int64()}


def token_f1_segment_columns(statistics: BatchStatistics, metric: TokenF1) -> Mapping[str, Any]:
    """The words of a batch: a row for each segment and system, system by system."""
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    return {
        "common_words": counts[:, COMMON],
        "hyp_words": counts[:, CANDIDATE_LENGTH],
        "ref_words": counts[:, REFERENCE_LENGTH],
    }


def token_f1_segment_scores(statistics: BatchStatistics, metric: TokenF1) -> Scores:
    """The scores of a batch, system by system: 100 times the floats of SQuAD's `compute_f1`."""
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    common, words, reference_words = (
        counts[:, column] for column in (COMMON, CANDIDATE_LENGTH, REFERENCE_LENGTH)
    )
    # Two texts without a word are equal; the other texts without common words have an F1 of 0.
    f1 = (words + reference_words == 0).astype(np.float64)
    has_common = common > 0
    precision = common[has_common] / words[has_common]
    recall = common[has_common] / reference_words[has_common]
    f1[has_common] = (2 * precision * recall) / (precision + recall)
    scores: Scores = 100.0 * f1
    return scores
