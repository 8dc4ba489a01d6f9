"""The formula for the columns of a corpus: the functions of formula.py, by a scoring."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns
from beam_bleu.transforms.metrics.bleu.formula import (
    brevity_penalty,
    method_number,
    smooth,
    weighted_score,
)
from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.dual_numbers import Number


@dataclasses.dataclass(frozen=True)
class ScoredColumns:
    """BLEU of a corpus, and its parts. `BleuScore` explains the score, the precisions and bp.

    Attributes:
      orders: the number of orders that count; 0 if the score is 0 because nothing matches.
    """

    score: Number
    precisions: tuple[Number, ...]
    bp: Number
    orders: int


def corpus_score(columns: Sequence[int], scoring: Scoring) -> float:
    """BLEU, 0..100; see `scored_columns`."""
    score: float = scored_columns(columns, scoring).score
    return score


def scored_columns(columns: Sequence[Number], scoring: Scoring) -> ScoredColumns:
    """BLEU of the columns of a corpus, and its parts.

    Args:
      columns: BLEU's columns, added up over segments: integers without a bound, or numbers that
        carry their derivatives. Their n-gram order is at least that of the scoring.
      scoring: how sums become a score.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    bleu = BleuColumns(columns)
    require_scorable(bleu.max_order, scoring)
    method, weights = method_number(scoring.smooth_method), scoring.weights or ()
    precisions: list[Number] = [0.0] * scoring.max_ngram_order
    orders = smooth(
        method,
        scoring.effective_smooth_value,
        scoring.effective_order,
        weights,
        bleu.matches,
        bleu.totals,
        bleu.short_candidates,
        bleu.candidate_length,
        precisions,
    )
    bp = brevity_penalty(bleu.candidate_length, *bleu.reference_length(scoring.reference_length))
    score = weighted_score(method, weights, precisions, orders, bp)
    return ScoredColumns(score, tuple(precisions), bp, orders)


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
