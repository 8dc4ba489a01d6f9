"""BLEU from corpus totals: formula.py's score of a corpus, and what is told with it."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from transforms.config import BleuConfig
from transforms.score.formula import brevity_penalty, method_number, smooth, weighted_score
from transforms.score.signature import signature
from transforms.totals.corpus_totals import CorpusTotals


@dataclasses.dataclass(frozen=True)
class BleuScore:
    """BLEU and what it is made of.

    Attributes:
      score: BLEU, 0..100, not rounded (100.00000000000004 can occur, as in sacreBLEU).
      precisions: the (smoothed) n-gram precisions, 0..100; precisions[n - 1] is of order n.
      matches: clipped n-gram matches before smoothing; matches[n - 1] is of order n.
      totals: n-grams in the candidates before smoothing; totals[n - 1] is of order n.
      bp: the brevity penalty, 0..1.
      ratio: sys_len / ref_len, 0.0 if ref_len is 0.
      sys_len: tokens in the candidates.
      ref_len: tokens in the references by the definition's rule; a float (the
        nearest one) if that is their average.
      segments: how many segments were scored.
      signature: the definition that this score follows.
      warnings: what a reader of the score has to know, a sentence each.
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
    warnings: tuple[str, ...] = ()


def bleu_score(totals: CorpusTotals, config: BleuConfig) -> BleuScore:
    """The BLEU score of a corpus.

    Args:
      totals: the corpus's sums, counted up to the config's `counting_order` or further.
      config: the definition of BLEU.

    Raises:
      ValueError: the totals are of a lower n-gram order than the config, or the
        config is one for single segments.
    """
    config.require_corpus()
    orders = config.max_ngram_order
    if totals.max_order < orders:
        raise ValueError(
            f"totals of order {totals.max_order} cannot be scored with max_ngram_order {orders}"
        )
    sys_len = totals.candidate_length
    ref_len = totals.reference_lengths.by(config.reference_length)
    exact = Fraction(ref_len)
    bp = brevity_penalty(sys_len, exact.numerator, exact.denominator)
    method, weights = method_number(config.smooth_method), config.weights or ()
    precisions = [0.0] * orders
    counted = smooth(
        method,
        config.effective_smooth_value,
        config.effective_order,
        weights,
        totals.matches,
        totals.totals,
        totals.short_candidates,
        sys_len,
        precisions,
    )
    score = weighted_score(method, weights, precisions, counted, bp)
    return BleuScore(
        score=score,
        precisions=tuple(precisions),
        matches=totals.matches[:orders],
        totals=totals.totals[:orders],
        bp=bp,
        ratio=float(sys_len / ref_len) if ref_len else 0.0,
        sys_len=sys_len,
        ref_len=float(ref_len) if config.reference_length == "average" else int(ref_len),
        segments=totals.segments,
        signature=signature(totals, config),
        warnings=() if score else (_why_zero(totals, config),),
    )


def _why_zero(totals: CorpusTotals, config: BleuConfig) -> str:
    """Why a score is 0, and what can be done about it."""
    weights = config.weights or (1,) * config.max_ngram_order
    used = [n for n, weight in enumerate(weights) if weight]
    if not totals.candidate_length:
        return "the score is 0: no candidate has a token"
    if not any(totals.matches[n] for n in used):
        return (
            "the score is 0: no n-gram of a candidate is in its references; "
            "check that they are of the same segments"
        )
    order = next((n + 1 for n in used if not totals.matches[n]), 0)
    if not order:
        return "the score is 0: the candidates are hundreds of times shorter than the references"
    if not totals.totals[order - 1]:
        return (
            f"the score is 0: no candidate has {order} tokens; for a corpus so short "
            "use effective_order or a smaller max_ngram_order"
        )
    return (
        f"the score is 0: no {order}-gram of a candidate is in its references; for a corpus "
        "so short or so far from them use another smooth_method or a smaller max_ngram_order"
    )
