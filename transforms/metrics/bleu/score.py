"""BLEU of a corpus, with its signature and its warnings, and of each segment by itself.

The signature is one line that says how a score was made. Equal signatures and equal inputs give
equal scores. So the signature has everything that changes the number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.bleu import presentation
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS, BleuColumns, order_of
from beam_bleu.transforms.metrics.bleu.metric import Bleu, scored_columns
from beam_bleu.transforms.metrics.bleu.row_scores import row_scores
from beam_bleu.transforms.metrics.bleu.scoring import SMOOTH_METHODS, Scoring, counted_order
from beam_bleu.transforms.metrics.metric import Presentation, Scores
from beam_bleu.transforms.score.segment_table import INTEGERS, list_array
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.all_tokenizers import ALL_TOKENIZERS
from beam_bleu.transforms.text.text import (
    CASES,
    SACREBLEU,
    TextName,
    own_signature,
    reference_field,
    signature_line,
)

_ALMOST_0 = 1e-9
"""If a tiny number replaces a precision of 0, the score is tiny, too."""

_SACREBLEU_ORDER = 4


@dataclasses.dataclass(frozen=True, repr=False)
class BleuScore(Score):
    """BLEU and its parts. `Score` explains the other attributes.

    Attributes:
      score: BLEU, 0..100, not rounded (100.00000000000004 can occur, as in sacreBLEU).
      precisions: the (smoothed) n-gram precisions, 0..100; precisions[n - 1] is of order n.
      matches: clipped n-gram matches before smoothing; matches[n - 1] is of order n.
      totals: n-grams in the candidates before smoothing; totals[n - 1] is of order n.
      bp: the brevity penalty, 0..1.
      ratio: sys_len / ref_len, 0.0 if ref_len is 0.
      sys_len: tokens in the candidates.
      ref_len: tokens in the references, by the rule of the definition; a float (the
        nearest one) if the rule is the average.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusBleu
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusBleu.Globally()
      ...         | beam.Map(lambda bleu: print(f"{bleu.score:.2f}", bleu.matches, bleu.totals))
      ...     )
      75.98 (5, 4, 3, 2) (6, 5, 4, 3)
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    precisions: tuple[float, ...]
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    bp: float
    ratio: float
    sys_len: int
    ref_len: int | float


def bleu_parts(columns: Sequence[int], metric: Bleu) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell.

    Raises:
      ValueError: the columns have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    scoring = metric.scoring
    scored, counts = scored_columns(columns, scoring), BleuColumns(columns)
    orders, sys_len = scoring.max_ngram_order, counts.candidate_length
    ref_len, divisor = counts.reference_length(scoring.reference_length)
    return {
        "score": scored.score,
        "precisions": scored.precisions,
        "matches": tuple(counts.matches[:orders]),
        "totals": counts.totals[:orders],
        "bp": scored.bp,
        "ratio": sys_len * divisor / ref_len if ref_len else 0.0,
        "sys_len": sys_len,
        "ref_len": ref_len / divisor if _is_divided(scoring) else ref_len,
    }


def bleu_why_zero(columns: Sequence[int], metric: Bleu, parts: Mapping[str, Any]) -> str:
    """The reason for a score of 0 or near 0, and a remedy; or ""."""
    score, scoring, counts = parts["score"], metric.scoring, BleuColumns(columns)
    if score > _ALMOST_0:
        return ""
    is_zero = f"the score is {'almost ' if score else ''}0"
    weights = scoring.weights or (1,) * scoring.max_ngram_order
    if not counts.candidate_length:
        return f"{is_zero}: no candidate has a token"
    if not any(counts.matches):
        return (
            f"{is_zero}: no n-gram of a candidate is in its references; "
            "check that they are of the same segments"
        )
    weighted = [n for n, weight in enumerate(weights, 1) if weight]
    order = next((n for n in weighted if not counts.matches[n - 1]), 0)
    if not order:
        if parts["bp"] < _ALMOST_0:
            return f"{is_zero}: the candidates are many times shorter than the references"
        return f"{is_zero}: with these weights"
    if not counts.totals[order - 1]:
        return (
            f"{is_zero}: no candidate has {order} tokens; for a corpus so short "
            "use effective_order or a smaller max_ngram_order"
        )
    return (
        f"{is_zero}: no {order}-gram of a candidate is in its references; for a corpus "
        "so short or so far from them use another smooth_method or a smaller max_ngram_order"
    )


def signature(
    text: TextName, scoring: Scoring, min_reference_count: int, max_reference_count: int
) -> str:
    """The signature: the fields of sacreBLEU, then the choices that sacreBLEU does not show.

    `norm` is the normalization, `reflen` the rule of reference lengths, `order` is N
    if it is not 4 (sacreBLEU's signature does not show it), `weights` are the given
    weights. The last fields are the versions on which the number depends.

    Args:
      text: how texts become tokens.
      scoring: how sums become a score.
      min_reference_count: the smallest number of references that a segment has.
      max_reference_count: the largest number of them.
    """
    fields = _fields(text, scoring, min_reference_count, max_reference_count)
    if text.normalize is not None:
        fields["norm"] = text.normalize
    if not REFERENCE_LENGTHS[scoring.reference_length].in_sacrebleu:
        fields["reflen"] = scoring.reference_length
    if scoring.max_ngram_order != _SACREBLEU_ORDER:
        fields["order"] = str(scoring.max_ngram_order)
    if scoring.weights is not None:
        fields["weights"] = ",".join(f"{float(weight)!r}" for weight in scoring.weights)
    return own_signature(text, fields)


