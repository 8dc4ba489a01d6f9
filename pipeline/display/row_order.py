"""Which rows of slices and comparisons tables show, and in which order: the trouble first."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

from beam_bleu.pipeline.result.rows import ComparedRow, DifferenceRow, ScoreRow
from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import counted
from beam_bleu.transforms.score.uncertainty import FEWEST_UNITS

SortName = Literal["difference", "score", "name", "segments"]


@dataclasses.dataclass(frozen=True)
class Sort:
    """A row of `SORTS`.

    Attributes:
      name: its name.
      description: what comes first, for the help.
      first: the rows that come first, for a sentence about those that are hidden.
    """

    name: SortName
    description: str
    first: str


SORTS: Mapping[SortName, Sort] = table(
    Sort("difference", "the worst losses", "with the worst differences"),
    Sort("score", "the worst score", "with the worst scores"),
    Sort("name", "the first name, or the shortest length", "first ones"),
    Sort("segments", "the most segments", "with the most segments"),
)
"""The orders of rows. In each of them, equal rows stay in the order of scores.json."""


@dataclasses.dataclass(frozen=True)
class RowChoice:
    """Which rows of slices and comparisons a user wants to see, and in which order.

    Attributes:
      sort: a name in `SORTS`; None for the usual order of each table.
      only_significant: whether differences that are not significant are left out.
    """

    sort: SortName | None = None
    only_significant: bool = False


USUAL_ROWS = RowChoice()
"""All rows, in the usual order."""

Verdict = Literal["", "worse", "better"]

Key = tuple[float, ...]

Row = TypeVar("Row")


def is_significant(row: DifferenceRow) -> bool:
    """Whether a difference is significant, adjusted for the comparisons of its family."""
    return row.p_value_holm is not None and row.p_value_holm < SIGNIFICANCE_LEVEL


def verdict(row: DifferenceRow) -> Verdict:
    """Whether a system is significantly worse or better than its baseline; "" if neither."""
    if row.difference is None or not is_significant(row):
        return ""
    return "worse" if _gain(row, row.difference) < 0 else "better"


def by_difference(row: DifferenceRow) -> Key:
    """A key that puts significant losses first, and small slices without p-values last.

    The largest differences of all are often those of a few segments, by chance. But a slice can be
    large and have no p-value, because nothing in it matches any more: such losses come second.
    """
    if row.difference is None:
        return (4, 0)
    gain = _gain(row, row.difference)
    if row.p_value_holm is not None:
        return (0 if verdict(row) == "worse" else 2, gain)
    return (1 if gain < 0 and row.units >= FEWEST_UNITS else 3, gain)


def by_score(row: ScoreRow | ComparedRow) -> Key:
    """A key that puts the worst score first, and what has no standard error last."""
    score = row.score if isinstance(row, ScoreRow) else row.new
    if score is None:
        return (2, 0)
    points = -score if row_of(row.metric).lower_is_better else score
    return (1 if row.standard_error is None else 0, points)


def _gain(row: DifferenceRow, difference: float) -> float:
    return -difference if row_of(row.metric).lower_is_better else difference


@dataclasses.dataclass(frozen=True)
class Facts:
    """What decides whether a row of a table is shown, and where.

    Attributes:
      differences: of the systems in the row.
      scores: of the systems in the row. A row is as bad as the worst of them.
    """

    differences: Sequence[DifferenceRow]
    scores: Sequence[ScoreRow | ComparedRow]

    def key(self, sort: SortName) -> Key:
        """The place of the row in an order."""
        if sort == "difference":
            return min(map(by_difference, self.differences), default=_LAST)
        if sort == "score":
            return min(map(by_score, self.scores), default=_LAST)
        segments = [row.segments for row in (*self.differences, *self.scores)]
        return (-max(segments, default=0),) if sort == "segments" else ()


_LAST: Key = (5,)


def chosen_rows(
    rows: Sequence[Row],
    facts: Callable[[Row], Facts],
    choice: RowChoice,
    most: int | None,
    noun: str,
) -> tuple[list[Row], list[str]]:
    """The rows that a table shows, and why it hides others.

    Args:
      rows: all rows.
      facts: what decides about a row.
      choice: which rows are shown, and in which order. Without an order they keep their own, but
        the worst are shown if there are too many.
      most: the largest number of rows; None for all.
      noun: what a row is about.
    """
    known = [(row, facts(row)) for row in rows]
    hidden = []
    if choice.only_significant:
        known = [(row, own) for row, own in known if any(map(is_significant, own.differences))]
        if left_out := len(rows) - len(known):
            why = "is hidden because it has" if left_out == 1 else "are hidden because they have"
            hidden.append(
                f"{left_out} of {counted(len(rows), noun)} {why} no significant difference"
            )
    worst: SortName = "difference" if any(own.differences for _, own in known) else "score"
    sort = choice.sort or worst
    places = sorted(range(len(known)), key=lambda place: known[place][1].key(sort))[:most]
    if choice.sort is None:
        places.sort()
    if left_out := len(known) - len(places):
        hidden.append(
            f"{left_out} of {counted(len(known), noun)} {'is' if left_out == 1 else 'are'} hidden: "
            f"these are the {len(places)} {SORTS[sort].first}"
        )
    return [known[place][0] for place in places], hidden
