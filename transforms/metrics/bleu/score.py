"""BLEU from the sums of a corpus: the score from formula.py, its signature and its warnings."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns
from beam_bleu.transforms.metrics.bleu.corpus_formula import scored_columns
from beam_bleu.transforms.metrics.bleu.metric import Bleu, bleu_lengths
from beam_bleu.transforms.metrics.bleu.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.bleu.signature import sacrebleu_signature, signature
from beam_bleu.transforms.score.common_fields import common_fields
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.units import UnitSums

_ALMOST_0 = 1e-9
"""If a tiny number replaces a precision of 0, the score is tiny, too."""


@dataclasses.dataclass(frozen=True)
class BleuScore:
    """BLEU and its parts.

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
      segments: the number of segments scored.
      signature: the definition that this score follows.
      sacrebleu_signature: the signature that sacreBLEU prints for it, None if sacreBLEU
        cannot express it.
      warnings: sentences for a reader of the score: why it is 0, why it has no standard error,
        and what is suspicious about the input.
      standard_error: how much the score would typically differ with other segments of the same
        kind, in BLEU; None if it was not asked for, or if there is none.
      interval: the 95 % interval, score -+ 1.96 standard errors, not clipped; None as above.
    """

    score: float
    precisions: tuple[float, ...]
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    bp: float
    ratio: float
    sys_len: int
    ref_len: int | float
    segments: int
    signature: str
    sacrebleu_signature: str | None = None
    warnings: tuple[str, ...] = ()
    standard_error: float | None = None
    interval: tuple[float, float] | None = None


def bleu_score(
    sums: CorpusSums,
    text: TextName,
    scoring: Scoring,
    *,
    judge_input: bool = True,
    units: UnitSums | None = None,
) -> BleuScore:
    """The BLEU score of a corpus.

    Args:
      sums: those of the corpus, of the scoring's `counted_order` or a higher one.
      text: how the texts became tokens, for the signature and the warnings.
      scoring: how sums become a score.
      judge_input: whether to warn about suspicious input, too; False if another score of the
        same texts has these warnings.
      units: the sums over the units of the same segments, for the standard error; None for a
        score without one.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is
        only for single segments.
    """
    scored = scored_columns(sums.columns, scoring)
    score, bp = scored.score, scored.bp
    columns, orders = BleuColumns(sums.columns), scoring.max_ngram_order
    lengths = bleu_lengths(sums.columns, scoring)
    sys_len, ref_len = lengths.candidates, lengths.references
    is_divided = REFERENCE_LENGTHS[scoring.reference_length].divided
    signed = text, scoring, sums.min_reference_count, sums.max_reference_count
    return BleuScore(
        precisions=scored.precisions,
        matches=tuple(columns.matches[:orders]),
        totals=columns.totals[:orders],
        bp=bp,
        ratio=float(sys_len / ref_len) if ref_len else 0.0,
        sys_len=sys_len,
        ref_len=float(ref_len) if is_divided else int(ref_len),
        **common_fields(
            score,
            sums,
            text,
            Bleu(scoring),
            Signatures(signature(*signed), sacrebleu_signature(*signed)),
            lengths,
            why_zero="" if score > _ALMOST_0 else _why_zero(columns, scoring, score, bp),
            judge_input=judge_input,
            units=units,
        ),
    )


def _why_zero(columns: BleuColumns, scoring: Scoring, score: float, bp: float) -> str:
    """The reason for a score of 0 or near 0, and a remedy."""
    is_zero = f"the score is {'almost ' if score else ''}0"
    weights = scoring.weights or (1,) * scoring.max_ngram_order
    if not columns.candidate_length:
        return f"{is_zero}: no candidate has a token"
    if not any(columns.matches):
        return (
            f"{is_zero}: no n-gram of a candidate is in its references; "
            "check that they are of the same segments"
        )
    weighted = [n for n, weight in enumerate(weights, 1) if weight]
    order = next((n for n in weighted if not columns.matches[n - 1]), 0)
    if not order:
        if bp < _ALMOST_0:
            return f"{is_zero}: the candidates are many times shorter than the references"
        return f"{is_zero}: with these weights"
    if not columns.totals[order - 1]:
        return (
            f"{is_zero}: no candidate has {order} tokens; for a corpus so short "
            "use effective_order or a smaller max_ngram_order"
        )
    return (
        f"{is_zero}: no {order}-gram of a candidate is in its references; for a corpus "
        "so short or so far from them use another smooth_method or a smaller max_ngram_order"
    )
