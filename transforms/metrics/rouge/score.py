"""A metric of ROUGE of a corpus, with signature and warnings, and of each segment by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.metric import SEGMENTS, Presentation, Scores
from beam_bleu.transforms.metrics.rouge import presentation
from beam_bleu.transforms.metrics.rouge.columns import (
    CANDIDATE_LENGTH,
    HITS,
    PRECISION_HIGH,
    RECALL_HIGH,
    REFERENCE_LENGTH,
    SEVERAL,
    UNREAD,
)
from beam_bleu.transforms.metrics.rouge.metric import Rouge, Rouge2, RougeLsum, mean
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.rouge import IS_STEMMED
from beam_bleu.transforms.text.text import CASES, TextName, own_signature, reference_field
from beam_bleu.transforms.text.tokenizers import RougeName

_WITHOUT_WORDS = "the score is 0: no candidate has a word, which is a run of a-z and 0-9"

_NOT_BY_ACCIDENT = 1 / 100
"""The share of segments from which ROUGE warns that it does not read them."""


@dataclasses.dataclass(frozen=True, repr=False)
class RougeScore(Score):
    """A score of ROUGE and its parts. `Score` explains the other attributes.

    Attributes:
      score: the mean of the F-scores of the segments, 0..100, not rounded.
      precision: the mean of their precisions, 0..100, not rounded. Of several references of a
        segment, the first one with the largest F-score counts, here and below.
      recall: the mean of their recalls, 0..100, not rounded.
      hits: what candidates and references have in common: words for ROUGE-1, pairs of words for
        ROUGE-2, words of common subsequences for ROUGE-L and ROUGE-Lsum.
      hyp_words: the words of the candidates.
      ref_words: the words of the references.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, RougeLConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(RougeLConfig())
      ...         | beam.Map(lambda rouge: print(f"{rouge.precision:.1f} {rouge.hits}"))
      ...     )
      83.3 5
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    precision: float
    recall: float
    hits: int
    hyp_words: int
    ref_words: int


def rouge_parts(columns: Sequence[int], metric: Rouge) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    return {
        "score": metric.value(columns),
        "precision": float(mean(columns, PRECISION_HIGH)),
        "recall": float(mean(columns, RECALL_HIGH)),
        "hits": columns[HITS],
        "hyp_words": columns[CANDIDATE_LENGTH],
        "ref_words": columns[REFERENCE_LENGTH],
    }


def rouge_why_zero(columns: Sequence[int], metric: Rouge, parts: Mapping[str, Any]) -> str:
    """The reason for a score of 0, or ""."""
    return "" if columns[CANDIDATE_LENGTH] else _WITHOUT_WORDS


def rouge_warnings(columns: Sequence[int], metric: Rouge) -> Iterator[str]:
    """Sentences about input that ROUGE does not read as a user may expect."""
    unread, segments = columns[UNREAD], columns[SEGMENTS]
    if unread and unread >= _NOT_BY_ACCIDENT * segments:
        yield (
            f"the references of {unread:,} of {segments:,} segments are mostly in characters that "
            "ROUGE ignores: it reads only a-z and 0-9, as rouge_score does; for such text, use "
            "chrF, or BLEU with the tokenizer of its language"
        )
    if isinstance(metric, RougeLsum) and columns[CANDIDATE_LENGTH] and not columns[SEVERAL]:
        yield (
            "no text has several lines with words, so ROUGE-Lsum is ROUGE-L here: it takes each "
            "line of a text for a sentence; use records whose texts have newlines between "
            "sentences"
        )


def rouge_signatures(text: TextName, metric: Rouge, fewest: int, most: int) -> Signatures:
    """The signatures. sacreBLEU has none.

    `stem` says whether words are stemmed. `normalize` is the Unicode normalization.
    """
    fields = {
        "nrefs": reference_field(fewest, most),
        "case": CASES[True].name,
        "tok": "rouge",
        "stem": "yes" if IS_STEMMED[cast(RougeName, text.tokenize)] else "no",
    }
    if text.normalize is not None:
        fields["normalize"] = text.normalize
    return Signatures(own_signature(text, fields), None)


def rouge_segment_fields(metric: Rouge) -> Mapping[str, pa.DataType]:
    """The columns that ROUGE adds to the score."""
    values = dict.fromkeys(("precision", "recall"), pa.float64())
    return {**values, **dict.fromkeys(("hits", "hyp_words", "ref_words"), pa.int64())}


def rouge_segment_scores(statistics: BatchStatistics, metric: Rouge) -> Scores:
    """The scores of a batch, system by system: 100 times the F-scores of rouge_score."""
    precision, recall = _precision_and_recall(statistics, metric)
    has_hits = precision > 0
    f = np.zeros(len(precision))
    p, r = precision[has_hits], recall[has_hits]
    f[has_hits] = 2 * p * r / (p + r)
    return 100.0 * f


def rouge_segment_columns(statistics: BatchStatistics, metric: Rouge) -> Mapping[str, Any]:
    """The parts of the scores of a batch: a row for each segment and system, system by system.

    Precision and recall are 100 times the floats of rouge_score.
    """
    precision, recall = _precision_and_recall(statistics, metric)
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    return {
        "precision": 100.0 * precision,
        "recall": 100.0 * recall,
        "hits": counts[:, HITS],
        "hyp_words": counts[:, CANDIDATE_LENGTH],
        "ref_words": counts[:, REFERENCE_LENGTH],
    }


def _precision_and_recall(statistics: BatchStatistics, metric: Rouge) -> tuple[Scores, Scores]:
    """Those of each segment and system, 0..1. Both are 0 if there is no match."""
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    hits, words, reference_words = (
        counts[:, column] for column in (HITS, CANDIDATE_LENGTH, REFERENCE_LENGTH)
    )
    fewer = 1 if isinstance(metric, Rouge2) else 0  # a text has one pair less than words
    return hits / np.maximum(words - fewer, 1), hits / np.maximum(reference_words - fewer, 1)
