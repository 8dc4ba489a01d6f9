"""Two results as `beam-bleu compare` shows them: metric by metric, with what a reader must know."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping

from beam_bleu.pipeline.result.comparing import compare, pairing
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, ComparedRow, MetricNames, Result
from beam_bleu.pipeline.result.saved_result import NotPaired, SavedResult
from beam_bleu.pipeline.result.series import definition_of, key_of
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.shown_numbers import counted

_SHOWN = 5
"""More slices are not all named."""

_TOO_CAREFUL = (
    ". Both have the same references, so these standard errors are too large, and a real "
    "difference can go unseen"
)

_IN_ONE_RUN = "for smaller errors of the same texts: score both outputs in one run (--baseline)"

_IN_PAIRS = ", or repeat both runs with --save_totals and the same --resample"


@dataclasses.dataclass(frozen=True)
class ComparedResults:
    """The comparison of two results.

    Attributes:
      new: the new result.
      rows: the scores that both results have, in the order of the new one; one or more.
      is_paired: whether the systems are compared in pairs of segments.
      reason: why, or why not.
      remedy: how results of the same texts can be compared better; "" if these are other texts, or
        are compared in pairs.
      only_old: the systems that only the old result has.
      only_new: the systems that only the new result has.
      warnings: what was not compared.
    """

    new: Result
    rows: tuple[ComparedRow, ...]
    is_paired: bool
    reason: str
    remedy: str
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def metrics(self) -> list[MetricNames]:
        """The metrics of which both have a score in common."""
        words = {row.metric for row in self.rows}
        return [metric for metric in self.new.metrics if metric.metric in words]

    def by(self, metric: MetricNames) -> ComparedResults:
        """The same of one metric."""
        rows = tuple(row for row in self.rows if row.metric == metric.metric)
        return dataclasses.replace(self, rows=rows)

    @property
    def systems(self) -> list[ComparedRow]:
        """The differences on the whole corpus."""
        return [row for row in self.rows if row.group is None]

    @property
    def macro_average(self) -> list[ComparedRow]:
        """The differences of the means over languages or tasks."""
        return [row for row in self.rows if row.group == MACRO_AVERAGE]

    @property
    def slices(self) -> list[ComparedRow]:
        """The differences on slices."""
        return [row for row in self.rows if isinstance(row.group, Mapping)]


def compared_results(old: SavedResult, new: SavedResult) -> ComparedResults:
    """The comparison of two results, by each metric that both have.

    Raises:
      InputError: they have other definitions, no metric or system in common, no standard errors, or
        no score in common.
    """
    both = f"{old.name} and {new.name}"
    shared = [metric for metric in new.result.metrics if metric.metric in old.result.words]
    if not shared:
        raise InputError(
            f"{both} have no metric in common: {' '.join(old.result.words)}, and "
            f"{' '.join(new.result.words)}",
            "repeat one of the runs with --metrics of the other one",
        )
    for saved in (old, new):
        if saved.result.uncertainty is None:
            raise InputError(
                f"{saved.name} has no standard errors", "repeat its run without --no_uncertainty"
            )
    for metric in shared:
        _require_same_definition(old, new, metric.metric)
    if not {*old.result.systems} & {*new.result.systems}:
        raise InputError(
            f"{both} have no system in common",
            "give a system the same name in both runs: --candidates NAME=PATTERN",
        )
    pairs = pairing(old, new)
    rows = compare(old.result, new.result, pairs)
    if not rows:
        raise InputError(
            f"{both} have no score of the whole corpus or of the same slice in common",
            "compare runs with the same languages or tasks",
        )
    reason, remedy = "both runs have the same references and the same random replicates", ""
    if isinstance(pairs, NotPaired):
        reason, remedy = pairs.reason, _IN_ONE_RUN + ("" if pairs.for_ever else _IN_PAIRS)
        references = old.digests("references"), new.digests("references")
        if all(references):
            same = references[0] == references[1]
            reason, remedy = (reason + _TOO_CAREFUL, remedy) if same else (reason, "")
    return ComparedResults(
        new.result,
        tuple(rows),
        not isinstance(pairs, NotPaired),
        reason,
        remedy,
        tuple(_without(old.result.systems, new.result.systems)),
        tuple(_without(new.result.systems, old.result.systems)),
        tuple(_left_out(old, new, shared, {row.metric for row in rows})),
    )


def _require_same_definition(old: SavedResult, new: SavedResult, metric: MetricWord) -> None:
    before, now = (definition_of(saved.result, metric) for saved in (old, new))
    if before.made != now.made:
        raise InputError(
            f"{old.name} and {new.name} have different definitions: {before.shown}, and "
            f"{now.shown}",
            "compare runs with the same definition and the same numbers of references; BLEU and "
            "the formula of chrF can get another one with beam-bleu rescore",
        )


def _without(names: Iterable[str], others: Collection[str]) -> list[str]:
    return [name for name in names if name not in others]


def _left_out(
    old: SavedResult,
    new: SavedResult,
    shared: Iterable[MetricNames],
    compared: Collection[MetricWord],
) -> Iterator[str]:
    """What is not compared, in sentences.

    Args:
      old: the old result.
      new: the new one.
      shared: the metrics that both have.
      compared: those of which both have a score in common.
    """
    for name, saved, other in (("old", old, new), ("new", new, old)):
        for metric in saved.result.metrics:
            if metric.metric not in other.result.words:
                yield f"{other.name} has no {metric.name}: not compared"
        if systems := _without(saved.result.systems, other.result.systems):
            yield f"only {saved.name} has {joined(systems)}: not compared"
        own, others = (
            {key_of(row).of_slice for row in each.result.scores} - {""} for each in (saved, other)
        )
        if own & others and (slices := sorted(own - others)):
            yield (
                f"only the {name} run has {counted(len(slices), 'slice')}, which cannot be "
                f"compared: {joined(slices, _SHOWN)}"
            )
    for metric in shared:
        if metric.metric not in compared:
            yield (
                f"{metric.name}: no score of the whole corpus or of the same slice: not compared"
            )
        means = [definition_of(saved.result, metric.metric).parts for saved in (old, new)]
        if all(means) and means[0] != means[1]:
            only = sorted({*means[0]} ^ {*means[1]})
            yield (
                f"{metric.name}: macro averages are not compared, because only one run has "
                f"{joined(only, _SHOWN)}"
            )
