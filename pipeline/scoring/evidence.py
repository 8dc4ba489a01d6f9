"""The evidence of a job: what it finds out about its scores, beside the scores themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.score.differences import compared_pairs


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a job finds out about its scores.

    Attributes:
      uncertainty: whether each score has its standard error and interval, and systems are compared.
      baseline: the system with which the others are compared; None for the first one.
      compare_all: whether each system is compared with each other one, on the whole corpus.
      documents: the label with the document of each segment; None if each segment is a unit.
      resampling: the replicates; None for none.
      save_totals: whether totals.json is written.
      partition: the label of the part of a corpus that is scored; None if it has none.
    """

    uncertainty: bool = True
    baseline: str | None = None
    compare_all: bool = False
    documents: str | None = None
    resampling: Resampling | None = None
    save_totals: bool = False
    partition: str | None = None

    @property
    def unit(self) -> str:
        """What a unit is: what would be drawn at random for another test set."""
        return "segment" if self.documents is None else "document"

    def baseline_of(self, systems: Sequence[str]) -> str:
        """The system with which the others are compared."""
        if self.baseline is None:
            return systems[0]
        if self.baseline not in systems:
            raise InputError(
                f"--baseline {self.baseline}: the input has no system with this name",
                f"choose one of {', '.join(systems)}",
            )
        return self.baseline

    def compared(self, systems: Sequence[str]) -> list[tuple[str, str]]:
        """(system, baseline) of each comparison on the whole corpus."""
        baseline = self.baseline_of(systems)
        return compared_pairs(systems, baseline, all_pairs=self.compare_all)


USUAL_EVIDENCE = Evidence()
"""What a job finds out if nothing else is asked for."""
