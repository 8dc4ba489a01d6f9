"""The closing counts: whether the sums hold each segment of each system exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.pairing.tally import Tally

_LOST = "the runner lost or repeated data: do not use it for this job"


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
    planned: Mapping[str, int], scored: Mapping[str, int], tokens: str = ""
) -> None:
    """Checks the number of segments in the totals of each system.

    Args:
      planned: by system, the number of segments that must be in its sums. There are no others.
      scored: by system, the number of segments in its sums.
      tokens: the way to make tokens, for messages; "" for a job's own one.

    Raises:
      JobError: a segment was lost or scored twice, or is of a system that was not planned.
    """
    for system in {**planned, **scored}:
        were_planned, were_scored = planned.get(system, 0), scored.get(system, 0)
        if were_scored != were_planned:
            raise JobError(
                f"the number of segments scored is not the number planned: {were_planned} were "
                f"planned, {were_scored} of system {system} were scored"
                + (f" with the tokens of {tokens}" if tokens else ""),
                _LOST,
            )
