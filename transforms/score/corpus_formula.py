"""The formula for the counts of a corpus: the functions of formula.py, by a scoring."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.score.formula import (
    brevity_penalty,
    method_number,
    smooth,
    weighted_score,
)


@dataclasses.dataclass(frozen=True)
class ScoredCounts:
    """BLEU of counts, and its parts. `BleuScore` explains the attributes."""

    score: float
    precisions: tuple[float, ...]
    bp: float


def scored_counts(
    scoring: Scoring,
    matches: Sequence[int],
    totals: Sequence[int],
    short_candidates: Sequence[int],
    candidate_length: int,
    reference_length: tuple[int, int],
) -> ScoredCounts:
    """BLEU of a corpus. The integers have no bound.

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
    precisions = [0.0] * scoring.max_ngram_order
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
    return ScoredCounts(score, tuple(precisions), bp)


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
