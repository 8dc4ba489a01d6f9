"""The formula for the counts of a corpus: the functions of formula.py, by a scoring."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.score.dual_numbers import Number
from beam_bleu.transforms.score.formula import (
    brevity_penalty,
    method_number,
    smooth,
    weighted_score,
)


@dataclasses.dataclass(frozen=True)
class ScoredCounts:
    """BLEU of counts, and its parts. `BleuScore` explains the score, the precisions and bp.

    Attributes:
      orders: the number of orders that count; 0 if the score is 0 because nothing matches.
    """

    score: Number
    precisions: tuple[Number, ...]
    bp: Number
    orders: int


def scored_counts(
    scoring: Scoring,
    matches: Sequence[Number],
    totals: Sequence[Number],
    short_candidates: Sequence[Number],
    candidate_length: Number,
    reference_length: tuple[Number, int],
) -> ScoredCounts:
    """BLEU of a corpus. The integers have no bound, or are numbers that carry their derivatives.

    Args:
      scoring: how sums become a score. It is of a corpus, and the counts have its orders:
        `require_scorable` checks this.
      matches: as in `CorpusSums`, and so are the next three.
      totals: n-grams in the candidates, by order.
      short_candidates: candidates with fewer than n tokens, by order.
      candidate_length: tokens in the candidates.
      reference_length: an integer, and the number by which it is divided.
    """
    method, weights = method_number(scoring.smooth_method), scoring.weights or ()
    precisions: list[Number] = [0.0] * scoring.max_ngram_order
    orders = smooth(
        method,
        scoring.effective_smooth_value,
        scoring.effective_order,
        weights,
        matches,
        totals,
        short_candidates,
        candidate_length,
        precisions,
    )
    bp = brevity_penalty(candidate_length, *reference_length)
    score = weighted_score(method, weights, precisions, orders, bp)
    return ScoredCounts(score, tuple(precisions), bp, orders)


def require_scorable(max_order: int, scoring: Scoring) -> None:
    """Checks that a scoring can score the sums of a corpus.

    Args:
      max_order: the n-gram order of the sums.
      scoring: how sums become a score.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    scoring.require_corpus()
    if max_order < scoring.max_ngram_order:
        raise ValueError(
            f"sums of order {max_order} cannot be scored with "
            f"max_ngram_order {scoring.max_ngram_order}"
        )
