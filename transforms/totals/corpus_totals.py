"""Corpus totals: the sums that every definition of BLEU is computed from."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np

from transforms.statistics.segment_statistics import SegmentStatistics


@dataclasses.dataclass(frozen=True)
class ReferenceLengths:
    """The length of the references of any number of segments, by each rule.

    Attributes:
      closest: tokens in each segment's reference closest in length to the
        candidate; of two equally close ones the shorter.
      closest_first: the same; of two equally close ones the first.
      shortest: tokens in each segment's shortest reference.
      longest: tokens in each segment's longest reference.
      sums: (number of references, tokens in all of them) for the segments with
        so many references, by that number. Integers, so that the average is exact.
    """

    closest: int = 0
    closest_first: int = 0
    shortest: int = 0
    longest: int = 0
    sums: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, statistics: SegmentStatistics, system: int, rows: slice) -> ReferenceLengths:
        """The lengths of some rows of one system's segment statistics."""

        def of_rule(rule: str) -> np.ndarray:
            return statistics.reference_length(rule)[system, rows]

        references = statistics.references[rows]
        sums = of_rule("average")
        return cls(
            closest=int(of_rule("closest").sum()),
            closest_first=int(of_rule("closest_first").sum()),
            shortest=int(of_rule("shortest").sum()),
            longest=int(of_rule("longest").sum()),
            sums=tuple(
                (number, int(sums[references == number].sum()))
                for number in np.unique(references).tolist()
            ),
        )

    def __add__(self, other: ReferenceLengths) -> ReferenceLengths:
        sums = dict(self.sums)
        for number, tokens in other.sums:
            sums[number] = sums.get(number, 0) + tokens
        return ReferenceLengths(
            self.closest + other.closest,
            self.closest_first + other.closest_first,
            self.shortest + other.shortest,
            self.longest + other.longest,
            tuple(sorted(sums.items())),
        )

    def by(self, rule: str) -> int | Fraction:
        """The length by a rule of `REFERENCE_LENGTHS`, exact."""
        if rule == "average":
            return sum((Fraction(tokens, number) for number, tokens in self.sums), Fraction())
        length: int = getattr(self, rule)
        return length


@dataclasses.dataclass(frozen=True)
class CorpusTotals:
    """What any number of segments of one system add up to.

    Attributes:
      matches: clipped n-gram matches; matches[n - 1] is of order n.
      totals: n-grams in the candidates; totals[n - 1] is of order n.
      short_candidates: segments whose candidate has fewer than n tokens;
        short_candidates[n - 1] is of order n, so the first are the empty ones.
      candidate_length: tokens in the candidates.
      reference_lengths: tokens in the references, by each rule.
      segments: how many segments.
      min_references: the smallest number of references of a segment, 0 without segments.
      max_references: the largest number of references of a segment.
      candidate_bytes: bytes of the candidates' UTF-8.
      reference_bytes: bytes of all references' UTF-8.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    short_candidates: tuple[int, ...]
    candidate_length: int = 0
    reference_lengths: ReferenceLengths = ReferenceLengths()
    segments: int = 0
    min_references: int = 0
    max_references: int = 0
    candidate_bytes: int = 0
    reference_bytes: int = 0

    @classmethod
    def zero(cls, max_order: int) -> CorpusTotals:
        """The totals of no segment."""
        zeros = (0,) * max_order
        return cls(matches=zeros, totals=zeros, short_candidates=zeros)

    @classmethod
    def of(
        cls, statistics: SegmentStatistics, system: int, rows: slice = slice(None)
    ) -> CorpusTotals:
        """The totals of some rows of one system's segment statistics."""
        references = statistics.references[rows]
        if not len(references):
            return cls.zero(statistics.max_order)
        totals = statistics.totals[system, rows]
        return cls(
            matches=_sums(statistics.matches[system, rows]),
            totals=_sums(totals),
            short_candidates=tuple(np.count_nonzero(totals == 0, axis=0).tolist()),
            candidate_length=int(statistics.candidate_length[system, rows].sum()),
            reference_lengths=ReferenceLengths.of(statistics, system, rows),
            segments=len(references),
            min_references=int(references.min()),
            max_references=int(references.max()),
            candidate_bytes=int(statistics.candidate_bytes[system, rows].sum()),
            reference_bytes=int(statistics.reference_bytes[rows].sum()),
        )

    @property
    def max_order(self) -> int:
        """The largest n-gram order, N."""
        return len(self.matches)

    @property
    def empty_candidates(self) -> int:
        """Segments whose candidate has no token."""
        return self.short_candidates[0]

    def __add__(self, other: CorpusTotals) -> CorpusTotals:
        if self.max_order != other.max_order:
            raise ValueError(
                f"totals of order {self.max_order} and {other.max_order} do not add up"
            )
        if not self.segments or not other.segments:
            return self if self.segments else other
        return CorpusTotals(
            matches=_added(self.matches, other.matches),
            totals=_added(self.totals, other.totals),
            short_candidates=_added(self.short_candidates, other.short_candidates),
            candidate_length=self.candidate_length + other.candidate_length,
            reference_lengths=self.reference_lengths + other.reference_lengths,
            segments=self.segments + other.segments,
            min_references=min(self.min_references, other.min_references),
            max_references=max(self.max_references, other.max_references),
            candidate_bytes=self.candidate_bytes + other.candidate_bytes,
            reference_bytes=self.reference_bytes + other.reference_bytes,
        )


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int.__add__, one, other))


def _sums(columns: np.ndarray) -> tuple[int, ...]:
    # Each batch's sum fits an int64; the corpus's sums are Python's unbounded integers.
    return tuple(int(total) for total in columns.sum(axis=0))
