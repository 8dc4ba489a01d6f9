"""Batch statistics: the integers that each segment of a batch adds to the sums."""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses

import pyarrow as pa

from beam_bleu.transforms.definition.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup
from beam_bleu.transforms.statistics.signs import BatchSigns


@dataclasses.dataclass(frozen=True)
class BatchStatistics:
    """The statistics of a batch of segments, for every system.

    Attributes:
      counts: int64 (systems, segments, W), the columns of the metric (definition/columns.py).
      reference_counts: int64 (segments,), the number of references of each segment.
      candidate_bytes: int64 (systems, segments), bytes of UTF-8.
      reference_bytes: int64 (segments,), bytes of UTF-8 of all references.
      signs: the signs of suspicious input.
      systems: the name of each system, as in the batch.
      numbers: int64 (segments,), the number of each segment in the input, as in the batch; None
        if segments have no numbers.
      groups: which segments are added up together, as in the batch.
      labels: columns of strings, (segments,) each, as in the batch.
    """

    counts: Integers
    reference_counts: Integers
    candidate_bytes: Integers
    reference_bytes: Integers
    signs: BatchSigns
    systems: tuple[str, ...]
    numbers: Integers | None = None
    groups: tuple[RowGroup, ...] = ALL_ROWS
    labels: tuple[pa.DictionaryArray, ...] = ()

    def __len__(self) -> int:
        return len(self.reference_counts)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        arrays = (self.counts, self.reference_counts, self.candidate_bytes, self.reference_bytes)
        return sum(array.nbytes for array in arrays) + self.signs.nbytes

    def shown_counts(self) -> tuple[int, int]:
        """What Beam's counters show: the empty candidates, and the bytes of all texts.

        They are computed at the first call.
        """
        # Not a cached property: before Python 3.12 it has one lock for all objects.
        found: tuple[int, int] | None = self.__dict__.get("_shown")
        if found is None:
            found = _shown_counts(self.counts, self.candidate_bytes, self.reference_bytes)
            self.__dict__["_shown"] = found
        return found


@compiled
def _shown_counts(counts, candidate_bytes, reference_bytes):
    """(the empty candidates, the bytes of all texts); the arguments are as in `BatchStatistics`."""
    systems, segments, _ = counts.shape
    empty = size = 0
    for segment in range(segments):
        size += reference_bytes[segment]
    for system in range(systems):
        for segment in range(segments):
            empty += counts[system, segment, CANDIDATE_LENGTH] == 0
            size += candidate_bytes[system, segment]
    return empty, size
