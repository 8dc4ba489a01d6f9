"""The totals of a job: everything that it has added up, and all that its result is made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.paired import FoundCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.rejected import Rejected
from beam_bleu.transforms.totals.replicates.replicates import Replicates
from beam_bleu.transforms.totals.slice_sums import SliceSums


@dataclasses.dataclass(frozen=True)
class MetricTotals:
    """What a job has added up for one metric.

    Attributes:
      sums: for each way to make tokens, each system's sums by its name.
      slices: the sums of all slices; None if no slices are scored.
      moments: the moments for uncertainty, of the job's own way to make tokens; None if it is not
        asked for.
      replicates: the replicates; None if they are not asked for.
    """

    sums: Mapping[TextName, Mapping[str, CorpusSums]]
    slices: SliceSums | None = None
    moments: Moments | None = None
    replicates: Replicates | None = None


@dataclasses.dataclass(frozen=True)
class Totals:
    """Everything that a job has added up.

    The result document is a function of these totals and of the definitions. So saved totals give
    the same document as the job, and the totals of two parts of a corpus can be added.

    Attributes:
      systems: the systems' names, in the order of the result.
      tally: what became of the segments that were read.
      metrics: what was added up for each metric.
      is_tallied: whether the source has tallies, so that the result has counters of them.
      rejected: the rejected records.
      notices: what a reader of the score must know about the texts.
      coverage: which segments the systems have; None if each record has all systems.
    """

    systems: tuple[str, ...]
    tally: Tally
    metrics: Mapping[MetricWord, MetricTotals]
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
