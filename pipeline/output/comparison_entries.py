"""The parts of the result document that compare systems."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.differences import (
    Difference,
    clusters,
    holm,
    mean_difference,
    paired_difference,
)
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.totals.group_totals import GroupTotals, MetricTotals

FamilyName = Literal["corpus", "macro_average", "slices"]


@dataclasses.dataclass(frozen=True)
class Family:
    """A row of `FAMILIES`.

    Attributes:
      name: its name.
      on: what the systems are compared on.
    """

    name: FamilyName
    on: str


FAMILIES: Mapping[FamilyName, Family] = table(
    Family("corpus", "on the whole corpus"),
    Family("macro_average", "on the macro average"),
    Family("slices", "on each slice"),
)
"""The families of comparisons. The p-values of a family are adjusted for all of them together."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A comparison of two systems.

    Attributes:
      system: the system.
      baseline: the system whose score is subtracted.
      of_slice: the labels of the slice and their values; None for the whole corpus.
      family: the family whose p-values are adjusted together.
      estimate: the difference of the scores, and what is known about it.
      p_value_holm: the p-value, adjusted by the method of Holm; None if there is none.
    """

    system: str
    baseline: str
    of_slice: Mapping[str, str | None] | None
    family: FamilyName
    estimate: Difference
    p_value_holm: float | None = None


def comparisons(
    systems: Sequence[str],
    totals: MetricTotals,
    metric: Metric,
    slicing: Slicing,
    evidence: Evidence,
    *,
    has_whole: bool,
) -> list[Comparison]:
    """All comparisons: those on the whole corpus, then slice by slice those with the baseline.

    A slice in which no segment has all systems is left out.

    Args:
      systems: the systems' names, in the order of the result.
      totals: everything that was added up for the metric.
      metric: how sums become a score.
      slicing: the slices.
      evidence: which systems are compared.
      has_whole: whether the whole corpus has a score.

    Raises:
      InputError: the baseline is not one of the systems.
    """
    adjusted: list[Comparison] = []
    if has_whole:
        adjusted += _adjusted(
            Comparison(system, baseline, None, "corpus", difference)
            for system, baseline in evidence.compared(systems)
            for difference in _difference(totals.corpus, system, baseline, None, metric)
        )
    baseline = evidence.baseline_of(systems)
    slices = totals.slices
    if slices is not None:
        adjusted += _adjusted(
            Comparison(system, baseline, slicing.values(key), "slices", difference)
            for key in slices.keys
            if key is not None
            for system in systems
            if system != baseline
            for difference in _difference(slices, system, baseline, key, metric)
        )
    return adjusted


def averaged_comparisons(
    compared: Sequence[Comparison], systems: Sequence[str], label: str, parts: int
) -> list[Comparison]:
    """The comparisons of the means over all languages, or over all tasks.

    A system that does not have segments of all of them is left out, because it has no mean.

    Args:
      compared: the comparisons on slices.
      systems: the systems' names, in the order of the result.
      label: the label of the languages or tasks.
      parts: how many of them there are.
    """
    of_parts = [
        comparison
        for comparison in compared
        if comparison.of_slice is not None and list(comparison.of_slice) == [label]
    ]
    by_system = {
        system: [comparison for comparison in of_parts if comparison.system == system]
        for system in systems
    }
    return _adjusted(
        Comparison(
            system,
            own[0].baseline,
            None,
            "macro_average",
            mean_difference([comparison.estimate for comparison in own]),
        )
        for system, own in by_system.items()
        if len(own) == parts
    )


def _difference(
    totals: GroupTotals, system: str, baseline: str, key: SliceKey | None, metric: Metric
) -> Iterator[Difference]:
    """The difference of two systems; none if they have no unit in common."""
    pair = totals.of_pair(system, baseline, key)
    if pair.units:
        yield paired_difference(pair, metric)


def _adjusted(family: Iterator[Comparison]) -> list[Comparison]:
    """The comparisons of a family, with their p-values adjusted."""
    listed = list(family)
    adjusted = holm([comparison.estimate.p_value for comparison in listed])
    return [
        dataclasses.replace(comparison, p_value_holm=p_value)
        for comparison, p_value in zip(listed, adjusted, strict=True)
    ]


def listed_comparisons(compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The comparisons as the document has them."""
    return [
        {
            "system": comparison.system,
            "baseline": comparison.baseline,
            **({} if comparison.family == "macro_average" else {"slice": comparison.of_slice}),
            "segments": comparison.estimate.segments,
            "units": comparison.estimate.units,
            "difference": comparison.estimate.difference,
            "standard_error": comparison.estimate.standard_error,
            "interval": comparison.estimate.interval,
            "p_value": comparison.estimate.p_value,
            "p_value_holm": comparison.p_value_holm,
            "detectable": comparison.estimate.detectable,
            "family": comparison.family,
        }
        for comparison in compared
    ]


def listed_families(compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The families of comparisons: which p-values are adjusted together, and how many there are."""
    families = []
    for name in FAMILIES:
        listed = [comparison for comparison in compared if comparison.family == name]
        if not listed:
            continue
        families.append(
            {
                "family": name,
                "description": f"{_compared(listed)}, {FAMILIES[name].on}",
                "comparisons": sum(
                    comparison.estimate.p_value is not None for comparison in listed
                ),
            }
        )
    return families


def _compared(compared: Sequence[Comparison]) -> str:
    """Which systems are compared, in words."""
    baselines = {comparison.baseline for comparison in compared}
    if len(baselines) > 1:
        systems = baselines | {comparison.system for comparison in compared}
        return f"each pair of {len(systems)} systems"
    number = len({comparison.system for comparison in compared})
    return f"{number} system{'s' * (number > 1)} against {baselines.pop()}"


def listed_clusters(
    compared: Sequence[Comparison], scores: Mapping[str, Score], *, lower_is_better: bool
) -> list[list[str]]:
    """The systems in clusters, best first, without those that have no standard error.

    Args:
      compared: the comparisons. Those on the whole corpus have each pair of systems.
      scores: the scores on the whole corpus, by system.
      lower_is_better: whether a lower score is better.
    """
    of_corpus = [comparison for comparison in compared if comparison.family == "corpus"]
    systems = dict.fromkeys(
        name for comparison in of_corpus for name in (comparison.baseline, comparison.system)
    )
    p_values = {
        (comparison.system, comparison.baseline): comparison.p_value_holm
        for comparison in of_corpus
    }
    # Nothing is known about such a system. It would take the lines away from all the others.
    known = {
        system: scores[system].score
        for system in systems
        if scores[system].standard_error is not None
    }
    return clusters(known, p_values, lower_is_better=lower_is_better)
