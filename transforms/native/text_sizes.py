"""The bytes of the texts of a batch, and the number of references of each segment."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import Spans


@dataclasses.dataclass(frozen=True)
class TextSizes:
    """The sizes of the texts of a batch.

    Attributes:
      candidate_bytes: int64 (systems, segments), the bytes of each candidate.
      reference_bytes: int64 (segments,), the bytes of all references of each segment.
      reference_counts: int64 (segments,), the references that are not missing.
      longest: the bytes of all texts of the longest segment.
      longest_row: the first row with as many bytes.
      bare_row: the first row whose references are all missing; -1 if there is none.
    """

    candidate_bytes: Integers
    reference_bytes: Integers
    reference_counts: Integers
    longest: int
    longest_row: int
    bare_row: int

    @classmethod
    def none(cls, systems: int, segments: int) -> TextSizes:
        """The sizes of segments that have no texts."""
        zeros = np.zeros((systems, segments), np.int64)
        return cls(zeros, np.zeros(segments, np.int64), np.zeros(segments, np.int64), 0, 0, -1)


def find_sizes(spans: Spans, reference_count: int) -> TextSizes:
    """The sizes of texts that are at these places; references come first."""
    sizes = spans.ends - spans.starts
    reference_bytes = sizes[:reference_count].sum(axis=0)
    counts = np.count_nonzero(spans.starts[:reference_count], axis=0)  # 0 for a missing text
    candidate_bytes = sizes[reference_count:]
    of_segments = reference_bytes + candidate_bytes.sum(axis=0)
    longest_row = int(of_segments.argmax()) if of_segments.size else 0
    bare = np.flatnonzero(counts == 0)
    return TextSizes(
        candidate_bytes,
        reference_bytes,
        counts,
        int(of_segments[longest_row]) if of_segments.size else 0,
        longest_row,
        int(bare[0]) if bare.size else -1,
    )
