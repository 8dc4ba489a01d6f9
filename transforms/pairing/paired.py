"""What every source of segments gives, whatever the form of its input."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.pvalue import PCollection

    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.wiring.steps import Step


@dataclasses.dataclass(frozen=True)
class FoundSegments:
    """What a source finds out about its segments before they are scored.

    Attributes:
      count: how many segments there are to score.
      warnings: what a reader of the score must know about the texts, a sentence each.
      notes: likewise about the files; other files could hold the same texts.
    """

    count: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Paired:
    """Aligned segments in a pipeline.

    Attributes:
      batches: PCollection of `SegmentBatch`, with a column of candidates for each system.
      segments: PCollection of one `FoundSegments`, which tells how many rows all batches have.
    """

    batches: PCollection[SegmentBatch]
    segments: PCollection[FoundSegments]


class Source(Protocol):
    """A form of input, with what is read in it: a frozen value, which can be pickled."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in the order of the batches' candidates."""

    @property
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """(what messages call it, a path or a pattern) of all that is read."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the score must know of how the input is read, a sentence each."""

    def pair(self, threads: int, step: Step = ...) -> beam.PTransform:
        """The transform of a pipeline's root to `Paired`.

        Args:
          threads: how many threads a worker may use.
          step: what makes a step of each DoFn; by default it is the DoFn itself.
        """
