"""What the page says in words: who is best, how sure that is, and where systems differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.row_order import is_significant, verdict
from beam_bleu.pipeline.result.rows import ComparisonRow, MetricNames, ScoreRow
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    counted,
    estimate,
    p_value,
    rounded,
)

Difference = tuple[str, ComparisonRow]
"""A difference on a slice, with the name of the slice."""

_NAMED = 8
"""A sentence names no more systems."""

_TOLD_ONE_BY_ONE = 3
"""More differences are counted, and only the largest ones are told."""


Row = TypeVar("Row", ScoreRow, ComparisonRow)


@dataclasses.dataclass(frozen=True)
class Measure:
    """How the page speaks of a metric.

    Attributes:
      metric: its word.
      name: its name for readers.
      decimals: how many decimals numbers have that have no standard error.
    """

    metric: MetricWord
    name: str
    decimals: int

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower score is better."""
        return row_of(self.metric).lower_is_better

    def of(self, rows: Iterable[ScoreRow | ComparisonRow]) -> Measure:
        """The same, with the decimals that these scores or differences need."""
        decimals = decimals_of(self.metric, None, [row.standard_error for row in rows])
        return dataclasses.replace(self, decimals=decimals)

    def estimate(self, score: ScoreRow) -> str:
        """A score with half of its interval: "57.8 ± 3.4"."""
        number, half = estimate(score.score, score.interval, self.decimals)
        return f"{number} ± {half}" if half else number

    def best_first(self, rows: Iterable[Row]) -> list[Row]:
        """Scores or differences from the best to the worst; those that are None come last."""

        def place(row: Row) -> tuple[bool, float]:
            value = row.score if isinstance(row, ScoreRow) else row.difference
            return value is None, (value or 0) * (1 if self.lower_is_better else -1)

        return sorted(rows, key=place)


def measure_of(metric: MetricNames) -> Measure:
    """How the page speaks of a metric of a result."""
    return Measure(metric.metric, metric.name, decimals_of(metric.metric, None))


