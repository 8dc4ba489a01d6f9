"""Comparisons: is the difference of two scores larger than chance?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from beam_bleu.transforms.metrics.metric import SEGMENTS, Metric, NoGradientError
from beam_bleu.transforms.score.metric_kind import Score
from beam_bleu.transforms.score.uncertainty import (
    TWO_SIDED_95,
    Gradient,
    gradient_of,
    interval,
    require_enough,
    root,
    spread,
)
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.system_sums import SystemSums
from beam_bleu.transforms.totals.unit_sums import UnitSums, product

SIGNIFICANCE_LEVEL = 0.05
"""A difference is significant if its p-value is below this."""

_POWER_80 = 0.8416212335729143
"""The normal quantile of 0.8."""

DETECTABLE = TWO_SIDED_95 + _POWER_80
"""In standard errors: the smallest true difference usually found significant (80 % power)."""


@dataclasses.dataclass(frozen=True)
class Difference:
    """The difference of two scores: a system minus its baseline, or a new score minus an old one.

    Attributes:
      units: the number of units that both have; of two independent corpora, those of the smaller.
      segments: the number of segments of these units.
      difference: in BLEU, -100..100.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is no standard error.
      p_value: the probability of a difference at least this large, in either direction, if there
        were no true difference; None if there is no standard error, or if it is 0 and the
        difference is not.
      detectable: the smallest true difference that this test set would usually find significant
        (80 % power); None if there is no standard error, or if it is 0.
      reason: why there is no standard error or no p-value; "" if there are both.
    """

    units: int
    segments: int
    difference: float
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    detectable: float | None = None
    reason: str = ""


def paired_difference(pair: UnitSums, metric: Metric) -> Difference:
    """The difference of two systems that have the same units.

    Most of what makes a test set easy or hard is the same for both, so the standard error of the
    difference is usually smaller than that of each score.

    If the counts of both are the same in every unit, the p-value is 1, also with few units and
    without matches.

    Args:
      pair: the sums of the system and those of the baseline, side by side.
      metric: how the columns of one system become a score.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    width = len(pair.columns) // 2
    system, baseline = pair.columns[:width], pair.columns[width:]
    score, score_of_baseline = metric.value(system), metric.value(baseline)
    difference = Difference(pair.units, pair.columns[SEGMENTS], score - score_of_baseline)
    if _are_identical(pair, metric):
        return _judged(difference, 0.0)
    try:
        require_enough(pair)
        one, ours = gradient_of(system, metric, score)
        other, theirs = gradient_of(baseline, metric, score_of_baseline)
    except NoGradientError as error:
        return dataclasses.replace(difference, reason=str(error))
    # All in integers, over one denominator: what two similar systems share cancels without any
    # rounding.
    our_factor, our_parts = ours.as_integer_ratio()
    their_factor, their_parts = theirs.as_integer_ratio()
    our_factor *= other.denominator * their_parts
    their_factor *= one.denominator * our_parts
    gradient = Gradient(
        (*one.columns, *(width + column for column in other.columns)),
        (
            *(our_factor * numerator for numerator in one.numerators),
            *(-their_factor * numerator for numerator in other.numerators),
        ),
        one.denominator * other.denominator * our_parts * their_parts,
    )
    return _judged(difference, root(spread(pair, gradient), gradient.denominator**2, pair.units))


def independent_difference(
    new: UnitSums, old: UnitSums, metric_new: Metric, metric_old: Metric
) -> Difference:
    """The difference of two scores of different units, such as the texts of two nights.

    Args:
      new: the sums of one corpus.
      old: the sums of the other corpus; no unit of it is in the first one.
      metric_new: how the first sums become a score.
      metric_old: how the other sums become a score.

    Raises:
      ValueError: sums have a lower n-gram order than their scoring, or a scoring is only for
        single segments.
    """
    score = metric_new.value(new.columns)
    old_score = metric_old.value(old.columns)
    smaller = min(new, old, key=lambda sums: sums.units)
    difference = Difference(smaller.units, smaller.columns[SEGMENTS], score - old_score)
    variance = Fraction()
    try:
        require_enough(smaller)
        for units, metric, its_score in ((new, metric_new, score), (old, metric_old, old_score)):
            gradient, factor = gradient_of(units.columns, metric, its_score)
            own = Fraction(spread(units, gradient), gradient.denominator**2 * (units.units - 1))
            variance += Fraction(factor) ** 2 * own
    except NoGradientError as error:
        return dataclasses.replace(difference, reason=str(error))
    return _judged(difference, math.sqrt(variance))


def _are_identical(pair: UnitSums, metric: Metric) -> bool:
    """Whether two systems have the same counts in every unit: no test set shows a difference.

    The squares of the differences of counts add up to 0 only then.
    """
    width, products = len(pair.columns) // 2, pair.products
    return not any(
        products[product(column, column)]
        + products[product(width + column, width + column)]
        - 2 * products[product(column, width + column)]
        for column in metric.used(width)
    )


