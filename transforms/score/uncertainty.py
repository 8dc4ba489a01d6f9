"""The standard error of a score: how much it would change with another sample of test units.

A score is a smooth function f of the sums S of n units. So a unit with the integers x changes it by
about g'(x - S/n), with g the gradient of f, and the variance of f is that of the sum of these
influences: n/(n - 1) (g'Qg - (g'S)^2 / n), with Q the sum of all xx' (the delta method; Deng et al.
2018, https://arxiv.org/abs/1803.06336). Everything up to the last root is exact. The same with the
integers of two systems side by side gives the standard error of their difference.

The gradient of the logarithm of a score says how much each integer of a corpus changes it. It
comes from the formula itself, which runs with numbers that carry their derivatives
(metrics/dual_numbers.py). The derivatives are rational numbers, so the gradient has no rounding.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from beam_bleu.transforms.metrics.dual_numbers import Dual, Exponential, Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Metric, NoGradientError
from beam_bleu.transforms.totals.unit_sums import UnitSums

CONFIDENCE = 0.95
"""The share of test sets whose interval contains the score of all texts of the kind."""

TWO_SIDED_95 = 1.959963984540054
"""The number of standard errors on each side of the interval: the normal quantile of 0.975."""

FEWEST_UNITS = 30
"""With fewer units there is no standard error, because the approximation does not hold. Also a
bootstrap of so few units says too little about other units."""

NO_STANDARD_ERROR = "no standard error"
"""The beginning of the warning that a score has none."""


@dataclasses.dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of a score.

    Attributes:
      standard_error: on the scale of the score; None if there is none.
      interval: the 95 % interval, score -+ 1.96 standard errors; None if there is none.
        It is not clipped at 0 and 100.
      reason: why there is none; "" if there is one, or if it was not asked for.
    """

    standard_error: float | None
    interval: tuple[float, float] | None
    reason: str = ""


NOT_ASKED_FOR = Uncertainty(None, None)
"""The uncertainty of a score whose sums have no products."""


def uncertainty(units: UnitSums, metric: Metric, score: float) -> Uncertainty:
    """The uncertainty of a score.

    Args:
      units: the sums of the corpus.
      metric: how sums become a score.
      score: the score of these sums.

    Raises:
      ValueError: the sums lack columns that the metric needs, or it is for single segments only.
    """
    try:
        require_enough(units)
        gradient, factor = gradient_of(units.columns.tolist(), metric, score)
    except NoGradientError as error:
        return Uncertainty(None, None, str(error))
    standard_error = factor * root(spread(units, gradient), gradient.denominator**2, units.units)
    return Uncertainty(standard_error, interval(score, standard_error))


def interval(center: float, standard_error: float) -> tuple[float, float]:
    """The 95 % interval of a score or a difference."""
    half = TWO_SIDED_95 * standard_error
    return center - half, center + half


def require_enough(units: UnitSums) -> None:
    """Checks that there are enough units for a standard error.

    Raises:
      NoGradientError: there are fewer than `FEWEST_UNITS`.
    """
    if units.units < FEWEST_UNITS:
        # Documents with one segment each are as good as segments.
        unit = "segment" if units.units == units.columns[SEGMENTS] else "document"
        raise NoGradientError(too_few(units.units, unit))


def too_few(number: int, unit: str) -> str:
    """A sentence that there are too few units."""
    shown = f"1 {unit} is" if number == 1 else f"{number} {unit}s are"
    return f"{shown} fewer than {FEWEST_UNITS}"


def spread(units: UnitSums, gradient: Gradient) -> int:
    """The spread n g'Qg - (g'S)^2, with the gradient's numerators for g."""
    columns, numerators, products = gradient.columns, gradient.numerators, units.products.tolist()
    form = 0
    for place, column in enumerate(columns):
        first = column * (column + 1) // 2  # see `unit_sums.product`
        row = 0
        for other in range(place):
            row += numerators[other] * products[first + columns[other]]
        form += numerators[place] * (2 * row + numerators[place] * products[first + column])
    along = sum(map(int.__mul__, numerators, (int(units.columns[column]) for column in columns)))
    return units.units * form - along**2


def root(numerator: int, denominator: int, units: int) -> float:
    """The standard error, from n g'Qg - (g'S)^2, the denominator of g squared, and n."""
    return math.sqrt(numerator / (denominator * (units - 1)))


@dataclasses.dataclass(frozen=True)
class Gradient:
    """The derivatives of a number by columns, at the sums of a corpus.

    The number is a score, its logarithm, or the difference of the scores of two systems whose
    columns are side by side.

    Attributes:
      columns: the columns that the number depends on, in ascending order. Columns whose sum is 0
        are left out: no unit has anything in them.
      numerators: for each of these columns the derivative times `denominator`.
      denominator: above 0.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


def gradient_of(sums: Sequence[int], metric: Metric, score: float) -> tuple[Gradient, float]:
    """The gradient of a score, as a gradient and a factor.

    Only a score above 0 has a logarithm, but means of numbers can be 0 or less.

    Args:
      sums: the metric's columns, added up over units.
      metric: how sums become a score.
      score: the score of these sums.

    Raises:
      NoGradientError: the score has no gradient.
      ValueError: the sums lack columns that the metric needs.
    """
    if score > 0:
        return log_gradient(sums, metric), score
    number = _traced(sums, metric)
    if not isinstance(number, Dual) or number.slopes is None or number.is_rounded:
        raise NoGradientError("the score is 0")
    return _gradient(number.slopes, number.denominator), 1.0


def log_gradient(sums: Sequence[int], metric: Metric) -> Gradient:
    """The gradient of the logarithm of a score.

    Args:
      sums: the metric's columns, added up over units.
      metric: how sums become a score.

    Raises:
      NoGradientError: the score has no gradient.
      ValueError: the sums lack columns that the metric needs.
    """
    score = _traced(sums, metric)
    if isinstance(score, Exponential) and score.exponent.slopes is not None:
        return _gradient(score.exponent.slopes, score.exponent.denominator)
    if isinstance(score, Dual) and score.slopes is not None and not score.is_rounded:
        # The derivative of log x is 1/x. Both have the same denominator, which is often very long.
        common = math.gcd(score.numerator, *score.slopes.values())
        slopes = {column: slope // common for column, slope in score.slopes.items()}
        return _gradient(slopes, score.numerator // common)
    raise NotImplementedError(f"the gradient of {metric} has roundings")


def _traced(sums: Sequence[int], metric: Metric) -> Number:
    """The score with its derivatives by the columns that are not 0."""
    metric.require_gradient(sums)
    return metric.value(
        [Dual.variable(column, value) if value else 0 for column, value in enumerate(sums)]
    )


def _gradient(slopes: Mapping[int, int], denominator: int) -> Gradient:
    columns, numerators = zip(*sorted(slopes.items()), strict=True)
    return Gradient(columns, numerators, denominator)
