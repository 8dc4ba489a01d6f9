"""The bytes of the texts of a batch, and the number of references of each segment, in one pass."""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import address_of, load_int, store_int
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
    texts, segments = spans.starts.shape
    candidate_bytes = np.empty((texts - reference_count, segments), np.int64)
    reference_bytes = np.empty(segments, np.int64)
    reference_counts = np.empty(segments, np.int64)
    arrays = candidate_bytes, reference_bytes, reference_counts
    return TextSizes(*arrays, *_write_sizes(spans.both, *arrays))


@compiled
def _write_sizes(spans, candidate_bytes, reference_bytes, reference_counts):
    """Fills the last three arrays; returns the numbers after them (see `TextSizes`)."""
    starts, ends = spans
    texts, rows = starts.shape
    systems = candidate_bytes.shape[0]
    start, end = address_of(starts), address_of(ends)
    candidate, all_references = address_of(candidate_bytes), address_of(reference_bytes)
    counts = address_of(reference_counts)
    longest, longest_row, bare_row = -1, 0, -1
    for row in range(rows):
        size = count = 0
        for text in range(texts - systems):
            begin = load_int(start, text * rows + row)
            size += load_int(end, text * rows + row) - begin
            count += begin != 0  # the address of a missing text
        store_int(all_references, row, size)
        store_int(counts, row, count)
        if count == 0 and bare_row < 0:
            bare_row = row
        for system in range(systems):
            text = texts - systems + system
            of_candidate = load_int(end, text * rows + row) - load_int(start, text * rows + row)
            store_int(candidate, system * rows + row, of_candidate)
            size += of_candidate
        if size > longest:
            longest, longest_row = size, row
    return longest, longest_row, bare_row
