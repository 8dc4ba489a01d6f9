"""BLEU from corpus totals: formula.py's score of a corpus, and what is told with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
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
    return BleuScore(
        score=weighted_score(method, weights, precisions, counted, bp),
        precisions=tuple(precisions),
        matches=totals.matches[:orders],
        totals=totals.totals[:orders],
        bp=bp,
        ratio=float(sys_len / ref_len) if ref_len else 0.0,
        sys_len=sys_len,
        ref_len=float(ref_len) if config.reference_length == "average" else int(ref_len),
        segments=totals.segments,
        signature=signature(totals, config),
        warnings=tuple(_warnings(totals, config, precisions[:counted])),
    )


def _warnings(totals: CorpusTotals, config: BleuConfig, precisions: Sequence[float]) -> list[str]:
    """What is odd about the sums, and what can be done about it."""
    used = [
        order
        for order in range(1, config.max_ngram_order + 1)
        if config.weights is None or config.weights[order - 1]
    ]
    if not totals.candidate_length:
        return ["the score is 0: no candidate has a token"]
    too_long = [order for order in used if not totals.totals[order - 1]]
    if too_long and len(precisions) >= too_long[0]:
        order = too_long[0]
        return [
            f"no candidate has {order} tokens, so there are no {order}-grams to match: "
            "use effective_order, or a smaller max_ngram_order, for so short a corpus"
        ]
    if not any(totals.matches[order - 1] for order in used):
        return ["no n-gram of any candidate is in a reference: are they of the same segments?"]
    return []
