"""chrF of a corpus, with its signature and its warnings, and of each segment by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.chrf import presentation
from beam_bleu.transforms.metrics.chrf.columns import ChrfColumns
from beam_bleu.transforms.metrics.chrf.metric import Chrf
from beam_bleu.transforms.metrics.chrf.presentation import COUNTS
from beam_bleu.transforms.metrics.metric import Presentation
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.segment_table import INTEGERS, list_array
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.text import (
    CASES,
    SACREBLEU,
    TextName,
    own_signature,
    reference_field,
    signature_line,
)


@dataclasses.dataclass(frozen=True, repr=False)
class ChrfScore(Score):
    """chrF and its parts. `Score` explains the other attributes.

    Attributes:
      score: chrF, 0..100, not rounded.
      hyp_ngrams: n-grams in the candidates: those of characters for each order from 1 on, and then
        those of words.
      ref_ngrams: those in the references, for each segment in the one with the best score.
      matches: those that both have.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusChrf
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusChrf.Globally()
      ...         | beam.Map(print)
      ...     )
      chrF2 89.0  ratio 1.133  hyp_chars 17  ref_chars 15  segments 1  warnings 1
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    hyp_ngrams: tuple[int, ...]
    ref_ngrams: tuple[int, ...]
    matches: tuple[int, ...]


def chrf_parts(columns: Sequence[int], metric: Chrf) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    counts = {name: tuple(getattr(ChrfColumns(columns), name)) for name in COUNTS}
    return {"score": metric.value(columns), **counts}


def chrf_why_zero(columns: Sequence[int], metric: Chrf, parts: Mapping[str, Any]) -> str:
    """The reason for a score of 0, or ""."""
    if parts["score"]:
        return ""
    if not metric.lengths(columns).candidates:
        return "the score is 0: no candidate has a character that can match"
    return (
        "the score is 0: no character of a candidate is in its references; "
        "check that they are of the same segments"
    )


def chrf_signatures(text: TextName, metric: Chrf, fewest: int, most: int) -> Signatures:
    """The signatures: the fields of sacreBLEU, then the choices that sacreBLEU does not show.

    `case` says whether texts were lower-cased, and `eff` whether orders that are longer than the
    texts are left out. `nc` and `nw` are the orders of characters and of words, `space` says
    whether white space counts, `beta` is there if it is not 2 (in sacreBLEU the name of the score
    has it), and `norm` is the normalization.
    """
    fields = {
        "nrefs": reference_field(fewest, most),
        "case": CASES[text.lowercase].name,
        "eff": "no" if metric.eps_smoothing else "yes",
        "nc": str(metric.char_order),
        "nw": str(metric.word_order),
        "space": "yes" if metric.whitespace else "no",
    }
    is_known = text.normalize is None
    own = dict(fields)
    if metric.beta != Chrf.beta:
        own["beta"] = str(metric.beta)
    if text.normalize is not None:
        own["norm"] = text.normalize
    return Signatures(
        own_signature(text, own),
        signature_line({**fields, "version": SACREBLEU}) if is_known else None,
    )


def chrf_segment_fields(metric: Chrf) -> Mapping[str, pa.DataType]:
    """The columns that only chrF has: `hyp_ngrams`, `ref_ngrams` and `matches`.

    Each one is a list with an integer for each order.
    """
    return dict.fromkeys(COUNTS, INTEGERS)


def chrf_segment_columns(statistics: BatchStatistics, metric: Chrf) -> Mapping[str, Any]:
    """The counts of a batch: a row for each segment and system, system by system.

    The scores are those of sacreBLEU's `sentence_score`.
    """
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    columns = ChrfColumns(counts.T)
    return {name: list_array(np.stack(getattr(columns, name), axis=-1)) for name in COUNTS}
