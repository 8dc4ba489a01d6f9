"""What the page says in words: who is best, how sure that is, and where systems differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beam_bleu.pipeline.display.row_order import decimals_of, gain, is_significant, verdict
from beam_bleu.pipeline.display.score_tables import score_number
from beam_bleu.pipeline.result.rows import ComparisonRow, ScoreRow
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.differences import FEWEST_UNITS, SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    counted,
    estimates,
    p_value,
    rounded,
)

_NAMED = 8
"""A sentence names no more systems."""

_TOLD_ONE_BY_ONE = 3
"""More differences are counted, and only the largest ones are told."""


def best(name: str, scores: Sequence[ScoreRow], comparisons: Sequence[ComparisonRow] = ()) -> str:
    """Who has the best score, and who cannot be told apart from it.

    Args:
      name: the metric for readers.
      scores: one for each system, in any order.
      comparisons: the differences between two systems that are known.
    """
    ranked = [row for row in sorted(scores, key=gain, reverse=True) if row.score is not None]
    if not ranked:
        return f"No system has a score of the whole corpus by {name}."
    first = ranked[0]
    decimals = decimals_of(first.metric, scores)
    (number,) = estimates([score_number(first, decimals)])
    if len(scores) == 1:
        return f"{first.system} has {number} {name}."
    leaders = [row.system for row in ranked if row.score == first.score]
    kind = "lowest, and so the best," if row_of(first.metric).lower_is_better else "best"
    verb = "has" if len(leaders) == 1 else "have"
    text = f"{joined(leaders, _NAMED)} {verb} the {kind} {name}: {number}."
    tested = [
        (row, row.baseline if row.system == first.system else row.system)
        for row in comparisons
        if first.system in (row.system, row.baseline) and row.p_value_holm is not None
    ]
    if unsure := [system for row, system in tested if not is_significant(row)]:
        return (
            f"{text} This test set does not separate {first.system} from {joined(unsure, _NAMED)}."
        )
    if len(tested) == len(scores) - 1:
        text += " It is significantly better than each of the others."
    return text


def differences(compared: Sequence[tuple[str, ComparisonRow]]) -> str:
    """How far systems are from one baseline.

    Args:
      compared: the differences by a metric, one or more, each with the name of its slice; "" for
        the whole corpus.
    """
    decimals = decimals_of(compared[0][1].metric, [row for _, row in compared])
    if len(compared) <= _TOLD_ONE_BY_ONE:
        return " ".join(_difference(row, where, decimals) for where, row in compared)
    better, worse = (
        [own for own in compared if verdict(own[1]) == kind] for kind in ("better", "worse")
    )
    tested = sum(row.p_value_holm is not None for _, row in compared)
    text = (
        f"Of {counted(tested, 'tested difference')}, {len(worse)} are significant for the worse, "
        f"and {len(better)} for the better."
    )
    # The largest loss is what a reader must not overlook; a gain only if there is no loss.
    if worse or better:
        where, row = max(worse or better, key=lambda own: abs(own[1].difference))
        kind = "loss" if worse else "gain"
        text += f" The largest {kind}: {_difference(row, where, decimals)}"
    return text


def _difference(row: ComparisonRow, where: str, decimals: int) -> str:
    """How far a system is from another one, and whether that may be chance."""
    side = "below" if row.difference < 0 else "above"
    text = f"in {where}, " if where else ""
    text += f"{row.system} is {rounded(abs(row.difference), decimals)} points {side} {row.baseline}"
    if row.p_value_holm is None:
        return f"{text}; there is no p-value for this."
    known = p_value(row.p_value_holm)
    shown = f"p < {known[1:]}" if known.startswith("<") else f"p = {known}"
    if not is_significant(row):
        return f"{text}, which may be chance ({shown})."
    return f"{text}, which is {verdict(row)} ({shown})."


def over(name: str, item: str, system: str, scores: Mapping[str, ScoreRow]) -> str:
    """Where a system scores best and worst.

    The best and the worst scores of all are often those of a few segments, by chance. But a large
    slice without an interval, such as one in which nothing matches, is worth telling.

    Args:
      name: the metric for readers.
      item: what the slices are, after "by": "length".
      system: the system.
      scores: its scores by slice.
    """
    sure = {name: row for name, row in scores.items() if row.segments >= FEWEST_UNITS}
    shown = sure if len(sure) > 1 else scores
    if len(shown) < 2:
        return f"{system} has no scores to compare by {item}."
    ranked = sorted(shown, key=lambda name: gain(shown[name]), reverse=True)
    decimals = decimals_of(shown[ranked[0]].metric, scores.values())
    best, worst = (
        f"in {name} ({rounded(shown[name].score or 0.0, decimals)})"
        for name in (ranked[0], ranked[-1])
    )
    return f"By {item}, {system} has its best {name} {best}, and its worst {worst}."


def bucket(low: float | None, high: float | None) -> str:
    """A range of scores in words; an end that is None is open.

    >>> bucket(4, 8), bucket(None, 0.5), bucket(96, None)
    ('4 to 8', 'below 0.5', '96 or more')
    """
    if low is None:
        return "anything" if high is None else f"below {high:g}"
    return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


UNCERTAINTY = (
    f"{HALF_INTERVAL}: another test set of the same kind would usually give a score within it. "
    f"A difference is significant if p < {SIGNIFICANCE_LEVEL}, adjusted for the number of "
    "comparisons (Holm)."
)
"""What a reader must know about all intervals and p-values."""
