"""The parts of the result document about its evidence: uncertainty, comparisons, resampling.

The sums of units from which evidence is computed must be of the same segments as the score.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.comparison_entries import (
    averaged_comparisons,
    comparisons,
    listed_clusters,
    listed_comparisons,
    listed_families,
)
from beam_bleu.pipeline.output.language_scores import SliceScore
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.score.resampled_scores import resampled_scores
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.score.uncertainty import CONFIDENCE, FEWEST_UNITS, too_few
from beam_bleu.transforms.totals.group_totals import MetricTotals
from beam_bleu.transforms.totals.replicates.generator import GENERATOR


def unit_of(evidence: Evidence) -> str:
    """What a unit is: what would be drawn at random for another test set."""
    return "segment" if evidence.documents is None else "document"


def uncertainty_parts(
    systems: Sequence[str],
    totals: MetricTotals,
    scores: Mapping[str, Score],
    metric: Metric,
    slicing: Slicing,
    evidence: Evidence,
    *,
    lower_is_better: bool,
    averaged: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """What the document says about standard errors, and the comparisons of systems.

    Args:
      systems: the systems' names, in the order of the result.
      totals: everything that was added up for the metric.
      scores: the scores of the whole corpus, by system; none if languages have different tokens.
      metric: how sums become a score.
      slicing: the slices.
      evidence: what is found out about the scores.
      lower_is_better: whether a lower score is better.
      averaged: the label of the languages or tasks of which there is a macro average, and how many
        there are; None without one.

    Raises:
      InputError: the baseline is not one of the systems.
    """
    parts: dict[str, Any] = {
        "uncertainty": {
            "unit": unit_of(evidence),
            "label": evidence.documents,
            "units": totals.corpus.units,
            "confidence": CONFIDENCE,
        }
    }
    evidence.baseline_of(systems)
    if len(systems) == 1:
        return parts
    compared = comparisons(systems, totals, metric, slicing, evidence, has_whole=bool(scores))
    parts["comparisons"] = listed_comparisons(compared)
    averages = [] if averaged is None else averaged_comparisons(compared, systems, *averaged)
    if averaged is not None:
        parts["macro_average_comparisons"] = listed_comparisons(averages)
    parts["comparison_families"] = listed_families([*averages, *compared])
    if evidence.compare_all and scores:
        best_first = listed_clusters(compared, scores, lower_is_better=lower_is_better)
        parts["clusters"] = [{"systems": systems_of} for systems_of in best_first]
    return parts


def resampling_part(
    systems: Sequence[str],
    totals: MetricTotals,
    metric: Metric,
    evidence: Evidence,
) -> dict[str, Any]:
    """What the document says about random replicates of the whole corpus.

    Args:
      systems: the systems' names, in the order of the result.
      totals: everything that was added up for the metric.
      metric: how sums become a score.
      evidence: which systems are compared, and by which replicates.

    Raises:
      InputError: the baseline is not one of the systems.
      JobError: the replicates are missing, or are of other systems.
    """
    asked, corpus = evidence.resampling, totals.corpus
    if asked is None:
        return {}
    if totals.replicates is None or corpus.systems != tuple(sorted(systems)):
        raise JobError(
            "the last step did not get the replicates of all systems",
            "the runner lost data: do not use it for this job",
        )
    replicates = dict(zip(corpus.systems, totals.replicates, strict=True))
    resampled = resampled_scores(
        asked.method,
        replicates,
        {system: corpus.sums(system).columns for system in replicates},
        metric,
        corpus.units,
        evidence.compared(systems),
    )
    place = {system: number for number, system in enumerate(systems)}
    scores = sorted(resampled.scores, key=lambda score: place[score.system])
    return {
        "resampling": {
            "method": asked.method,
            "resamples": asked.number,
            "seed": asked.seed,
            "unit": unit_of(evidence),
            "label": evidence.documents,
            "generator": GENERATOR,
            "scores": [dataclasses.asdict(score) for score in scores],
            "comparisons": [dataclasses.asdict(difference) for difference in resampled.differences],
        }
    }


def warning_about_clusters(scores: Mapping[str, Score], evidence: Evidence) -> list[str]:
    """One sentence about the systems that are in no cluster, if there are any."""
    without = [system for system, score in scores.items() if score.standard_error is None]
    if not (evidence.uncertainty and evidence.compare_all and len(scores) > 1 and without):
        return []
    if len(without) == len(scores):
        return ["clusters: there are none, because no system has a standard error"]
    has = "it has" if len(without) == 1 else "they have"
    return [f"clusters: without {', '.join(without)}, because {has} no standard error"]


def warning_about_resampling(systems: Sequence[str], units: int, evidence: Evidence) -> list[str]:
    """One sentence about a bootstrap of too few units, if it is one."""
    asked = evidence.resampling
    if asked is None or asked.method != "bootstrap" or units >= FEWEST_UNITS:
        return []
    reason = f"because {too_few(units, unit_of(evidence))}"
    if len(systems) == 1:
        return [f"--resample bootstrap: no interval, {reason}"]
    return [
        f"--resample bootstrap: no intervals and no p-values, {reason}; use --resample "
        "randomization, which is also valid for few"
    ]


def warning_about_slices(
    scores: Sequence[SliceScore], evidence: Evidence, kind: MetricKind
) -> list[str]:
    """One sentence about all scores of slices that have no standard error, if there are any."""
    missing = [
        slice_score.score for slice_score in scores if slice_score.score.standard_error is None
    ]
    if not evidence.uncertainty or not missing:
        return []
    shown = f"{len(missing)} of {len(scores)} scores"
    has, their = ("has", "its slice has") if len(missing) == 1 else ("have", "their slices have")
    unit = unit_of(evidence)
    # A slice has no more documents than segments.
    are_all_small = all(score.segments < FEWEST_UNITS for score in missing)
    return [
        f"slices: {shown} {has} no standard error, because {their} fewer than {FEWEST_UNITS} "
        f"{unit}s" + ("" if are_all_small else f", or {kind.has_no_error}")
    ]
