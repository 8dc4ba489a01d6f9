"""The currency of the first half of the pipeline: a batch of aligned segments."""

from __future__ import annotations

import dataclasses

import pyarrow as pa


@dataclasses.dataclass(frozen=True)
class SegmentBatch:
    """Rows of aligned segments, column by column.

    Attributes:
      candidates: one large_string column per system, no nulls; row i of every
        column belongs to segment i.
      references: one or more large_string columns; null where a segment has
        fewer references than others (an empty string is a reference).
      first_segment: the number of the first row's segment, from 0, which the other rows'
        segments follow; None where segments have no numbers.
    """

    candidates: tuple[pa.LargeStringArray, ...]
    references: tuple[pa.LargeStringArray, ...]
    first_segment: int | None = None

    def __len__(self) -> int:
        return len(self.candidates[0])

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        return sum(int(column.nbytes) for column in (*self.candidates, *self.references))
