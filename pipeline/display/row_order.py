"""How tables show a result: how many decimals, which rows, and in which order (worst first)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from beam_bleu.pipeline.result.rows import ComparedRow, DifferenceRow, Result, ScoreRow
from beam_bleu.transforms.definition.flags import flag
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.known_metrics import MetricWord, metric_type, row_of
from beam_bleu.transforms.score.differences import FEWEST_UNITS, SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import counted, decimals_for

SortName = Literal["difference", "score", "name", "segments"]

SORTS: Mapping[SortName, str] = {
    "difference": "the worst losses",
    "score": "the worst score (of systems: the best, by the first metric)",
    "name": "the first name, or the shortest length",
    "segments": "the most segments",
}
"""The orders of rows, and what comes first in each. Equal rows stay in the order of scores.json."""


@dataclasses.dataclass(frozen=True)
class RowChoice:
    """Which rows of slices and comparisons to show; a `sort` of None is each table's own order."""

    sort: SortName | None = flag(
        None,
        "which slices and differences tables show first",
        "ORDER",
        choices=SORTS,
        shown_default="default for differences: difference, except by length",
    )
    only_significant: bool = flag(False, "show only significant differences")


USUAL_ROWS = RowChoice()


def usual_sort(item: str) -> SortName | None:
    """How the differences of slices by this item are sorted; lengths are in their own order."""
    return None if item == LENGTH else "difference"


def decimals_of(metric: MetricWord, rows: Iterable[ScoreRow | DifferenceRow | None] = ()) -> int:
    errors = [row.standard_error for row in rows if row is not None]
    return decimals_for(errors, metric_type(metric).score_type.DECIMALS)


@dataclasses.dataclass(frozen=True)
class View:
    result: Result
    data: bytes = b""
    remarks: Sequence[str] = ()
    decimals: int | None = None
    choice: RowChoice = USUAL_ROWS
    from_best: bool = False  # marks of tables for a paper compare with a metric's best system

    def decimals_of(
        self, metric: MetricWord, rows: Iterable[ScoreRow | DifferenceRow | None] = ()
    ) -> int:
        return decimals_of(metric, rows) if self.decimals is None else self.decimals


Verdict = Literal["", "worse", "better"]
Key = tuple[float, ...]
Row = TypeVar("Row")
Part = ScoreRow | DifferenceRow


def verdict(row: DifferenceRow) -> Verdict:
    """Whether a system is significantly worse or better than its baseline; "" if neither."""
    return verdict_by(row, row.p_value_holm)


def verdict_by(row: DifferenceRow, p: float | None) -> Verdict:
    """The verdict on a difference, "worse" or "better", by this p-value; "" if not significant."""
    if p is None or p >= SIGNIFICANCE_LEVEL:
        return ""
    return "worse" if gain(row) < 0 else "better"


def _gain(metric: MetricWord, points: float | None) -> float:
    if points is None:
        return -math.inf
    return -points if row_of(metric).lower_is_better else points


def gain(row: Part) -> float:
    """How good a score or a difference is: more is better, and a missing one is worst."""
    return _gain(row.metric, row.score if isinstance(row, ScoreRow) else row.difference)


def by_difference(row: DifferenceRow) -> Key:
    """A sort key that puts significant losses first, and small slices without p-values last.

    The largest differences are often those of a few segments, by chance. But a large slice can lack
    a p-value because nothing in it matches any more: such losses come second.
    """
    points = gain(row)
    if row.p_value_holm is not None:
        return (0 if verdict(row) == "worse" else 2, points)
    return (1 if points < 0 and row.units >= FEWEST_UNITS else 3, points)


def _by_score(row: ScoreRow | ComparedRow) -> Key:
    """A sort key that puts the worst score first, and scores without a standard error last."""
    score = row.score if isinstance(row, ScoreRow) else row.new
    return (1 if row.standard_error is None else 0, _gain(row.metric, score))


def _place(parts: Iterable[Part], sort: SortName) -> Key:
    """The sort key of a row with these parts. A row is as bad as the worst of its systems."""
    if sort == "segments":
        return (-max((part.segments for part in parts), default=0),)
    if sort == "name":
        return ()
    if sort == "difference":
        keys = [by_difference(row) for row in _differences(parts)]
    else:
        keys = [_by_score(part) for part in parts if isinstance(part, ScoreRow | ComparedRow)]
    return min(keys, default=(math.inf,))


def chosen_rows(
    rows: Sequence[Row], parts: Callable[[Row], Sequence[Part]], choice: RowChoice, noun: str
) -> tuple[list[Row], list[str]]:
    """The rows that a table shows, and a sentence if it hides others; `parts` takes a row apart."""
    shown, hidden = [*rows], []
    if choice.only_significant:
        shown = [row for row in rows if any(map(verdict, _differences(parts(row))))]
        if left_out := len(rows) - len(shown):
            hidden.append(f"{left_out} of {counted(len(rows), noun)} hidden: not significant")
    if sort := choice.sort:
        shown.sort(key=lambda row: _place(parts(row), sort))
    return shown, hidden


def _differences(parts: Iterable[Part]) -> list[DifferenceRow]:
    return [part for part in parts if isinstance(part, DifferenceRow)]
