"""Compares two saved results, row by row: in pairs of segments, or as independent samples.

For independent samples, the squares of both standard errors add up. If the segments are the same,
this error is too large, so a difference that is significant by it is significant in any case.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparedRow,
    Definition,
    FamilyName,
    Key,
    Method,
    MetricNames,
    Result,
    ScoreRow,
    adjusted,
    definition_of,
)
from beam_bleu.pipeline.saved.saved_result import SavedResult
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import difference_of_estimates

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.paired_runs import Paired


def pairing(old: SavedResult, new: SavedResult) -> Paired | str:
    if conditions := changed_conditions(old.result, new.result):
        return conditions
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
    # Imported here, because they load numpy and the kernel of replicates, which only pairs need.
    from beam_bleu.pipeline.saved.paired_runs import paired
    from beam_bleu.pipeline.saved.totals_file import OtherVersionsError

    definitions = common_definitions(old.result, new.result)
    metrics = [word for word, (before, now) in definitions.items() if before.shown == now.shown]
    if not metrics:
        return "no metric has the same definition in both runs"
    try:
        return paired(old.totals, new.totals, metrics)
    except OtherVersionsError as error:
        return error.cause


def changed_conditions(old: Result, new: Result) -> str | None:
    """A warning, unless the labels of partitions say that the records are others anyway."""
    if old.where == new.where or old.partitions != new.partitions:
        return None
    before, now = (", ".join(result.where) or "none" for result in (old, new))
    return f"the conditions of records (--where) changed from {before} to {now}"


def compare(old: Result, new: Result, pairs: Paired | str) -> list[ComparedRow]:
    definitions = common_definitions(old, new)
    former = _scored(old)
    rows = []
    for (key, is_mean), row in _scored(new).items():
        if key.metric in definitions and (key, is_mean) in former:
            before, now = definitions[key.metric]
            if before == now if is_mean else before.shown == now.shown:
                rows.append(_compared(former[key, is_mean], row, pairs))
    return adjusted(rows)


def common_definitions(old: Result, new: Result) -> dict[MetricWord, tuple[Definition, Definition]]:
    return {
        word: (definition_of(old, word), definition_of(new, word))
        for word in new.words
        if word in old.words
    }


def compared_series(old: Result, new: Result, pairs: Paired | str) -> dict[Key, ComparedRow]:
    """The comparisons by series: those of the whole corpus if it has a score, else of the mean."""
    return {row.key: row for row in reversed(compare(old, new, pairs))}


def _scored(result: Result) -> dict[tuple[Key, bool], ScoreRow]:
    return {
        (row.key, row.slice == MACRO_AVERAGE): row for row in result.scores if row.score is not None
    }


def _compared(old: ScoreRow, new: ScoreRow, pairs: Paired | str) -> ComparedRow:
    assert old.score is not None
    assert new.score is not None
    points = new.score - old.score
    errors = new.standard_error, old.standard_error
    is_unchanged = (old.score, old.segments, old.parts) == (new.score, new.segments, new.parts)
    method: Method = "independent"
    if new.slice is None and not isinstance(pairs, str):
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
        slice=new.slice,
        old=old.score,
        new=new.score,
        method="unchanged" if is_unchanged else method,
        **vars(difference) | {"segments": new.segments},
    )


_SHOWN = 5  # the most names that a message lists


@dataclasses.dataclass(frozen=True)
class ComparedResults:
    """Two results for `beam-bleu compare`; if not compared in pairs, `pairs` says why not."""

    old: SavedResult
    new: SavedResult
    pairs: Paired | str
    rows: Sequence[ComparedRow]

    @property
    def is_paired(self) -> bool:
        return not isinstance(self.pairs, str)

    @property
    def reason(self) -> str:
        both = "both runs have the same references and the same random replicates"
        return self.pairs if isinstance(self.pairs, str) else both

    @property
    def metrics(self) -> list[MetricNames]:
        words = {row.metric for row in self.rows}
        return [metric for metric in self.new.result.metrics if metric.metric in words]

    def family(self, name: FamilyName, metric: MetricWord | None = None) -> list[ComparedRow]:
        return [row for row in self.rows if row.family == name and metric in (None, row.metric)]

    @property
    def warnings(self) -> Iterator[str]:
        if conditions := changed_conditions(self.old.result, self.new.result):
            yield conditions
        for saved, other in ((self.old, self.new), (self.new, self.old)):
            if names := without(_names(saved.result), _names(other.result)):
                yield f"of {saved.name}, not compared: {joined(names, _SHOWN)}"


def compared_results(old: SavedResult, new: SavedResult) -> ComparedResults:
    for saved in (old, new):
        if saved.result.uncertainty is None:
            raise InputError(
                f"{saved.name} has no standard errors", "repeat its run without --no_uncertainty"
            )
    for before, now in common_definitions(old.result, new.result).values():
        if before.shown != now.shown:
            raise InputError(
                f"{old.name} and {new.name} have different definitions: {before.shown}, and "
                f"{now.shown}",
                "compare runs with the same definition and the same numbers of references; BLEU "
                "and the formula of chrF can get another one with beam-bleu rescore",
            )
    pairs = pairing(old, new)
    rows = compare(old.result, new.result, pairs)
    if not rows:
        raise InputError(
            f"{old.name} and {new.name} have no score in common",
            "compare runs with the same metrics, names of systems (--candidates NAME=PATTERN), and "
            "languages or tasks",
        )
    return ComparedResults(old, new, pairs, rows)


def without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    others = {*others}
    return [name for name in names if name not in others]


def _names(result: Result) -> list[str]:
    slices = dict.fromkeys(row.key.slice_text for row in result.scores if row.labels)
    return [*(metric.name for metric in result.metrics), *result.systems, *slices]