def listed(names: Sequence[str], most: int = _NAMED) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    more = len(names) - most
    shown = [*names[:most], *([f"{more} more"] if more > 0 else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def best(
    measure: Measure,
    scores: Sequence[ScoreRow],
    clusters: Sequence[Mapping[str, Any]] = (),
    comparisons: Iterable[ComparisonRow] = (),
) -> str:
    """Who has the best score, and who cannot be told apart from it.

    Args:
      measure: the metric.
      scores: one for each system, in any order.
      clusters: the clusters of the systems, the best one first; none if there are no clusters.
      comparisons: the differences between two systems that are known.
    """
    ranked = [row for row in measure.best_first(scores) if row.score is not None]
    if not ranked:
        return f"No system has a score of the whole corpus by {measure.name}."
    first = ranked[0]
    if len(scores) == 1:
        return f"{first.system} has {measure.estimate(first)} {measure.name}."
    leaders = [row.system for row in ranked if row.score == first.score]
    kind = "lowest, and so the best," if measure.lower_is_better else "best"
    verb = "has" if len(leaders) == 1 else "have"
    text = f"{listed(leaders)} {verb} the {kind} {measure.name}: {measure.estimate(first)}."
    if clusters and leaders[0] not in clusters[0]["systems"]:
        return (
            f"{text} {leaders[0]} has no standard error, so it is not known whether this is chance."
        )
    group = clusters[0]["systems"] if clusters else _not_separated(leaders[0], comparisons)
    if others := [system for system in group if system != leaders[0]]:
        text += f" This test set does not separate {leaders[0]} from {listed(others)}."
    elif len(clusters) > 1:
        # Systems without a standard error are in no cluster.
        tested = sum(len(cluster["systems"]) for cluster in clusters)
        known = "" if tested == len(scores) else " with a standard error"
        text += f" It is significantly better than each of the others{known}."
    return text


def _not_separated(leader: str, comparisons: Iterable[ComparisonRow]) -> list[str]:
    """The systems whose difference from the best one is known, and may be chance."""
    rest = []
    for row in comparisons:
        pair = [row.system, row.baseline]
        if leader in pair and row.p_value_holm is not None and not is_significant(row):
            pair.remove(leader)
            rest += pair
    return rest


def difference(measure: Measure, row: ComparisonRow) -> str:
    """How far a system is from another one, and whether that may be chance."""
    if not row.difference:
        return f"{row.system} and {row.baseline} have the same {measure.name}."
    side = "above" if row.difference > 0 else "below"
    points = rounded(abs(row.difference), measure.decimals)
    unit = "point" if float(points) == 1 else "points"
    text = f"{row.system} is {points} {unit} {side} {row.baseline}"
    if row.p_value_holm is None:
        return f"{text}; there is no p-value for this."
    shown = p_text(row.p_value_holm)
    if not is_significant(row):
        return f"{text}, which may be chance ({shown})."
    if measure.lower_is_better:
        text += f", which is {verdict(row)}"
    return f"{text} ({shown})."


def p_text(p: float) -> str:
    """A p-value in a sentence.

    >>> p_text(0.0312), p_text(0.00001)
    ('p = 0.031', 'p < 0.001')
    """
    known = p_value(p)
    return f"p < {known[1:]}" if known.startswith("<") else f"p = {known}"


def differences(measure: Measure, rows: Sequence[ComparisonRow]) -> str:
    """How far all systems are from one baseline."""
    if len(rows) <= _TOLD_ONE_BY_ONE:
        return " ".join(difference(measure, row) for row in rows)
    better, worse, untested = _judged(rows)
    chance = len(rows) - untested - len(better) - len(worse)
    text = (
        f"Of {counted(len(rows), 'system')}, "
        f"{_are(len(better))} significantly better than {rows[0].baseline}, "
        f"{_are(len(worse))} significantly worse, and {chance} cannot be told apart from it"
        f"{_of_untested(untested)}."
    )
    # The largest loss is what a reader must not overlook; a gain only if there is no loss.
    largest = max(worse or better, key=_size, default=None)
    return text if largest is None else f"{text} {difference(measure, largest)}"


def in_slices(measure: Measure, differences: Sequence[Difference]) -> str:
    """In which slices systems differ, and where the largest loss is."""
    better, worse, untested = _judged([row for _, row in differences])
    tested, significant = len(differences) - untested, len(worse) + len(better)
    more = _of_untested(untested, "more ")
    if not tested:
        return "No difference in slices has a p-value that says whether it is chance."
    if not significant:
        start = "The only tested difference" if tested == 1 else f"None of {tested} differences"
        return f"{start} in slices {'is not' if tested == 1 else 'is'} significant{more}."
    largest = max(worse or better, key=_size)
    where = next(name for name, row in differences if row is largest)
    return (
        f"{significant} of {counted(tested, 'difference')} in slices "
        f"{'is' if significant == 1 else 'are'} significant: "
        f"{len(worse)} for the worse, {len(better)} for the better{more}. "
        f"The largest {'loss' if worse else 'gain'} is in {where}: {difference(measure, largest)}"
    )


def over(measure: Measure, what: str, system: str, values: Mapping[str, float | None]) -> str:
    """Where a system scores best and worst, over categories such as lengths.

    Args:
      measure: the metric.
      what: what the categories are, after "by": "length".
      system: the system.
      values: its scores by category; None where it has none.
    """
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < 2:
        return f"{system} has no scores to compare by {what}."
    ranked = sorted(known, key=lambda name: known[name], reverse=not measure.lower_is_better)
    if known[ranked[0]] == known[ranked[-1]]:
        score = rounded(known[ranked[0]], measure.decimals)
        return f"By {what}, {system} scores {score} everywhere."
    first, last = (
        f"in {name} ({rounded(known[name], measure.decimals)})" for name in (ranked[0], ranked[-1])
    )
    return f"By {what}, {system} has its best {measure.name} {first}, and its worst {last}."


def parts(
    system: str, other: str, of_system: Mapping[str, float], of_other: Mapping[str, float]
) -> str:
    """In which part of a score a system differs most from another one.

    Args:
      system: the system.
      other: the system with which it is compared.
      of_system: its parts, by name.
      of_other: those of the other one.
    """
    gaps = {name: of_system[name] - of_other[name] for name in of_system if name in of_other}
    name = max(gaps, key=lambda part: abs(gaps[part]), default=None)
    if name is None or not gaps[name]:
        return f"{system} and {other} have the same parts."
    side = "above" if gaps[name] > 0 else "below"
    return (
        f"{system} differs most from {other} in {name}: "
        f"{rounded(abs(gaps[name]), 1)} {side} its {rounded(of_other[name], 1)}."
    )


def bucket(low: float | None, high: float | None) -> str:
    """A range of scores in words; an end that is None is open.

    >>> bucket(4, 8), bucket(None, 0.5), bucket(96, None)
    ('4 to 8', 'below 0.5', '96 or more')
    """
    if low is None:
        return "anything" if high is None else f"below {high:g}"
    return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


def half_of_segments(system: str, edges: Sequence[float | None], counts: Sequence[int]) -> str:
    """Between which scores the segment in the middle is.

    Args:
      system: the system.
      edges: the ends of the buckets, one more than there are buckets.
      counts: how many segments are in each bucket.
    """
    total, below = sum(counts), 0
    for number, count in enumerate(counts):
        below += count
        if 2 * below >= total > 0:
            return f"The median segment of {system} scores {bucket(*edges[number : number + 2])}."
    return f"{system} has no segments with a score."


UNCERTAINTY = (
    f"{HALF_INTERVAL}: another test set of the same kind would usually give a score within it. "
    f"A difference is significant if p < {SIGNIFICANCE_LEVEL}, adjusted for the number of "
    "comparisons (Holm)."
)
"""What a reader must know about all intervals and p-values."""


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def _of_untested(number: int, more: str = "") -> str:
    """What a sentence adds about differences that can be large, although nothing tests them."""
    return f"; {number} {more}{'has' if number == 1 else 'have'} no p-value" if number else ""


def _judged(
    rows: Sequence[ComparisonRow],
) -> tuple[list[ComparisonRow], list[ComparisonRow], int]:
    """The significant gains, the significant losses, and how many differences have no p-value."""
    better, worse = ([row for row in rows if verdict(row) == kind] for kind in ("better", "worse"))
    return better, worse, sum(row.p_value_holm is None for row in rows)


def _size(row: ComparisonRow) -> float:
    return abs(row.difference or 0)
