"""WER and CER of a corpus, with signature and warnings, and of each segment by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.error_rates import presentation
from beam_bleu.transforms.metrics.error_rates.columns import (
    DELETIONS,
    INSERTIONS,
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
    edits_of,
)
from beam_bleu.transforms.metrics.error_rates.metric import ErrorRate
from beam_bleu.transforms.metrics.metric import Presentation
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.jiwer import JIWER
from beam_bleu.transforms.text.text import (
    CASES,
    TextName,
    own_signature,
    reference_field,
)
from beam_bleu.transforms.text.tokenizers import JiwerName


@dataclasses.dataclass(frozen=True, repr=False)
class ErrorRateScore(Score):
    """An error rate and its parts, which count words for WER and characters for CER. See `Score`.

    Attributes:
      score: the rate in percent, 0 or more, not rounded. Lower is better.
      edits: the substitutions, deletions and insertions.
      substitutions: the words or characters of references that others replace in the candidates.
      deletions: those of references that the candidates lack.
      insertions: those of candidates that the references lack.
      ref_length: those of the references. With several references, the one counts that needs the
        fewest edits; of several such ones, the longest, and then the first. A float, as for TER.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, WerConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(WerConfig())
      ...         | beam.Map(lambda wer: print(wer.substitutions, wer.ref_length))
      ...     )
      1 6.0
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    edits: int
    substitutions: int
    deletions: int
    insertions: int
    ref_length: float


def error_parts(columns: Sequence[int], metric: ErrorRate) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    return {
        "score": metric.value(columns),
        "edits": edits_of(columns),
        "substitutions": columns[SUBSTITUTIONS],
        "deletions": columns[DELETIONS],
        "insertions": columns[INSERTIONS],
        "ref_length": float(columns[REFERENCE_LENGTH]),
    }


def error_signatures(text: TextName, metric: ErrorRate, fewest: int, most: int) -> Signatures:
    """The signatures. sacreBLEU has none.

    `punct` says whether punctuation marks stay. `normalize` is the Unicode normalization.
    """
    symbols = JIWER[cast(JiwerName, text.tokenize)]
    fields = {
        "nrefs": reference_field(fewest, most),
        "case": CASES[text.lowercase].name,
        "tok": "jiwer",
        "unit": symbols.symbol,
        "punct": "no" if symbols.no_punct else "yes",
    }
    if text.normalize is not None:
        fields["normalize"] = text.normalize
    return Signatures(own_signature(text, fields), None)


def error_segment_fields(metric: ErrorRate) -> Mapping[str, pa.DataType]:
    """The columns that only error rates have. `ref_length` has the type that it has for TER."""
    counts = dict.fromkeys(("edits", "substitutions", "deletions", "insertions"), pa.int64())
    return {**counts, "ref_length": pa.float64()}


def error_segment_columns(statistics: BatchStatistics, metric: ErrorRate) -> Mapping[str, Any]:
    """The edits of a batch: a row for each segment and system, system by system."""
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    return {
        "edits": edits_of(counts.T),
        "substitutions": counts[:, SUBSTITUTIONS],
        "deletions": counts[:, DELETIONS],
        "insertions": counts[:, INSERTIONS],
        "ref_length": counts[:, REFERENCE_LENGTH].astype(np.float64),
    }
