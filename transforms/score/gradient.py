"""The gradient of the logarithm of a score: how much each integer of a corpus changes it.

It comes from the formula itself, which runs with numbers that carry their derivatives
(metrics/dual_numbers.py). The derivatives are rational numbers, so the gradient has no rounding.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from beam_bleu.transforms.metrics.dual_numbers import Dual, Exponential
from beam_bleu.transforms.metrics.metric import Metric


@dataclasses.dataclass(frozen=True)
class LogGradient:
    """The derivatives of the logarithm of a score by the metric's columns, at the sums of a corpus.

    Attributes:
      columns: the columns that the score depends on, in ascending order. Columns whose sum is 0
        are left out: no unit has anything in them.
      numerators: for each of these columns the derivative times `denominator`.
      denominator: above 0.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


def log_gradient(sums: Sequence[int], metric: Metric) -> LogGradient:
    """The gradient of the logarithm of a score.

    Args:
      sums: the metric's columns, added up over units.
      metric: how sums become a score.

    Raises:
      NoGradientError: the score has no gradient.
      ValueError: the sums lack columns that the metric needs.
    """
    metric.require_gradient(sums)
    variables = [Dual.variable(column, value) if value else 0 for column, value in enumerate(sums)]
    score = metric.value(variables)
    if isinstance(score, Exponential) and score.exponent.slopes is not None:
        return _gradient(score.exponent.slopes, score.exponent.denominator)
    if isinstance(score, Dual) and score.slopes is not None and not score.is_rounded:
        # The derivative of log x is 1/x. Both have the same denominator, which is often very long.
        common = math.gcd(score.numerator, *score.slopes.values())
        slopes = {column: slope // common for column, slope in score.slopes.items()}
        return _gradient(slopes, score.numerator // common)
    raise NotImplementedError(f"the gradient of {metric} has roundings")


def _gradient(slopes: Mapping[int, int], denominator: int) -> LogGradient:
    columns, numerators = zip(*sorted(slopes.items()), strict=True)
    return LogGradient(columns, numerators, denominator)
