"""Two runs in pairs: their random replicates say how far the same segments differ."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from beam_bleu.pipeline.output.evidence_parts import unit_of
from beam_bleu.pipeline.output.manifest import digests_of
from beam_bleu.pipeline.result.saved_result import NotPaired
from beam_bleu.pipeline.saved.same_definition import (
    OF_DEFINITION,
    differing,
    of_resampling,
    shown,
)
from beam_bleu.pipeline.saved.saved_totals import SavedMetric, SavedTotals
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.differences import Difference
from beam_bleu.transforms.score.resampled_scores import bootstrap_difference, resampled_scores
from beam_bleu.transforms.score.uncertainty import too_few
from beam_bleu.transforms.totals.replicates.replicates import Replicates

_NEW, _OLD = "new", "old"


@dataclasses.dataclass(frozen=True)
class Paired:
    """Two runs whose random replicates have the same segments.

    Attributes:
      old: what the old run has added up.
      new: what the new run has added up.
    """

    old: SavedTotals
    new: SavedTotals

    @property
    def has_intervals(self) -> bool:
        """Whether differences have standard errors and intervals, and not only p-values."""
        resampling = self.new.evidence.resampling
        return resampling is not None and resampling.method == "bootstrap"

    def difference(self, metric: MetricWord, system: str, points: float) -> Difference:
        """The difference of the scores of a system.

        Args:
          metric: the metric.
          system: the system.
          points: the new score minus the old one.
        """
        return _difference(system, self.old.of_metric(metric), self.new.of_metric(metric), points)


def paired(old: SavedTotals, new: SavedTotals, metrics: Iterable[MetricWord]) -> Paired | NotPaired:
    """Two runs with replicates in pairs, or why they are not.

    Args:
      old: what the old run has added up.
      new: what the new run has added up.
      metrics: those that both have by the same definition.
    """
    old, new = old.with_metrics(metrics), new.with_metrics(metrics)
    reason = _other_definition(old, new) or _other_segments(old, new)
    return NotPaired(reason) if reason else Paired(old, new)


def _other_definition(old: SavedTotals, new: SavedTotals) -> str | None:
    """What differs in how two runs were made; None if nothing does."""
    for kind in OF_DEFINITION:
        for name, before, now in differing(kind.facts(old), kind.facts(new)):
            return f"{name} is {shown(before)} in the old run, now {shown(now)}"
    for name, before, now in differing(of_resampling(old.evidence), of_resampling(new.evidence)):
        return f"the replicates differ: {name} is {shown(before)} in the old run, now {shown(now)}"
    return None


def _other_segments(old: SavedTotals, new: SavedTotals) -> str | None:
    """Why two runs may have different segments; None if they have the same."""
    labels = [[partition.label for partition in saved.partitions] for saved in (old, new)]
    if old.evidence.documents != new.evidence.documents:
        return "the replicates are of different units: segments, or documents"
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
    return None


def _is_line_parallel(saved: SavedTotals) -> bool:
    """Whether all inputs are known to hold one thing only, so that their digests can be compared.

    The inputs of records have one digest for all of their columns.
    """
    return all(
        {stream["role"] for stream in partition.inputs} - {"labels"} == {"candidates", "references"}
        for partition in saved.partitions
    )


def _references(saved: SavedTotals) -> list[tuple[str, ...]]:
    """The digests of the references of each partition, in their order."""
    return [digests_of(partition.inputs, "references") for partition in saved.partitions]


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


def _difference(system: str, old: SavedMetric, new: SavedMetric, points: float) -> Difference:
    """The difference of the scores of a system in two runs, whose segments are the same.

    Args:
      system: the system.
      old: what the old run has added up for a metric.
      new: what the new run has.
      points: the new score minus the old one.
    """
    assert new.totals.moments is not None
    metric = new.scorings.corpus
    both = _both(system, old, new)
    units = new.totals.moments.units
    difference = Difference(units, new.own[system].segments, points)
    if both.resampling.method == "bootstrap":
        one, other = (metric.values(sums) for sums in both.sums)
        drawn = one - other
        resampled = bootstrap_difference(_NEW, _OLD, points, drawn, units)
        has_interval = resampled.interval is not None
        return dataclasses.replace(
            difference,
            standard_error=_deviation(drawn.tolist()) if has_interval else None,
            interval=resampled.interval,
            p_value=resampled.p_value,
            reason="" if has_interval else too_few(units, unit_of(new.saved.evidence)),
        )
    return dataclasses.replace(
        difference,
        p_value=_randomized(system, old, new, both, metric),
        reason="randomization gives no standard error and no interval",
    )


def _randomized(
    system: str, old: SavedMetric, new: SavedMetric, both: Replicates, metric: Metric
) -> float | None:
    assert old.totals.moments is not None
    assert new.totals.moments is not None
    sums = {
        _NEW: new.totals.moments.of_system(system).columns.tolist(),
        _OLD: old.totals.moments.of_system(system).columns.tolist(),
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
