"""The sums of units of each score, which must be of the same segments as the score."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.moments import GroupKey, Moments
from beam_bleu.transforms.totals.units import CANDIDATE_LENGTH, FIRST_MATCHES, SEGMENTS, UnitSums


@dataclasses.dataclass(frozen=True)
class CheckedUnits:
    """The sums of units for the uncertainty of scores.

    Attributes:
      moments: the moments of the whole corpus and of its slices; None if no score gets a standard
        error.
    """

    moments: Moments | None

    def of(self, system: str, sums: CorpusSums, key: GroupKey = None) -> UnitSums | None:
        """The sums of a system's units in a group; None if no standard error is asked for.

        Args:
          system: the system.
          sums: the sums from which the score is computed.
          key: the group.

        Raises:
          JobError: they are not of the same segments.
        """
        if self.moments is None:
            return None
        found = self.moments.of_system(system, key)
        matches = found.sums[FIRST_MATCHES : FIRST_MATCHES + sums.max_order]
        columns = (found.sums[SEGMENTS], found.sums[CANDIDATE_LENGTH], *matches)
        if columns != (sums.segments, sums.candidate_length, *sums.matches):
            raise JobError(
                f"the sums for the standard errors of system {system} are of "
                f"{found.sums[SEGMENTS]} segments, and those for its scores of {sums.segments}"
                + ("" if key is None else f", in the slice {key.values}"),
                "the runner lost or repeated data: do not use it for this job",
            )
        return found