def sacrebleu_signature(
    text: TextName, scoring: Scoring, min_reference_count: int, max_reference_count: int
) -> str | None:
    """The signature that sacreBLEU prints for this definition; None if it does not have it."""
    expressible = (
        ALL_TOKENIZERS[text.tokenize].sacrebleu is not None
        and CASES[text.lowercase].in_sacrebleu
        and text.normalize is None
        and SMOOTH_METHODS[scoring.smooth_method].sacrebleu is not None
        and REFERENCE_LENGTHS[scoring.reference_length].in_sacrebleu
        and scoring.weights is None
    )
    if not expressible:
        return None
    fields = _fields(text, scoring, min_reference_count, max_reference_count)
    if scoring.smooth_value is not None:
        fields["smooth"] = f"{scoring.smooth_method}[{scoring.smooth_value:.2f}]"
    return signature_line({**fields, "version": SACREBLEU})


def _fields(
    text: TextName, scoring: Scoring, min_reference_count: int, max_reference_count: int
) -> dict[str, str]:
    return {
        "nrefs": reference_field(min_reference_count, max_reference_count),
        "case": CASES[text.lowercase].name,
        "eff": "yes" if scoring.effective_order else "no",
        "tok": _tokenizer(text),
        "smooth": _smoothing(scoring),
    }


def _tokenizer(text: TextName) -> str:
    """The tokenizer, by its name in sacreBLEU if it has one."""
    signed = ALL_TOKENIZERS[text.tokenize].signed
    return text.tokenize if signed is None else signed(text.model)


def _smoothing(scoring: Scoring) -> str:
    if SMOOTH_METHODS[scoring.smooth_method].value is None:
        return scoring.smooth_method
    value = scoring.effective_smooth_value
    value += 0.0  # turns -0.0 into 0.0
    rounded = f"{value:.2f}"
    # sacreBLEU rounds to two digits. If that changes the value, all digits are written.
    return f"{scoring.smooth_method}[{rounded if float(rounded) == value else repr(value)}]"


def bleu_segment_fields(metric: Bleu) -> Mapping[str, pa.DataType]:
    """The columns that only BLEU has, with their types.

    `sys_len` and `ref_len` are in tokens; `matches` and `totals` are N integers before smoothing.
    """
    ref_len = pa.float64() if _is_divided(metric.scoring) else pa.int64()
    return {"sys_len": pa.int64(), "ref_len": ref_len, "matches": INTEGERS, "totals": INTEGERS}


def bleu_segment_scores(statistics: BatchStatistics, metric: Bleu) -> Scores:
    """The scores of a batch, system by system; nan if the smoothing is not defined.

    With sacreBLEU's smoothing methods they equal those of its `sentence_score`. With NLTK's methods
    they equal those of its `sentence_bleu` times 100.

    Args:
      statistics: the statistics of the batch, of the scoring's `counted_order` or a higher one.
      metric: BLEU of a segment (see `Scoring.for_segments`).

    Returns:
      float64 (systems * segments,), 0..100.

    Raises:
      ValueError: the statistics have a lower n-gram order than the scoring needs.
    """
    scoring = metric.scoring
    counts, needed = statistics.counts, counted_order([scoring])
    order = order_of(counts.shape[2])
    if order < needed:
        raise ValueError(
            f"statistics of order {order} cannot be scored by a definition that needs order "
            f"{needed}"
        )
    return row_scores(counts.reshape(-1, counts.shape[2]), scoring)


def bleu_segment_columns(statistics: BatchStatistics, metric: Bleu) -> Mapping[str, Any]:
    """The columns of `bleu_segment_fields`: a row for each segment and system, system by system."""
    scoring = metric.scoring
    columns = BleuColumns(np.moveaxis(statistics.counts, 2, 0))
    orders = scoring.max_ngram_order
    ref_len, divisor = columns.reference_length(scoring.reference_length)
    totals = np.maximum(columns.candidate_length[..., np.newaxis] - np.arange(orders), 0)
    return {
        "sys_len": columns.candidate_length.ravel(),
        "ref_len": (ref_len / divisor if _is_divided(scoring) else ref_len).ravel(),
        "matches": list_array(np.stack(columns.matches[:orders], axis=-1)),
        "totals": list_array(totals),
    }


def _is_divided(scoring: Scoring) -> bool:
    """Whether the length of a segment's references is divided by their number."""
    return REFERENCE_LENGTHS[scoring.reference_length].divided
