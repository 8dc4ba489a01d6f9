"""BLEU as a `Metric`: the functions of formula.py, by a scoring, for the columns of a corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from beam_bleu.transforms.metrics.bleu.columns import (
    FIRST_MATCHES,
    BleuColumns,
    first_short,
    order_of,
)
from beam_bleu.transforms.metrics.bleu.formula import (
    brevity_penalty,
    method_number,
    smooth,
    weighted_score,
)
from beam_bleu.transforms.metrics.bleu.row_scores import corpus_scores
from beam_bleu.transforms.metrics.bleu.scoring import Scoring, require_scorable
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import Lengths, Metric, Scores
from beam_bleu.transforms.native.arrays import Integers


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


@dataclasses.dataclass(frozen=True)
class Bleu(Metric):
    """BLEU by a scoring; see `Metric`.

    The brevity penalty has a corner where c = r. There the derivative is that of longer
    candidates, 0, as for all candidates that are not shorter than the references.

    Attributes:
      scoring: how sums become a score; it must be for a corpus.
    """

    name: ClassVar[str] = "BLEU"

    scoring: Scoring

    def value(self, sums: Sequence[Number]) -> Number:
        """BLEU, 0..100."""
        return scored_columns(sums, self.scoring).score

    def values(self, sums: Integers) -> Scores:
        """BLEU of each row."""
        return corpus_scores(sums, self.scoring)

    def require_corpus(self) -> None:
        """Checks that the smoothing is not for single segments only."""
        self.scoring.require_corpus()

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Every order that counts must have a match. Otherwise smoothing decides the score."""
        scoring, columns = self.scoring, BleuColumns(sums)
        if not columns.candidate_length:
            return "no candidate has a token"
        weights = scoring.weights or (1.0,) * scoring.max_ngram_order
        missing = [
            order
            for order, weight in enumerate(weights, 1)
            if weight and not columns.matches[order - 1]
        ]
        if not missing:
            return ""
        orders = scored_columns(sums, scoring).orders
        if not orders and scoring.effective_order and not columns.totals[missing[0] - 1]:
            return "no candidate is as long as the n-grams that have a weight"
        if orders and missing[0] > orders:
            return ""
        return f"no {missing[0]}-gram of a candidate is in its references"

    def used(self, width: int) -> Sequence[int]:
        """The lengths, and the columns of the orders that count."""
        short, orders = first_short(order_of(width)), self.scoring.max_ngram_order
        return [*range(FIRST_MATCHES + orders), *range(short, short + orders)]

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many tokens the texts of a corpus have."""
        bleu = BleuColumns(columns)
        references = Fraction(*bleu.reference_length(self.scoring.reference_length))
        return Lengths("token", bleu.candidate_length, references, bleu.short_candidates[0])
