"""Which rows of slices and comparisons tables show, and in which order: the trouble first."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

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

VERDICT_STYLES: Mapping[Verdict, str] = {"worse": "red", "better": "green"}
"""The colours of significant differences. The word beside them says the same."""

Key = tuple[float, ...]


def is_significant(comparison: Mapping[str, Any]) -> bool:
    """Whether a difference is significant, adjusted for the comparisons of its family."""
    p_value = comparison["p_value_holm"]
    return p_value is not None and p_value < SIGNIFICANCE_LEVEL


def verdict(comparison: Mapping[str, Any], *, lower_is_better: bool) -> Verdict:
    """Whether a system is significantly worse or better than its baseline; "" if neither."""
    if not is_significant(comparison):
        return ""
    return "worse" if _gain(comparison, lower_is_better=lower_is_better) < 0 else "better"


def by_difference(comparison: Mapping[str, Any], *, lower_is_better: bool) -> Key:
    """A key that puts significant losses first, and small slices without p-values last.

    The largest differences of all are often those of a few segments, by chance. But a slice can be
    large and have no p-value, because nothing in it matches any more: such losses come second.
    """
    if comparison["difference"] is None:
        return (4, 0)
    gain = _gain(comparison, lower_is_better=lower_is_better)
    if comparison["p_value_holm"] is not None:
        is_loss = verdict(comparison, lower_is_better=lower_is_better) == "worse"
        return (0 if is_loss else 2, gain)
    units = comparison.get("units", comparison["segments"])
    return (1 if gain < 0 and units >= FEWEST_UNITS else 3, gain)


def by_score(score: Mapping[str, Any], *, lower_is_better: bool) -> Key:
    """A key that puts the worst score first, and what has no standard error last."""
    if score["score"] is None:
        return (2, 0)
    points = score["score"]
    has_error = "standard_error" not in score or score["standard_error"] is not None
    return (0 if has_error else 1, -points if lower_is_better else points)


def _gain(comparison: Mapping[str, Any], *, lower_is_better: bool) -> float:
    difference: float = comparison["difference"]
    return -difference if lower_is_better else difference


_LAST: Key = (math.inf,)


def without_significance(hidden: int, total: int, noun: str) -> str:
    """How many differences are not significant, and so hidden."""
    why = "is hidden because it has" if hidden == 1 else "are hidden because they have"
    return f"{hidden} of {counted(total, noun)} {why} no significant difference"


def cut_rows(shown: int, total: int, noun: str, sort: SortName) -> str:
    """How many rows are hidden because there are too many, and which ones are shown."""
    verb = "is" if total - shown == 1 else "are"
    return (
        f"{total - shown} of {counted(total, noun)} {verb} hidden: these are the {shown} "
        f"{SORTS[sort].first}"
    )


def sentence_about_hidden(reasons: Sequence[str], form: str) -> str:
    """The line below a table about its hidden rows, or "". `form` is a format that has them."""
    return "; ".join([*reasons, f"--format {form} shows all of them"]) if reasons else ""


def chosen_rows(
    rows: Sequence[Mapping[str, Any]],
    scores: Sequence[Mapping[str, Any]],
    choice: RowChoice,
    most: int | None,
    *,
    lower_is_better: bool,
) -> tuple[Sequence[Mapping[str, Any]], str]:
    """The differences that a table shows, and a sentence about those that it hides, or "".

    Args:
      rows: the differences.
      scores: for each one the score that it is about.
      choice: which ones are shown, and in which order. Without one, they keep their order, but the
        worst are shown if there are too many.
      most: the largest number of rows; None for all.
      lower_is_better: whether a lower score is better.
    """
    places, hidden = list(range(len(rows))), []
    if choice.only_significant:
        places = [place for place in places if is_significant(rows[place])]
        if left_out := len(rows) - len(places):
            hidden.append(without_significance(left_out, len(rows), "comparison"))
    sort = choice.sort
    if sort is None and most is not None and len(places) > most:
        sort = "difference"
    if sort == "difference":
        places.sort(key=lambda at: by_difference(rows[at], lower_is_better=lower_is_better))
    elif sort == "score":
        places.sort(key=lambda at: by_score(scores[at], lower_is_better=lower_is_better))
    elif sort == "segments":
        places.sort(key=lambda at: -rows[at]["segments"])
    kept = places[:most]
    if len(kept) < len(places):
        hidden.append(cut_rows(len(kept), len(places), "comparison", sort or "name"))
    return [rows[place] for place in kept], sentence_about_hidden(hidden, "json")


SliceName = tuple[tuple[str, str | None], ...]
"""The labels of a slice and their values."""


def name_of(of_slice: Mapping[str, str | None]) -> SliceName:
    """The name of a slice, as a key."""
    return tuple(of_slice.items())


class SliceOrder:
    """The order of the slices of a metric. A slice is as bad as the worst of its systems.

    Args:
      document: what the result document says about the metric.

    Attributes:
      worst: the order that shows the worst slices first.
      significant: the slices in which a system differs significantly.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        is_lower = row_of(document["metric"]).lower_is_better
        comparisons, scores = document.get("comparisons", ()), document["scores"]
        differences = _worst(
            (entry, by_difference(entry, lower_is_better=is_lower)) for entry in comparisons
        )
        self._keys: Mapping[SortName, Mapping[SliceName, Key]] = {
            "difference": differences,
            "score": _worst((entry, by_score(entry, lower_is_better=is_lower)) for entry in scores),
            "segments": _worst((entry, (-entry["segments"],)) for entry in scores),
            "name": {},
        }
        self.worst: SortName = "difference" if differences else "score"
        self.significant = {
            name_of(entry["slice"])
            for entry in comparisons
            if entry["slice"] is not None and is_significant(entry)
        }

    def key(self, sort: SortName, of_slice: SliceName) -> Key:
        """The place of a slice."""
        return self._keys[sort].get(of_slice, _LAST)


def _worst(entries: Iterable[tuple[Mapping[str, Any], Key]]) -> dict[SliceName, Key]:
    """The smallest key of each slice."""
    keys: dict[SliceName, Key] = {}
    for entry, key in entries:
        if entry["slice"] is not None:
            name = name_of(entry["slice"])
            keys[name] = min(keys.get(name, key), key)
    return keys
