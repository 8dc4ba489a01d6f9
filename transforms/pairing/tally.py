"""The tally: what became of the segments that were read."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping

from beam_bleu.transforms.wiring.sums import Sums

FILTERED = "filtered"
"""The reason in a tally for segments that conditions of the user leave out."""

REJECTED = "rejected"
"""The reason in a tally for segments that are left out because of a bad record."""


@dataclasses.dataclass(frozen=True)
class Tally(Sums):
    """What became of the segments of a part of the input. Those of all parts are added up.

    For each system, read = scored + all that were left out + missing. The last step of a job
    checks this, and compares `scored` with the sums.

    Attributes:
      read: the number of segments that were read.
      scored: by system, the number of segments that went into batches.
      left_out: by reason (`FILTERED`, `REJECTED`, or another name), the number of segments that
        are scored for no system.
      missing: by system, the number of segments that are scored for other systems only, because
        this system does not have them.
      bad_records: the number of bad records. A rejected segment has one or more of them.
      judged: by condition, as the user wrote it, the number of records that it was asked about. It
        does not matter whether other conditions leave them out. Conditions that a layout asks for
        are not counted.
      met: by condition, how many of these records meet it.
    """

    read: int = 0
    scored: Mapping[str, int] = dataclasses.field(default_factory=dict)
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    missing: Mapping[str, int] = dataclasses.field(default_factory=dict)
    bad_records: int = 0
    judged: Mapping[str, int] = dataclasses.field(default_factory=dict)
    met: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.read + other.read,
            _added(self.scored, other.scored),
            _added(self.left_out, other.left_out),
            _added(self.missing, other.missing),
            self.bad_records + other.bad_records,
            _added(self.judged, other.judged),
            _added(self.met, other.met),
        )

    def unexplained(self, system: str) -> int:
        """How many segments of a system are unaccounted for; 0 if all is well."""
        known = self.scored.get(system, 0) + sum(self.left_out.values())
        return self.read - known - self.missing.get(system, 0)


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    return dict(sorted((collections.Counter(one) + collections.Counter(other)).items()))
