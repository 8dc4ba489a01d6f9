"""BLEU from the sums of units: the same formula, read from the columns of `totals/units.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beam_bleu.transforms.definition.choices import function_of
from beam_bleu.transforms.definition.reference_lengths import ReferenceLengthName
from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.score.corpus_formula import ScoredCounts, require_scorable, scored_counts
from beam_bleu.transforms.score.dual_numbers import Number
from beam_bleu.transforms.totals.units import (
    AVERAGE,
    CANDIDATE_LENGTH,
    CLOSEST,
    CLOSEST_FIRST,
    FIRST_MATCHES,
    LONGEST,
    PARTS_OF_A_TOKEN,
    SEGMENTS,
    SHORTEST,
    first_short,
)

_LENGTH_COLUMNS: Mapping[ReferenceLengthName, tuple[tuple[int, ...], int]] = {
    "closest": ((SHORTEST, CLOSEST), 1),
    "closest_first": ((SHORTEST, CLOSEST, CLOSEST_FIRST), 1),
    "shortest": ((SHORTEST,), 1),
    "longest": ((SHORTEST, LONGEST), 1),
    "average": ((SHORTEST, AVERAGE), PARTS_OF_A_TOKEN),
}
"""For each rule the columns whose sum is the reference length, and the divisor of the last one."""


def length_columns(rule: ReferenceLengthName) -> tuple[tuple[int, int], ...]:
    """The columns that add up to the reference length by a rule: (column, its divisor)."""
    columns, divisor = function_of(_LENGTH_COLUMNS, rule, "reference length")
    return tuple((column, divisor if column == columns[-1] else 1) for column in columns)


def reference_length(sums: Sequence[Number], rule: ReferenceLengthName) -> tuple[Number, int]:
    """The reference length by a rule: an integer, and the number by which it is divided."""
    columns = length_columns(rule)
    divisor = columns[-1][1]
    return sum(sums[column] * (divisor // own) for column, own in columns), divisor


def total(sums: Sequence[Number], max_order: int, order: int) -> Number:
    """The number of n-grams of an order in the candidates, t_n."""
    short = first_short(max_order)
    return (
        sums[CANDIDATE_LENGTH] - (order - 1) * sums[SEGMENTS] + sum(sums[short : short + order - 1])
    )


def unit_score(sums: Sequence[int], max_order: int, scoring: Scoring) -> float:
    """BLEU, 0..100; see `scored_units`."""
    score: float = scored_units(sums, max_order, scoring).score
    return score


def scored_units(sums: Sequence[Number], max_order: int, scoring: Scoring) -> ScoredCounts:
    """BLEU, 0..100: to the last bit the score that `bleu_score` gives for the same segments.

    An exception is the reference length "average" with more than 16 references: it is rounded here.

    Args:
      sums: the columns of `totals/units.py`, added up over units: integers, or numbers that carry
        their derivatives.
      max_order: the n-gram order of these columns, at least that of the scoring.
      scoring: how sums become a score.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    require_scorable(max_order, scoring)
    orders, short = scoring.max_ngram_order, first_short(max_order)
    return scored_counts(
        scoring,
        sums[FIRST_MATCHES : FIRST_MATCHES + orders],
        [total(sums, max_order, order) for order in range(1, orders + 1)],
        sums[short : short + orders],
        sums[CANDIDATE_LENGTH],
        reference_length(sums, scoring.reference_length),
    )
