"""`Totals`, everything a job has added up, and the *ends*: named inputs of the last step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import InputError, joined, lost_data
from beam_bleu.transforms.inspection.look import look_at
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.paired import FoundCoverage, FoundSegments, Tally
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import (
    Rejected,
    check_rejected,
    require_segments_left,
    tally_of,
)
from beam_bleu.transforms.totals.group_totals import GroupTotals, MetricTotals


@dataclasses.dataclass(frozen=True)
class Totals:
    """Everything that a job has added up. Totals and definitions determine the result.

    `is_tallied`: the source has tallies, so the result has their counters. `coverage` is None if
    each record has all systems.
    """

    systems: tuple[str, ...]
    tally: Tally
    metrics: Mapping[MetricWord, Mapping[TextName, MetricTotals]]
    is_tallied: bool = False
    rejected: Rejected = dataclasses.field(default_factory=Rejected)
    notices: tuple[Notice, ...] = ()
    coverage: FoundCoverage | None = None

    @property
    def segments(self) -> int:
        return self.tally.read - sum(self.tally.left_out.values())

    @property
    def scored(self) -> dict[str, int]:
        return {system: self.tally.scored.get(system, 0) for system in self.systems}


# What the last step got from each end. Besides the ends that `end_of` names, there are `segments`
# (one `FoundSegments`), `rejected`, `TALLIES`, `DIGESTS`, `SAMPLE`, and `PICKED` with the examples.
Ends = Mapping[str, Sequence[Any]]
SAMPLE = "sample"  # the end with a sample of the texts, to judge them
# The end with the tally, what became of the segments that were read, if the source has tallies.
TALLIES = "tallies"
DIGESTS = "digests"  # the end with the `Digests` of what was read, if the source has them


def end_of(metric: MetricWord, text: TextName) -> str:
    return f"totals of {metric} ({text.label})"


def totals_of_ends(ends: Ends, job: Job) -> Totals:
    segments: FoundSegments = only_sum("segments", ends["segments"])
    metrics: dict[MetricWord, dict[TextName, MetricTotals]] = {name: {} for name in job.scorings}
    for name, scorings in job.scorings.items():
        for text, metric in scorings.counted.items():
            end = end_of(name, text)
            total = only_sum(end, ends.get(end, ()), is_needed=False)
            if total is None:
                total = MetricTotals(GroupTotals.zero(metric.basis.width))
            metrics[name][text] = in_order(total, job.slicing)
    tally = tally_of(segments, ends.get(TALLIES))
    rejected = check_rejected(ends.get("rejected", ()), tally, job.most_rejected)
    require_segments_left(tally, rejected)
    _require_tasks(segments.tasks, next(iter(metrics.values())), job)
    sample = only_sum(SAMPLE, ends.get(SAMPLE, ()), is_needed=False)
    notices = list(segments.notices)
    if sample is not None:
        notices += look_at(sample, job.allow, of_values=not job.source.is_of_lines)
    return Totals(
        segments.systems,
        tally,
        metrics,
        is_tallied=TALLIES in ends,
        rejected=rejected,
        notices=tuple(notices),
        coverage=segments.coverage,
    )


def _require_tasks(tasks: Set[str], of_texts: Mapping[TextName, MetricTotals], job: Job) -> None:
    """Otherwise the result would lack a task, and its macro average would be that of the others."""
    slices = next(iter(of_texts.values())).slices  # all metrics have those of the same segments
    label = str(job.metrics.unpooled)
    keys = () if slices is None else slices.keys
    scored = {job.slicing.values(key).get(label) for key in keys if key is not None}
    if unscored := sorted(tasks - scored):
        raise InputError(
            f"no segment of {joined(unscored)} is scored",
            "check the files and --where, or name only the files of the other tasks",
        )


def in_order(totals: MetricTotals, slicing: Slicing) -> MetricTotals:
    slices = totals.slices
    if slices is not None:
        slices = slices.arranged(slicing.in_order(key for key in slices.keys if key is not None))
    return dataclasses.replace(totals, corpus=totals.corpus.arranged([None]), slices=slices)


def only_sum(name: str, elements: Iterable[Any], *, is_needed: bool = True) -> Any:
    """The one sum; None if there is none because nothing was read (`is_needed` is false)."""
    sums = list(elements)
    if len(sums) > 1 or (is_needed and not sums):
        raise lost_data(f"the last step got {len(sums)} sums of {name}, but it must get 1")
    return sums[0] if sums else None
