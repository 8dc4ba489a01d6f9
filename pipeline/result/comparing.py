"""Compares two results, row by row: in pairs of the same segments, or as independent samples.

The scores of the whole corpus are compared in pairs if both runs have the same segments and the
same replicates. All other differences have the errors of both scores: they add up in their squares.
If the segments are the same but cannot be paired, such an error is too large, so a difference that
it calls significant is so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparedRow,
    DifferenceRow,
    Method,
    Result,
    ScoreRow,
)
from beam_bleu.pipeline.result.saved_result import SavedResult
from beam_bleu.pipeline.result.series import Key, definition_of, key_of
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import (
    difference_of_estimates,
    holm,
)

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.paired_runs import Paired


def pairing(old: SavedResult, new: SavedResult) -> Paired | str:
    """What compares the systems of two results in pairs of segments, or why nothing can.

    Raises:
      InputError: the totals of one are damaged.
    """
    if old.result.languages or new.result.languages:
        return "each language is scored by itself, and replicates are of the whole corpus only"
    runs = {"old": old, "new": new}
    without = [name for name, saved in runs.items() if saved.result.resampling is None]
    if without:
        which = f"the {without[0]} run has no" if len(without) == 1 else "neither run has"
        return f"{which} replicates (--resample), which a comparison in pairs needs"
    for name, saved in runs.items():
        if not saved.has_totals:
            return f"the {name} run has no totals.json (--save_totals), which pairs need"
    # These load numpy and the kernel of replicates, so only a comparison in pairs pays for it.
    from beam_bleu.pipeline.saved.paired_runs import paired
    from beam_bleu.pipeline.saved.totals_file import OtherVersionsError

    metrics = comparable(old.result, new.result)
    if not metrics:
        return "no metric has the same definition in both runs"
    try:
        return paired(old.totals, new.totals, metrics)
    except OtherVersionsError as error:
        return error.cause


def comparable(old: Result, new: Result, *, as_means: bool = False) -> list[MetricWord]:
    """The metrics of two results that both have by the same definition.

    Args:
      old: one result.
      new: the other one.
      as_means: whether their means must be over the same languages or tasks, too.
    """
    found = []
    for word in new.words:
        if word in old.words:
            before, now = definition_of(old, word), definition_of(new, word)
            is_same = before == now if as_means else before.shown == now.shown
            found += [word] if is_same else []
    return found


def compare(old: Result, new: Result, pairs: Paired | str) -> list[ComparedRow]:
    """Each score of a result minus the same score of an older one, in the order of the new one.

    Metrics with another definition are left out, and means over other languages or tasks.

    Args:
      old: the older result.
      new: the newer one.
      pairs: what compares systems in pairs, or why nothing does.
    """
    metrics, means = comparable(old, new), comparable(old, new, as_means=True)
    former = _scored(old)
    return adjusted(
        [
            _compared(former[place], row, pairs)
            for place, row in _scored(new).items()
            if place in former and row.metric in (means if row.group == MACRO_AVERAGE else metrics)
        ]
    )


def compared_series(old: Result, new: Result, pairs: Paired | str) -> dict[Key, ComparedRow]:
    """The same by series; of a score of the whole corpus and a mean, the former."""
    return {key_of(row): row for row in reversed(compare(old, new, pairs))}


def _scored(result: Result) -> dict[tuple[Key, bool], ScoreRow]:
    """The scores, by their series and whether they are means."""
    return {
        (key_of(row), row.group == MACRO_AVERAGE): row
        for row in result.scores
        if row.preset is None and row.score is not None
    }


def _compared(old: ScoreRow, new: ScoreRow, pairs: Paired | str) -> ComparedRow:
    """A score in two results, before its p-value is adjusted."""
    assert old.score is not None
    assert new.score is not None
    points = new.score - old.score
    errors = new.standard_error, old.standard_error
    is_unchanged = (old.score, old.segments, old.parts) == (new.score, new.segments, new.parts)
    method: Method = "independent"
    if new.group is None and not isinstance(pairs, str):
        method = "paired"
        difference = pairs.difference(new.metric, new.system, points)
    else:
        if is_unchanged and old.standard_error == new.standard_error is not None:
            errors = 0.0, 0.0  # other texts would have other errors
        segments = min(old.segments, new.segments)
        difference = difference_of_estimates(new.score, old.score, errors, segments)
    return ComparedRow(
        metric=new.metric,
        system=new.system,
        group=new.group,
        old=old.score,
        new=new.score,
        method="unchanged" if is_unchanged else method,
        **vars(difference) | {"segments": new.segments},
    )


Row = TypeVar("Row", bound=DifferenceRow)


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """Differences with their p-values adjusted by Holm, for each metric and family of its own."""
    families: dict[tuple[MetricWord, str], list[int]] = {}
    for number, row in enumerate(rows):
        families.setdefault((row.metric, row.family), []).append(number)
    p_values: dict[int, float | None] = {}
    for numbers in families.values():
        own = holm([rows[number].p_value for number in numbers])
        p_values.update(zip(numbers, own, strict=True))
    return [
        dataclasses.replace(row, p_value_holm=p_values[number]) for number, row in enumerate(rows)
    ]
