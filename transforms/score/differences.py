"""Comparisons: is the difference of two scores larger than chance?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.score.score import Score, shown_columns, size_of
from beam_bleu.transforms.score.shown_numbers import (
    USUAL_DECIMALS,
    decimals_for,
    estimate,
    estimates,
    printable_name,
    signed,
    text_table,
)
from beam_bleu.transforms.score.shown_numbers import p_value as shown_p

CONFIDENCE = 0.95
"""The share of test sets whose interval contains the score that all texts of their kind have."""

TWO_SIDED_95 = 1.959963984540054
"""The number of standard errors on each side of the interval: the normal quantile of 0.975."""

FEWEST_UNITS = 30
"""With fewer units there is no standard error, because the approximation does not hold. A bootstrap
of so few units says too little about other units, too."""

SIGNIFICANCE_LEVEL = 0.05  # a difference is significant if its p-value is below this
_POWER_80 = 0.8416212335729143  # the normal quantile of 0.8
DETECTABLE = TWO_SIDED_95 + _POWER_80
"""In standard errors: the smallest true difference usually found significant (80 % power)."""


class McNemar(NamedTuple):
    """McNemar's exact test of two systems whose segments are right or wrong (1 or 0).

    Attributes:
      higher: how many segments only the system has right.
      lower: how many only its baseline has right.
      p_value: two-sided. If both were equally good, a coin would decide each of these segments.
    """

    higher: int
    lower: int
    p_value: float


@dataclasses.dataclass(frozen=True)
class Difference:
    """The difference of two scores: a system minus its baseline, or a new score minus an old one.
    `units` are those that both have; for independent corpora, those of the smaller one.
    """

    units: int
    segments: int
    difference: float
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    detectable: float | None = None
    reason: str = ""
    mcnemar: McNemar | None = None


def interval(center: float, standard_error: float | None) -> tuple[float, float] | None:
    if standard_error is None:
        return None
    half = TWO_SIDED_95 * standard_error
    return center - half, center + half


def wilson(right: int, segments: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, from 0 to 1 (Wilson 1927)."""
    share, square = right / segments, TWO_SIDED_95**2
    size = segments + square
    center = (right + square / 2) / size
    half = TWO_SIDED_95 * math.sqrt(segments * share * (1 - share) + square / 4) / size
    return max(0.0, center - half), min(1.0, center + half)  # rounding could exceed the ends


def newcombe(
    new: float, old: float, new_ends: tuple[float, float], old_ends: tuple[float, float]
) -> tuple[float, float]:
    """The 95 % interval of the difference of two shares of independent segments, from Wilson's
    interval of each (Newcombe 1998, method 10).
    """
    (new_low, new_high), (old_low, old_high) = new_ends, old_ends
    return (
        new - old - math.hypot(new - new_low, old_high - old),
        new - old + math.hypot(new_high - new, old - old_low),
    )


