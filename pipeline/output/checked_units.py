"""The sums of units of each score, which must be of the same segments as the score."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.moments import GroupKey, Moments
from beam_bleu.transforms.totals.units import UnitSums


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
        where = "" if key is None else f", in the slice {key.values}"
        require_same_segments(f"standard errors of system {system}", found.sums, sums, where)
        return found


def require_same_segments(
    what: str, columns: Sequence[int], sums: CorpusSums, where: str = ""
) -> None:
    """Checks that the sums of units are of the same segments as those of a score.

    Args:
      what: what the sums of units are for, in the message.
      columns: the W sums of units.
      sums: the sums from which the score is computed.
      where: in which part of the corpus, in the message.

    Raises:
      JobError: they are not.
    """
    if tuple(columns) != sums.columns:
        raise JobError(
            f"the sums for the {what} are of {columns[SEGMENTS]} segments, and those for its "
            f"scores of {sums.segments}{where}",
            "the runner lost or repeated data: do not use it for this job",
        )
