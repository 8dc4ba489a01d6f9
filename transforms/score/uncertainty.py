"""The standard error of a score: how much it would change with another sample of test units.

A score is a smooth function f of the sums S of n units. So a unit with the integers x changes it by
about g'(x - S/n), with g the gradient of f, and the variance of f is that of the sum of these
influences: n/(n - 1) (g'Qg - (g'S)^2 / n), with Q the sum of all xx' (the delta method; Deng et al.
2018, https://arxiv.org/abs/1803.06336). The same with the integers of two systems side by side
gives the standard error of their difference.

The gradient comes from the formula itself (metrics/differentiation.py), in floats. Everything after
it is exact up to the last root, because the two terms of the variance, and those of two similar
systems, can have more digits in common than a float has.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Sequence

from beam_bleu.transforms.metrics.differentiation import gradient
from beam_bleu.transforms.metrics.metric import SEGMENTS, Metric
from beam_bleu.transforms.totals.unit_sums import UnitSums

CONFIDENCE = 0.95
"""The share of test sets whose interval contains the score of all texts of the kind."""

TWO_SIDED_95 = 1.959963984540054
"""The number of standard errors on each side of the interval: the normal quantile of 0.975."""

FEWEST_UNITS = 30
"""With fewer units there is no standard error, because the approximation does not hold. Also a
bootstrap of so few units says too little about other units."""


@dataclasses.dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of a score.

    Attributes:
      standard_error: on the scale of the score; None if there is none.
      interval: the 95 % interval, score -+ 1.96 standard errors; None if there is none.
        It is not clipped at 0 and 100.
      reason: why there is none; "" if there is one, or if it was not asked for.
    """

    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    reason: str = ""


def uncertainty(units: UnitSums, metric: Metric) -> Uncertainty:
    """The uncertainty of the score of a corpus.

    Raises:
      ValueError: the sums lack columns that the metric needs, or it is for single segments only.
    """
    columns = tuple(units.columns.tolist())
    reason = too_few_units(units) or metric.why_no_gradient(columns)
    if reason:
        return Uncertainty(reason=reason)
    score, slopes = score_gradient(columns, metric)
    found = standard_error(units, slopes)
    return Uncertainty(found, interval(score, found))


def interval(center: float, standard_error: float) -> tuple[float, float]:
    """The 95 % interval of a score or a difference."""
    half = TWO_SIDED_95 * standard_error
    return center - half, center + half


def too_few_units(units: UnitSums) -> str:
    """Why there are too few units for a standard error; "" if there are enough."""
    if units.units >= FEWEST_UNITS:
        return ""
    # Documents with one segment each are as good as segments.
    unit = "segment" if units.units == units.columns[SEGMENTS] else "document"
    return too_few(units.units, unit)


def too_few(number: int, unit: str) -> str:
    """A sentence that there are too few units."""
    shown = f"1 {unit} is" if number == 1 else f"{number} {unit}s are"
    return f"{shown} fewer than {FEWEST_UNITS}"


# Many slices are scored, and afterwards their systems are compared.
@functools.lru_cache(maxsize=2**15)
def score_gradient(sums: tuple[int, ...], metric: Metric) -> tuple[float, tuple[float, ...]]:
    """A score that has a gradient, and its derivatives by the columns; see `gradient`.

    No unit has anything in a column whose sum is 0, so its derivative does not matter.
    """
    return gradient(metric.value, sums)


def standard_error(units: UnitSums, slopes: Sequence[float]) -> float:
    """The standard error of a number that depends on the sums of two or more units.

    Args:
      units: the sums, of W columns.
      slopes: W numbers, the derivatives of the number by the columns.
    """
    # Without this power of 2 the variance of a large perplexity would exceed the range of floats.
    _, exponent = math.frexp(max(map(abs, slopes)))
    ratios = [math.ldexp(slope, -exponent).as_integer_ratio() for slope in slopes]
    denominator = max(divisor for _, divisor in ratios)  # all are powers of 2
    factors = [numerator * (denominator // divisor) for numerator, divisor in ratios]
    products, form, end = units.products.tolist(), 0, 0
    for column, factor in enumerate(factors):
        start, end = end, end + column + 1
        if factor:  # the products with this column and with those before it, which count twice
            row = sum(map(operator.mul, factors, products[start:end]))
            form += factor * (2 * row - factor * products[end - 1])
    along = sum(map(operator.mul, factors, units.columns.tolist()))
    spread = units.units * form - along**2
    return math.ldexp(math.sqrt(spread / (denominator**2 * (units.units - 1))), exponent)