def mcnemar(higher: int, lower: int) -> McNemar:
    """The test by its definition (McNemar 1947): a binomial distribution, without approximation."""
    number, fewer = higher + lower, min(higher, lower)
    # The probabilities from the middle down, as multiples of that in the middle.
    term, half, tail = 1.0, 0.0, 0.0
    for successes in range(number // 2, -1, -1):
        half += term
        tail += term if successes <= fewer else 0.0
        term *= successes / (number - successes + 1)
        if not term:
            break
    whole = 2 * half - (number % 2 == 0)  # an even number has only one middle
    return McNemar(higher, lower, min(1.0, 2 * tail / whole))


def too_few(number: int, unit: str) -> str:
    shown = f"1 {unit} is" if number == 1 else f"{number} {unit}s are"
    return f"{shown} fewer than {FEWEST_UNITS}"


def difference_of_estimates(
    new: float, old: float, standard_errors: tuple[float | None, float | None], segments: int
) -> Difference:
    """The difference of two scores of different units. The squares of their errors add up."""
    new_error, old_error = standard_errors
    if new_error is not None and old_error is not None:
        return judged(segments, segments, new - old, math.hypot(new_error, old_error))
    if new_error is old_error:
        reason = "neither score has a standard error"
    else:
        reason = f"the {'new' if new_error is None else 'old'} score has no standard error"
    return Difference(segments, segments, new - old, reason=reason)


def judged(units: int, segments: int, difference: float, standard_error: float) -> Difference:
    p_value, reason = None, ""
    if standard_error:
        p_value = math.erfc(abs(difference) / (standard_error * math.sqrt(2)))
    elif not difference:
        p_value = 1.0
    else:
        reason = "the standard error is 0: every unit shows the same difference"
    return Difference(
        units,
        segments,
        difference,
        standard_error,
        interval(difference, standard_error),
        p_value,
        # Units that all show the same difference do not tell how small a one they would show.
        DETECTABLE * standard_error or None,
        reason,
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values of a family, adjusted by Holm 1979 for the number of its comparisons.

    If no system differs from its baseline, the probability that no adjusted p-value is below 0.05
    is at least 95 %, however many comparisons there are. One without a p-value does not count.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        adjusted[place] = largest = max(largest, min(1.0, (len(known) - rank) * p))
    return adjusted


def clusters(
    scores: Mapping[str, float],
    p_values: Mapping[tuple[str, str], float | None],
    *,
    lower_is_better: bool,
) -> list[list[str]]:
    """Groups of systems, as WMT draws them: with a line only where each system above it beats each
    one below it. Systems with equal scores stay in their order. `p_values` are adjusted, and by
    pairs in either order; None means that neither system beats the other.
    """

    def beats(better: str, worse: str) -> bool:
        pair = (better, worse) if (better, worse) in p_values else (worse, better)
        p_value = p_values[pair]
        return p_value is not None and p_value < SIGNIFICANCE_LEVEL

    sign = 1 if lower_is_better else -1
    systems = sorted(scores, key=lambda system: sign * scores[system])
    groups: list[list[str]] = []
    for place, system in enumerate(systems):
        above, below = systems[:place], systems[place:]
        if not groups or all(beats(better, worse) for better in above for worse in below):
            groups.append([])
        groups[-1].append(system)
    return groups


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class SystemComparison(Difference):
    """A system compared with a baseline on the same segments, as `ComparedSystems` has it.

    Attributes:
      units: the number of units, which are segments here.
      difference: in points of the score, -100..100.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is no standard error.
      p_value: the probability of a difference at least this large, in either direction, if there
        were no true difference; None if there is no standard error, or if it is 0 and the
        difference is not.
      p_value_holm: the same, adjusted by Holm for all comparisons of the element.
      detectable: the smallest true difference that this test set would usually find significant
        (80 % power); None if there is no standard error, or if it is 0.
      reason: why there is no standard error or no p-value; "" if there are both.
      mcnemar: `higher`, `lower` and `p_value` of McNemar's exact test, if each segment is right or
        wrong, as for exact match; else None.
    """

    system: str
    baseline: str
    p_value_holm: float | None = None

    def __repr__(self) -> str:
        shown = {name: cell for name, (cell,) in _columns_of([self]).items()}
        shown |= {"segments": str(self.segments), "reason": self.reason}
        return "  ".join(f"{name} {cell}" for name, cell in shown.items() if cell)


def _columns_of(comparisons: Sequence[SystemComparison]) -> dict[str, list[str]]:
    decimals = decimals_for([one.standard_error for one in comparisons], USUAL_DECIMALS)
    return {
        "system": [printable_name(one.system) for one in comparisons],
        "baseline": [printable_name(one.baseline) for one in comparisons],
        "difference": estimates(
            [estimate(one.difference, one.interval, decimals, signed) for one in comparisons]
        ),
        "p": [shown_p(one.p_value) for one in comparisons],
        "Holm p": [shown_p(one.p_value_holm) for one in comparisons],
        "detectable": estimates([estimate(one.detectable, None, decimals) for one in comparisons]),
    }


def _table(columns: Mapping[str, Sequence[str]]) -> str:
    return text_table([[name, *cells] for name, cells in columns.items()])


@dataclasses.dataclass(frozen=True, repr=False)
class ComparedSystems:
    """The scores of several systems, and their comparisons with the baseline, or of all pairs.

    With all pairs, `clusters` has the names of the systems, best first: each system is
    significantly better than all systems of later clusters. Systems without a standard error are
    in no cluster.
    """

    scores: Mapping[str, Score]
    comparisons: tuple[SystemComparison, ...]
    clusters: tuple[tuple[str, ...], ...] = ()

    def __repr__(self) -> str:
        systems, scores = [*map(printable_name, self.scores)], [*self.scores.values()]
        notes = [_table({"system": systems, **shown_columns(scores)}), size_of(scores)]
        if self.clusters:
            named = (", ".join(map(printable_name, cluster)) for cluster in self.clusters)
            notes.append(f"clusters, best first: {' > '.join(named)}")
        compared = ["", _table(_columns_of(self.comparisons))] if self.comparisons else []
        return "\n".join([*notes, *compared])


def compared_pairs(
    systems: Sequence[str], baseline: str, *, all_pairs: bool
) -> list[tuple[str, str]]:
    """(system, baseline) of each comparison; in all pairs, the baseline is the one named first."""
    ordered = [baseline, *(system for system in systems if system != baseline)]
    baselines = ordered if all_pairs else ordered[:1]
    return [
        (system, other) for place, other in enumerate(baselines) for system in ordered[place + 1 :]
    ]


def chosen_pairs(
    systems: Sequence[str], baseline: str | None, *, all_pairs: bool
) -> list[tuple[str, str]]:
    if len(systems) < 2 or len({*systems}) < len(systems):
        raise ValueError(f"systems must be two or more different names, got {systems!r}")
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(f"baseline must be one of {', '.join(systems)}, got {baseline!r}")
    require_flag("all_pairs", all_pairs)
    return compared_pairs(systems, baseline, all_pairs=all_pairs)
