"""Compares the scores of two runs: was the difference between two nights real?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from beam_bleu.pipeline.output.evidence_parts import unit_of
from beam_bleu.pipeline.output.metric_views import part_of
from beam_bleu.pipeline.saved.same_definition import (
    OF_DEFINITION,
    differing,
    of_resampling,
    shown,
)
from beam_bleu.pipeline.saved.saved_totals import SavedMetric, SavedTotals, document_of
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.differences import independent_difference
from beam_bleu.transforms.score.resampled_scores import bootstrap_difference, resampled_scores
from beam_bleu.transforms.score.uncertainty import too_few
from beam_bleu.transforms.totals.replicates.replicates import Replicates

Method = Literal["paired", "independent"]

_NEW, _OLD = "new", "old"


@dataclasses.dataclass(frozen=True)
class ComparedScore:
    """The scores of a system in two runs.

    Attributes:
      system: its name.
      old: its score in the old run.
      new: its score in the new run.
      difference: new minus old.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is none.
      p_value: how probable such a difference is if there is none in truth; None if it is unknown.
      reason: why one of these is None; "" if none is.
    """

    system: str
    old: float
    new: float
    difference: float
    standard_error: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class ComparedRuns:
    """The comparison of two runs by one metric.

    Attributes:
      metric: the metric.
      name: its name for readers.
      signature: the definition of both.
      method: "paired" if both runs have scored the same segments, with the same random replicates;
        otherwise "independent", as if the segments had nothing to do with each other.
      reason: why this method was used.
      systems: those that both runs have, in the order of the new run.
      only_old: the systems that only the old run has.
      only_new: the systems that only the new run has.
    """

    metric: MetricWord
    name: str
    signature: str
    method: Method
    reason: str
    systems: tuple[ComparedScore, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]


class _NoScoreError(InputError):
    """A run has no score of the whole corpus by a metric."""


def compared(
    old_path: str, old: SavedTotals, new_path: str, new: SavedTotals
) -> tuple[list[ComparedRuns], list[str]]:
    """The comparison of two runs, by each metric of both that has a score of the whole corpus.

    Returns:
      The comparisons, one or more; and a sentence about each metric that is left out.

    Raises:
      InputError: they have other definitions, no metric or system in common, no sums for
        uncertainty, or no metric has a score of the whole corpus.
    """
    names = [name for name in new.scorings if name in old.scorings]
    if not names:
        raise InputError(
            f"{old_path} and {new_path} have no metric in common: {' '.join(old.scorings)}, and "
            f"{' '.join(new.scorings)}",
            "repeat one of the runs with --metrics of the other one",
        )
    missing = [
        f"{path} has no {scorings.shown}"
        for path, saved, other in ((old_path, old, new), (new_path, new, old))
        for name, scorings in other.scorings.items()
        if name not in saved.scorings
    ]
    old, new = old.with_metrics(names), new.with_metrics(names)
    documents = [document_of(old_path, old), document_of(new_path, new)]
    _require_same_definition(old_path, old, new_path, new)
    systems = [name for name in new.totals.systems if name in old.totals.systems]
    obstacle = _obstacle(old, new, systems) if systems else ""
    comparisons: list[ComparedRuns] = []
    left_out: list[_NoScoreError] = []
    for name in new.scorings:
        one, other = (part_of(document, name) for document in documents)
        try:
            comparisons.append(
                _compared_by(
                    name, *(old_path, old, one), *(new_path, new, other), systems, obstacle
                )
            )
        except _NoScoreError as error:
            left_out.append(error)
    if not comparisons:
        raise left_out[0]
    return comparisons, [*missing, *(error.cause for error in left_out)]


def _compared_by(
    name: MetricWord,
    old_path: str,
    old: SavedTotals,
    old_part: Mapping[str, Any],
    new_path: str,
    new: SavedTotals,
    new_part: Mapping[str, Any],
    systems: Sequence[str],
    obstacle: str,
) -> ComparedRuns:
    """The comparison by one metric, with the parts of the documents about it."""
    parts = [old_part, new_part]
    signatures = [part["signature"] for part in parts]
    for path, signature in zip((old_path, new_path), signatures, strict=True):
        if signature is None:
            raise _NoScoreError(
                f"{path} has no {new_part['name']} of the whole corpus, because its languages have "
                "different tokenizers",
                "compare runs of one language each",
            )
    for path, part in zip((old_path, new_path), parts, strict=True):
        if "tasks" in part or not any(score["slice"] is None for score in part["scores"]):
            raise _NoScoreError(
                f"{path} has no {new_part['name']} of the whole corpus, because it has several "
                "tasks",
                "compare runs of one task each, or of runs with --pool_tasks",
            )
    if signatures[0] != signatures[1]:
        raise InputError(
            f"{old_path} and {new_path} have different definitions: {signatures[0]}, and "
            f"{signatures[1]}",
            "compare runs with the same definition and the same numbers of references",
        )
    if not systems:
        raise InputError(
            f"{old_path} and {new_path} have no system in common",
            "give a system the same name in both runs: --candidates NAME=PATTERN",
        )
    metrics = old.of_metric(name), new.of_metric(name)
    for path, metric in zip((old_path, new_path), metrics, strict=True):
        if metric.totals.moments is None:
            raise InputError(
                f"{path} has no sums for standard errors", "repeat its run without --no_uncertainty"
            )
    scores = [
        {score["system"]: score["score"] for score in part["scores"] if score["slice"] is None}
        for part in parts
    ]
    compare = _independent if obstacle else _paired
    return ComparedRuns(
        name,
        new_part["name"],
        signatures[1],
        "independent" if obstacle else "paired",
        obstacle or "both runs have the same references and the same random replicates",
        tuple(
            compare(system, *metrics, scores[0][system], scores[1][system]) for system in systems
        ),
        tuple(name for name in old.totals.systems if name not in systems),
        tuple(name for name in new.totals.systems if name not in systems),
    )


def _require_same_definition(
    old_path: str, old: SavedTotals, new_path: str, new: SavedTotals
) -> None:
    for kind in OF_DEFINITION:
        for name, one, other in differing(kind.facts(old), kind.facts(new)):
            raise InputError(
                f"{old_path} and {new_path} cannot be compared: {name} is {shown(one)} in the "
                f"first one, and {shown(other)} in the second one",
                kind.remedy,
            )


def _obstacle(old: SavedTotals, new: SavedTotals, systems: Sequence[str]) -> str:
    """Why the units of two runs are not paired; "" if they are."""
    without = [
        name for name, saved in ((_OLD, old), (_NEW, new)) if saved.evidence.resampling is None
    ]
    if without:
        runs = f"the {without[0]} run has no" if len(without) == 1 else "neither run has"
        return f"{runs} replicates (--resample), which a comparison in pairs needs"
    for name, one, other in differing(of_resampling(old.evidence), of_resampling(new.evidence)):
        return f"the replicates differ: {name} is {shown(one)} in the old run, now {shown(other)}"
    if old.evidence.documents != new.evidence.documents:
        return "the replicates are of different units: segments, or documents"
    labels = [[partition.label for partition in saved.partitions] for saved in (old, new)]
    if labels[0] != labels[1]:
        return "the partitions have different labels, and so different random weights"
    if not all(_is_line_parallel(saved) for saved in (old, new)):
        return "only line-parallel texts show whether their segments are the same"
    if _references(old) != _references(new):
        return "the references are not the same"
    if _documents(old) != _documents(new):
        return "the documents are not the same"
    if old.evidence.documents is not None and not all(_documents(old)):
        return "the documents are not known"
    for saved in (old, new):
        tally = saved.totals.tally
        if tally.left_out or any(tally.missing.values()):
            return "segments were left out, perhaps different ones in each run"
    # The same file can be read in two ways, such as with and without domains before documents.
    drawn = [[_drawn(metric) for metric in saved.metrics] for saved in (old, new)]
    if not all(map(np.array_equal, *drawn)):
        return "the random weights of the segments are not the same"
    return ""


def _is_line_parallel(saved: SavedTotals) -> bool:
    """Whether all inputs are known to hold one thing only, so that their digests can be compared.

    The inputs of records have one digest for all of their columns.
    """
    return all(
        {stream["role"] for stream in partition.inputs} - {"labels"} == {"candidates", "references"}
        for partition in saved.partitions
    )


def _references(saved: SavedTotals) -> list[list[str]]:
    """The digests of the references of each partition, in their order."""
    return [
        [stream["digest"] for stream in partition.inputs if stream["role"] == "references"]
        for partition in saved.partitions
    ]


def _documents(saved: SavedTotals) -> list[list[tuple[list[str], str]]]:
    """The names and the digest of the labels with the documents of each partition."""
    return [
        [
            (stream["labels"], stream["digest"])
            for stream in partition.inputs
            if saved.evidence.documents in stream.get("labels", ())
        ]
        for partition in saved.partitions
    ]


def _drawn(metric: SavedMetric) -> Integers:
    """What follows from random weights and references alone: the same for all systems."""
    assert metric.totals.replicates is not None
    replicates = metric.totals.replicates
    shared = metric.kind.basis_of(replicates.width).shared
    drawn: Integers = replicates.sums[0][:, list(shared)]
    return drawn


def _independent(
    system: str, old: SavedMetric, new: SavedMetric, old_score: float, new_score: float
) -> ComparedScore:
    assert old.totals.moments is not None
    assert new.totals.moments is not None
    metric = new.scorings.corpus
    sums = new.totals.moments.of_system(system)
    old_sums = old.totals.moments.of_system(system)
    if sums == old_sums:
        # Nothing has changed, as a gate says too. Other texts would have other sums and products.
        return ComparedScore(system, old_score, new_score, 0.0, 0.0, (0.0, 0.0), 1.0)
    estimate = independent_difference(sums, old_sums, metric, metric)
    return ComparedScore(
        system,
        old_score,
        new_score,
        new_score - old_score,
        estimate.standard_error,
        estimate.interval,
        estimate.p_value,
        estimate.reason,
    )


def _paired(
    system: str, old: SavedMetric, new: SavedMetric, old_score: float, new_score: float
) -> ComparedScore:
    assert new.totals.moments is not None
    metric = new.scorings.corpus
    both = _both(system, old, new)
    difference = new_score - old_score
    if both.resampling.method == "bootstrap":
        one, other = (metric.values(sums) for sums in both.sums)
        drawn = one - other
        units = new.totals.moments.units
        resampled = bootstrap_difference(_NEW, _OLD, difference, drawn, units)
        return ComparedScore(
            system,
            old_score,
            new_score,
            difference,
            _deviation(drawn.tolist()) if resampled.interval else None,
            resampled.interval,
            resampled.p_value,
            "" if resampled.interval else too_few(units, unit_of(new.saved.evidence)),
        )
    p_value = _randomized(system, old, new, both, metric)
    reason = "randomization gives no standard error and no interval"
    return ComparedScore(system, old_score, new_score, difference, None, None, p_value, reason)


def _randomized(
    system: str, old: SavedMetric, new: SavedMetric, both: Replicates, metric: Metric
) -> float | None:
    assert old.totals.moments is not None
    assert new.totals.moments is not None
    sums = {
        _NEW: new.totals.moments.of_system(system).columns,
        _OLD: old.totals.moments.of_system(system).columns,
    }
    units = new.totals.moments.units
    resampled = resampled_scores(both, sums, metric, units, [(_NEW, _OLD)])
    return resampled.differences[0].p_value


def _both(system: str, old: SavedMetric, new: SavedMetric) -> Replicates:
    """The replicates of a system in both runs, as if these were two systems."""
    of_runs = []
    for metric in (new, old):
        replicates = metric.totals.replicates
        assert replicates is not None
        of_runs.append((replicates, replicates.systems.index(system)))
    (first, one), (second, other) = of_runs
    if first.width != second.width:
        raise InputError(
            f"the runs counted n-grams of different orders: {new.scorings.shown} has "
            f"{second.width} columns in the old run, and {first.width} in the new one",
            "repeat one of the runs with the flags of the other one",
        )
    return dataclasses.replace(
        first,
        systems=(_NEW, _OLD),
        sums=np.stack([first.sums[one], second.sums[other]]),
        unweighted=np.stack([first.unweighted[one], second.unweighted[other]]),
    )


def _deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample."""
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
