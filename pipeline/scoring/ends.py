"""The ends of a job: the names of its sums, and the totals that the last step makes of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.scoring.scorings import Scorings, ScoringsOfMetrics
from beam_bleu.pipeline.scoring.totals import MetricTotals, Totals
from beam_bleu.transforms.definition.allowed import AllowedName
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.inspection.look import look_at
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import sums_by_system, tally_of
from beam_bleu.transforms.totals.rejected import (
    MostRejected,
    check_rejected,
    require_segments_left,
)
from beam_bleu.transforms.totals.slice_sums import SliceSums, require_bounded

Ends = Mapping[str, Sequence[Any]]
"""What has come at each end. Sums come as (system, sums).

Beside the ends that `end_of` names, there are `segments` (one `FoundSegments`), `tallies`,
`rejected`, `EXAMPLES` and `SAMPLE`. `tallies` is there if the source has tallies.
"""

EXAMPLES = "examples"
"""The end with the examples."""

SAMPLE = "sample"
"""The end with the sample of the texts."""


def end_of(what: str, scorings: Scorings, text: TextName | None = None) -> str:
    """The name of an end with sums of a metric; with those of another way to make tokens."""
    return f"{what} of {with_text(scorings, text)}"


def with_text(scorings: Scorings, text: TextName | None) -> str:
    """The name of a metric, with that of another way to make its tokens."""
    if text is None or text == scorings.text:
        return scorings.name
    return f"{scorings.name} ({text.label})"


def totals_of_ends(
    ends: Ends,
    scorings: ScoringsOfMetrics,
    slicing: Slicing,
    most_rejected: MostRejected | None,
    allow: Collection[AllowedName] = (),
    *,
    is_of_lines: bool = False,
) -> Totals:
    """The totals of a job.

    Args:
      ends: what has come at the last step.
      scorings: the scorings of each metric.
      slicing: the slices.
      most_rejected: how many segments may be rejected; None if a bad record ends the job before.
      allow: the kinds of findings in the texts that are meant.
      is_of_lines: as of the source.

    Raises:
      JobError: something was lost or repeated.
      InputError: there are too many slices, too many segments are rejected, or none is left; or
        the texts are certainly not what they are taken for.
    """
    plans: list[FoundSegments] = list(ends["segments"])
    metrics = {
        name: _metric_totals(of_metric, plans, slicing, ends)
        for name, of_metric in scorings.items()
    }
    (segments,) = plans
    tally = tally_of(segments, sums_at(ends, "tallies") if "tallies" in ends else None)
    rejected = check_rejected(ends.get("rejected", ()), tally, most_rejected)
    require_segments_left(tally, rejected)
    sample = only_sum(SAMPLE, sums_at(ends, SAMPLE), is_needed=False)
    notices = list(segments.notices)
    if sample is not None:
        notices += look_at(
            sample,
            allow,
            is_composed=all(own.text.normalize is not None for own in scorings.values()),
            of_values=not is_of_lines,
        )
    return Totals(
        segments.systems,
        tally,
        metrics,
        is_tallied="tallies" in ends,
        rejected=rejected,
        notices=tuple(notices),
        coverage=segments.coverage,
    )


def _metric_totals(
    scorings: Scorings, plans: Sequence[FoundSegments], slicing: Slicing, ends: Ends
) -> MetricTotals:
    """What the job has added up for a metric."""
    sums = {
        text: sums_by_system(plans, list(ends[end_of("totals", scorings, text)]))
        for text in scorings.counters
    }
    return MetricTotals(
        sums,
        _slices_of(
            slicing,
            sums_at(ends, end_of("slices", scorings)),
            scorings.basis,
            plans[0].systems,
        ),
        *(
            only_sum(end, sums_at(ends, end), is_needed=False)
            for end in (end_of("moments", scorings), end_of("replicates", scorings))
        ),
    )


def _slices_of(
    slicing: Slicing, parts: Iterable[SliceSums], basis: Basis, systems: Sequence[str]
) -> SliceSums | None:
    """The sums of all slices; None if no slices are scored.

    Raises:
      InputError: there are too many slices.
    """
    if not slicing:
        return None
    # If the runner has lost or repeated them, they are not the sums of the whole corpus.
    total = sum(parts, start=SliceSums.zero(basis.width, most=slicing.most))
    require_bounded(total.keys, slicing)
    return total.arranged(slicing.in_order(total.keys), systems)


def sums_at(ends: Ends, name: str) -> list[Any]:
    """The sums at an end, without their systems; none if it was not asked for."""
    return [sums for _, sums in ends.get(name, ())]


def only_sum(name: str, elements: Iterable[Any], *, is_needed: bool = True) -> Any:
    """The sum at an end.

    Returns:
      None if there is no sum, and it is not needed: it was not asked for, or nothing was read.

    Raises:
      JobError: there are several sums, or there is none although it is needed.
    """
    sums = list(elements)
    if len(sums) > 1 or (is_needed and not sums):
        raise JobError(
            f"the last step got {len(sums)} sums of {name}, but it must get 1",
            "the runner lost or repeated data: do not use it for this job",
        )
    return sums[0] if sums else None
