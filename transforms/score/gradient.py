"""The gradient of log BLEU: how much each integer of a corpus changes the score.

It comes from the formula itself (formula.py), which runs with numbers that carry their derivatives
(dual_numbers.py). If every order that counts has a match, the derivatives are rational numbers for
every smoothing method, and so the gradient has no rounding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.transforms.definition.columns import BleuColumns
from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.score.corpus_formula import scored_columns
from beam_bleu.transforms.score.dual_numbers import Dual, Exponential


class NoGradientError(ValueError):
    """The score of a corpus has no gradient. The message is the reason."""


@dataclasses.dataclass(frozen=True)
class LogGradient:
    """The derivatives of log BLEU by the columns of BLEU, at the sums of a corpus.

    Attributes:
      columns: the columns that the score depends on, in ascending order. Columns whose sum is 0
        are left out: no unit has anything in them.
      numerators: for each of these columns the derivative times `denominator`.
      denominator: above 0.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


def log_gradient(sums: Sequence[int], scoring: Scoring) -> LogGradient:
    """The gradient of log BLEU.

    The brevity penalty has a corner where c = r. There the derivative is that of longer
    candidates, 0, as for all candidates that are not shorter than the references.

    Args:
      sums: BLEU's columns, added up over units, of at least the scoring's n-gram order.
      scoring: how sums become a score.

    Raises:
      NoGradientError: no candidate has a token, or an order that counts has no match.
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    _require_matches(sums, scoring)
    variables = [Dual.variable(column, value) if value else 0 for column, value in enumerate(sums)]
    score = scored_columns(variables, scoring).score
    if not isinstance(score, Exponential) or score.exponent.slopes is None:
        raise NotImplementedError(f"{scoring.smooth_method} has no gradient without rounding")
    slopes = sorted(score.exponent.slopes.items())
    columns, numerators = zip(*slopes, strict=True)
    return LogGradient(columns, numerators, score.exponent.denominator)


def _require_matches(sums: Sequence[int], scoring: Scoring) -> None:
    """Checks that every order that counts has a match. Without one, smoothing decides the score.

    Raises:
      NoGradientError: an order has no match.
    """
    scored, columns = scored_columns(sums, scoring), BleuColumns(sums)
    if not columns.candidate_length:
        raise NoGradientError("no candidate has a token")
    for order in range(1, (scored.orders or scoring.max_ngram_order) + 1):
        if scoring.weights and not scoring.weights[order - 1]:
            continue
        if not columns.matches[order - 1]:
            if not scored.orders and scoring.effective_order and not columns.totals[order - 1]:
                raise NoGradientError("no candidate is as long as the n-grams that have a weight")
            raise NoGradientError(f"no {order}-gram of a candidate is in its references")
