"""Corpus totals: the sums that a BLEU score is computed from."""

from __future__ import annotations

import dataclasses

import numpy as np

from transforms.statistics.segment_statistics import SegmentStatistics


@dataclasses.dataclass(frozen=True)
class CorpusTotals:
    """What any number of segments of one system add up to.

    Attributes:
      matches: clipped n-gram matches; matches[n - 1] is of order n.
      totals: n-grams in the candidates; totals[n - 1] is of order n.
      candidate_length: tokens in the candidates.
      reference_length: tokens in each segment's closest reference.
      segments: how many segments.
      min_references: the smallest number of references of a segment, 0 without segments.
      max_references: the largest number of references of a segment.
      empty_candidates: segments whose candidate has no token.
      candidate_bytes: bytes of the candidates' UTF-8.
      reference_bytes: bytes of all references' UTF-8.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    candidate_length: int = 0
    reference_length: int = 0
    segments: int = 0
    min_references: int = 0
    max_references: int = 0
    empty_candidates: int = 0
    candidate_bytes: int = 0
    reference_bytes: int = 0

    @classmethod
    def zero(cls, max_order: int) -> CorpusTotals:
        """The totals of no segment."""
        return cls(matches=(0,) * max_order, totals=(0,) * max_order)

    @classmethod
    def of(
        cls, statistics: SegmentStatistics, system: int, rows: slice = slice(None)
    ) -> CorpusTotals:
        """The totals of some rows of one system's segment statistics."""
        references = statistics.references[rows]
        candidate_length = statistics.candidate_length[system, rows]
        if not len(references):
            return cls.zero(statistics.max_order)
        return cls(
            matches=_sums(statistics.matches[system, rows]),
            totals=_sums(statistics.totals[system, rows]),
            candidate_length=int(candidate_length.sum()),
            reference_length=int(statistics.reference_length[system, rows].sum()),
            segments=len(references),
            min_references=int(references.min()),
            max_references=int(references.max()),
            empty_candidates=int(np.count_nonzero(candidate_length == 0)),
            candidate_bytes=int(statistics.candidate_bytes[system, rows].sum()),
            reference_bytes=int(statistics.reference_bytes[rows].sum()),
        )

    def __add__(self, other: CorpusTotals) -> CorpusTotals:
        if len(self.matches) != len(other.matches):
            raise ValueError(
                f"totals of order {len(self.matches)} and {len(other.matches)} do not add up"
            )
        if not self.segments or not other.segments:
            return self if self.segments else other
        return CorpusTotals(
            matches=tuple(map(int.__add__, self.matches, other.matches)),
            totals=tuple(map(int.__add__, self.totals, other.totals)),
            candidate_length=self.candidate_length + other.candidate_length,
            reference_length=self.reference_length + other.reference_length,
            segments=self.segments + other.segments,
            min_references=min(self.min_references, other.min_references),
            max_references=max(self.max_references, other.max_references),
            empty_candidates=self.empty_candidates + other.empty_candidates,
            candidate_bytes=self.candidate_bytes + other.candidate_bytes,
            reference_bytes=self.reference_bytes + other.reference_bytes,
        )


def _sums(columns: np.ndarray) -> tuple[int, ...]:
    # Each batch's sum fits an int64; the corpus's sums are Python's unbounded integers.
    return tuple(int(total) for total in columns.sum(axis=0))
