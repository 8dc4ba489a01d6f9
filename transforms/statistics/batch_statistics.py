"""The integers that each segment of a batch adds to the sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pyarrow as pa

from beam_bleu.transforms.native.arrays import Bytes, Integers, Sums
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup, SegmentBatch


@dataclasses.dataclass(frozen=True)
class BatchStatistics:
    """The statistics of a batch of segments, for every system and one or more metrics.

    Attributes:
      counts: for each metric int64 (systems, segments, W), its columns.
      reference_counts: int64 (segments,), the references that are not missing.
      candidate_bytes: int64 (systems, segments), bytes of UTF-8.
      reference_bytes: int64 (segments,), bytes of UTF-8 of all references.
      signs: the signs of suspicious input, as `find_signs` gives them.
      systems: as in the batch, like `numbers`, `groups`, `labels` and `kept`.
      lengths: for each metric int64 (segments,), the average length of the references of each
        segment, rounded down; empty if no slices need them.
      texts: the batch itself, if its texts are kept.
      picked: what was picked of the segments to be shown with their texts; None if not asked for.
    """

    counts: tuple[Integers, ...]
    reference_counts: Integers
    candidate_bytes: Integers
    reference_bytes: Integers
    signs: Bytes
    systems: tuple[str, ...]
    numbers: Integers | None = None
    groups: tuple[RowGroup, ...] = ALL_ROWS
    labels: tuple[pa.DictionaryArray, ...] = ()
    lengths: tuple[Integers, ...] = ()
    kept: Mapping[str, pa.LargeStringArray] = dataclasses.field(default_factory=dict)
    texts: SegmentBatch | None = None
    picked: Sums | None = None

    def __len__(self) -> int:
        return len(self.reference_counts)

    def rows(self, place: int) -> Integers:
        """The counts of a metric, int64 (systems * segments, W)."""
        return self.counts[place].reshape(-1, self.counts[place].shape[2])

    @property
    def nbytes(self) -> int:
        arrays = (*self.counts, self.reference_counts, self.candidate_bytes, self.reference_bytes)
        columns = (*arrays, self.signs, *self.kept.values())
        texts = 0 if self.texts is None else self.texts.nbytes
        return sum(int(column.nbytes) for column in columns) + texts
