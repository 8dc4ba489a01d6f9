"""The closing counts: whether the sums hold each segment of each system exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.totals.corpus_sums import CorpusSums, MetricSums

_Sums = TypeVar("_Sums", CorpusSums, MetricSums)

_LOST = "the runner lost or repeated data: do not use it for this job"


def sums_by_system(
    plans: Sequence[FoundSegments], sums: Sequence[tuple[str, _Sums]]
) -> dict[str, _Sums]:
    """The sums of each system by its name, in the order of the systems, which no engine keeps.

    Args:
      plans: what the source found: one value, if nothing was lost.
      sums: (name of the system, its sums).

    Raises:
      JobError: there is not one plan, or there are two sums for a system.
    """
    by_system = dict(sums)
    if len(plans) != 1 or len(by_system) != len(sums):
        raise JobError(
            f"the last step got {len(plans)} plans, and {len(sums)} sums for "
            f"{len(by_system)} systems: it must get 1 plan, and 1 sum for each system",
            _LOST,
        )
    places = {system: place for place, system in enumerate(plans[0].systems)}
    # `require_all_scored` finds a system that was not planned.
    ordered = sorted(by_system, key=lambda system: places.get(system, len(places)))
    return {system: by_system[system] for system in ordered}


def tally_of(segments: FoundSegments, tallies: Iterable[Tally] | None) -> Tally:
    """The tally of all segments. A source without tallies scores all segments for each system.

    Raises:
      JobError: a segment was lost or read twice.
    """
    if tallies is None:
        return Tally(segments.count, dict.fromkeys(segments.systems, segments.count))
    tally = sum(tallies, start=Tally())
    unexplained = [system for system in segments.systems if tally.unexplained(system)]
    if tally.read != segments.count or unexplained:
        raise JobError(
            f"{segments.count} segments were planned and {tally.read} were read"
            + (f"; those of {', '.join(unexplained)} do not add up" if unexplained else ""),
            _LOST,
        )
    return tally


def require_all_scored(
    planned: Mapping[str, int], sums: Mapping[str, CorpusSums | MetricSums], tokens: str = ""
) -> None:
    """Checks the number of segments in the sums of each system.

    Args:
      planned: by system, the number of segments that must be in its sums. There are no others.
      sums: the sums of each system by its name.
      tokens: the way to make tokens, for messages; "" for a job's own one.

    Raises:
      JobError: a segment was lost or scored twice, or is of a system that was not planned.
    """
    for system in {**planned, **sums}:
        segments = planned.get(system, 0)
        scored = sums[system].segments if system in sums else 0
        if scored != segments:
            raise JobError(
                f"the number of segments scored is not the number planned: {segments} were "
                f"planned, {scored} of system {system} were scored"
                + (f" with the tokens of {tokens}" if tokens else ""),
                _LOST,
            )