def _judged(difference: Difference, standard_error: float) -> Difference:
    """The difference with all that follows from its standard error."""
    points = difference.difference
    reason, p_value = "", None
    if standard_error:
        p_value = math.erfc(abs(points) / (standard_error * math.sqrt(2)))
    elif not points:
        p_value = 1.0
    else:
        reason = "the standard error is 0: every unit shows the same difference"
    return dataclasses.replace(
        difference,
        standard_error=standard_error,
        interval=interval(points, standard_error),
        p_value=p_value,
        # Units that all show the same do not tell how small a difference they would show.
        detectable=DETECTABLE * standard_error or None,
        reason=reason,
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values of a family, adjusted by Holm 1979 for the number of its comparisons.

    If no system differs from its baseline, then with a probability of 95 % no adjusted p-value is
    below 0.05, however many comparisons there are.

    Args:
      p_values: of all comparisons of the family. A comparison without one, None, does not count.
    """
    places = [place for place, p_value in enumerate(p_values) if p_value is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    remaining = len(places)
    for place in sorted(places, key=lambda place: p_values[place] or 0.0):
        largest = max(largest, min(1.0, remaining * (p_values[place] or 0.0)))
        adjusted[place] = largest
        remaining -= 1
    return adjusted


def clusters(
    systems: Sequence[str], p_values: Mapping[tuple[str, str], float | None]
) -> list[list[str]]:
    """Groups of systems, as WMT draws them: a line is only where all above it beat all below it.

    Systems of one group may still differ significantly from each other.

    Args:
      systems: their names, as `best_first` orders them.
      p_values: for each pair of systems, in either order of their names, its p-value, adjusted
        for the number of pairs; None if there is none, so that neither system beats the other.
    """

    def beats(better: str, worse: str) -> bool:
        pair = (better, worse) if (better, worse) in p_values else (worse, better)
        p_value = p_values[pair]
        return p_value is not None and p_value < SIGNIFICANCE_LEVEL

    groups: list[list[str]] = []
    for place, system in enumerate(systems):
        above, below = systems[:place], systems[place:]
        if not groups or all(beats(better, worse) for better in above for worse in below):
            groups.append([])
        groups[-1].append(system)
    return groups


def best_first(
    systems: Sequence[str], scores: Mapping[str, Score], *, lower_is_better: bool
) -> list[str]:
    """The systems by their scores. Those with equal scores stay in their order."""
    return sorted(systems, key=lambda system: scores[system].score * (1 if lower_is_better else -1))


@dataclasses.dataclass(frozen=True)
class SystemComparison:
    """A system compared with a baseline on the same segments.

    Attributes:
      system: the system.
      baseline: the system whose score is subtracted.
      segments: the number of segments.
      difference: in points of the score, -100..100.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is no standard error.
      p_value: the probability of a difference at least this large, in either direction, if there
        were no true difference; None if there is no standard error.
      p_value_holm: the same, adjusted by Holm for all comparisons of the element.
      detectable: the smallest true difference that this test set would usually find significant
        (80 % power); None if there is no standard error, or if it is 0.
      reason: why there is no standard error or no p-value; "" if there are both.
    """

    system: str
    baseline: str
    segments: int
    difference: float
    standard_error: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_value_holm: float | None
    detectable: float | None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class ComparedSystems:
    """The scores and comparisons of several systems.

    Attributes:
      scores: the score of each system by its name: such as a `BleuScore`.
      comparisons: the comparisons with the baseline, or of all pairs.
      clusters: with all pairs, the names of the systems in clusters, best first: each system is
        significantly better than all systems of later clusters. Systems without a standard error
        are in none. Otherwise empty.
    """

    scores: Mapping[str, Any]
    comparisons: tuple[SystemComparison, ...]
    clusters: tuple[tuple[str, ...], ...] = ()


def compared_systems(
    sums: SystemSums,
    systems: Sequence[str],
    metric: Metric,
    score: Callable[[CorpusSums], Score],
    *,
    all_pairs: bool,
    lower_is_better: bool = False,
) -> ComparedSystems:
    """The scores and comparisons of systems.

    Args:
      sums: those of one or more segments.
      systems: the systems' names, in the order of the sums.
      metric: how sums become a score.
      score: gives the score of the sums of a system, with its parts.
      all_pairs: whether the sums have all pairs, and clusters are asked for.
      lower_is_better: whether a lower score is better.
    """
    scores = {
        system: score(of_system) for system, of_system in zip(systems, sums.systems, strict=True)
    }
    differences = [
        paired_difference(sums.of_pair(number), metric) for number in range(len(sums.pairs))
    ]
    adjusted = holm([difference.p_value for difference in differences])
    comparisons = tuple(
        SystemComparison(
            systems[system],
            systems[baseline],
            difference.segments,
            difference.difference,
            difference.standard_error,
            difference.interval,
            difference.p_value,
            p_value_holm,
            difference.detectable,
            difference.reason,
        )
        for (system, baseline), difference, p_value_holm in zip(
            sums.pairs, differences, adjusted, strict=True
        )
    )
    if not all_pairs:
        return ComparedSystems(scores, comparisons)
    p_values = {
        (comparison.system, comparison.baseline): comparison.p_value_holm
        for comparison in comparisons
    }
    known = [system for system in systems if scores[system].standard_error is not None]
    ranked = best_first(known, scores, lower_is_better=lower_is_better)
    return ComparedSystems(scores, comparisons, tuple(map(tuple, clusters(ranked, p_values))))
