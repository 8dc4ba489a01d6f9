"""The evidence of a job: what it finds out about its scores, beside the scores themselves."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.definition.resampling import Resampling


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


USUAL_EVIDENCE = Evidence()
"""What a job finds out if nothing else is asked for."""
