"""Compares two runs in pairs, by their saved replicates, if they scored the same segments."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from beam_bleu.pipeline.folder.manifest import reference_digests
from beam_bleu.pipeline.saved.saved_totals import SavedTotals, differing
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.differences import DETECTABLE, Difference, too_few
from beam_bleu.transforms.score.resampled_scores import bootstrap_difference, resampled_scores
from beam_bleu.transforms.totals.group_totals import MetricTotals

_NEW, _OLD = "new", "old"


@dataclasses.dataclass(frozen=True)
class Paired:
    old: SavedTotals
    new: SavedTotals

    @property
    def has_intervals(self) -> bool:
        """Whether differences have standard errors and intervals, and not only p-values."""
        resampling = self.new.evidence.resampling
        return resampling is not None and resampling.method == "bootstrap"

    def difference(self, metric: MetricWord, system: str, points: float) -> Difference:
        old, new = self.old.own(metric), self.new.own(metric)
        scoring, units = self.new.scorings[metric].corpus, new.corpus.units
        runs = {_NEW: new, _OLD: old}
        both = {name: _replicates(run, system) for name, run in runs.items()}
        difference = Difference(units, new.corpus.sums(system).segments, points)
        if self.has_intervals:
            now, before = (scoring.values(drawn) for drawn in both.values())
            resampled = bootstrap_difference(points, now - before, units)
            if resampled.interval is None:
                reason = too_few(units, self.new.evidence.unit)
                return dataclasses.replace(difference, p_value=resampled.p_value, reason=reason)
            error = _deviation((now - before).tolist())
            return dataclasses.replace(
                difference,
                standard_error=error,
                interval=resampled.interval,
                p_value=resampled.p_value,
                detectable=DETECTABLE * error or None,
            )
        sums = {name: run.corpus.sums(system).columns for name, run in runs.items()}
        _, randomized = resampled_scores(
            "randomization", both, sums, scoring, units, [(_NEW, _OLD)]
        )
        return dataclasses.replace(
            difference,
            p_value=randomized[_NEW, _OLD].p_value,
            reason="randomization gives no standard error and no interval",
        )


def paired(old: SavedTotals, new: SavedTotals, metrics: Iterable[MetricWord]) -> Paired | str:
    old, new = old.with_metrics(metrics), new.with_metrics(metrics)
    difference = differing(old.definition(of_sums=False), new.definition(of_sums=False))
    if difference is not None:
        name, before, now = difference
        return f"{name} is {before} in the old run, now {now}"
    return _other_segments(old, new) or Paired(old, new)


def _other_segments(old: SavedTotals, new: SavedTotals) -> str | None:
    both = [[partition.inputs for partition in saved.partitions] for saved in (old, new)]
    labels = [[partition.label for partition in saved.partitions] for saved in (old, new)]
    if old.evidence.documents != new.evidence.documents:
        return "the replicates are of different units: segments, or documents"
    if labels[0] != labels[1]:
        return "the partitions have different labels, and so different random weights"
    references = [[reference_digests(inputs) for inputs in parts] for parts in both]
    if not all(map(all, references)):
        return "it is not known whether the references are the same"
    if references[0] != references[1]:
        return "the references are not the same, or not in the same order"
    for saved in (old, new):
        tally = saved.totals.tally
        # The sums below show which segments were left out, but not which ones of a document.
        if (tally.left_out and old.evidence.documents) or any(tally.missing.values()):
            return "segments were left out, perhaps different ones in each run"
    # Weights depend on the documents and on their names, so either can make them differ.
    drawn = [[_drawn(saved, name) for name in saved.scorings] for saved in (old, new)]
    if not all(map(np.array_equal, *drawn)):
        return "the random weights of the segments are not the same"
    return None


def _drawn(saved: SavedTotals, name: MetricWord) -> Integers:
    """Sums that depend only on random weights and references, so they are equal for all systems."""
    own = saved.own(name)
    shared = saved.scorings[name].corpus.basis.shared
    return _replicates(own, own.corpus.systems[0])[:, list(shared)]


def _replicates(totals: MetricTotals, system: str) -> Integers:
    """int64 (replicates, W)."""
    assert totals.replicates is not None
    replicates: Integers = totals.replicates[totals.corpus.systems.index(system)]
    return replicates


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
