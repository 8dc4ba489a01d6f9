"""The totals of a job: everything that it has added up, and all that its result is made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.paired import FoundCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import Rejected
from beam_bleu.transforms.totals.group_totals import MetricTotals


@dataclasses.dataclass(frozen=True)
class Totals:
    """Everything that a job has added up.

    The result document is a function of these totals and of the definitions. So saved totals give
    the same document as the job, and the totals of two parts of a corpus can be added.

    Attributes:
      systems: the systems' names, in the order of the result.
      metrics: what was added up for each metric, with each way to make tokens.
      is_tallied: whether the source has tallies, so that the result has counters of them.
      notices: what a reader of the score must know about the texts.
      coverage: which segments the systems have; None if each record has all systems.
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
        """The number of segments that are scored for any system."""
        return self.tally.read - sum(self.tally.left_out.values())

    @property
    def scored(self) -> dict[str, int]:
        """By system, the number of segments that must be in its sums."""
        return {system: self.tally.scored.get(system, 0) for system in self.systems}
