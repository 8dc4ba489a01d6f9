"""Corpus sums: the integers from which every definition of BLEU is computed."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from beam_bleu.transforms.definition.choices import function_of
from beam_bleu.transforms.definition.reference_lengths import ReferenceLengthName
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.input_signs import InputSigns
from beam_bleu.transforms.totals.moments.products import unit_sums
from beam_bleu.transforms.totals.units import PARTS_OF_A_TOKEN, UnitSums


@dataclasses.dataclass(frozen=True)
class ReferenceLengths:
    """The length of the references of any number of segments, by each rule.

    Attributes:
      closest: tokens in the reference of each segment that is closest in length to the
        candidate; if two are equally close, the shorter one.
      closest_first: the same, but if two are equally close, the first one.
      shortest: tokens in each segment's shortest reference.
      longest: tokens in each segment's longest reference.
      by_reference_count: (number of references, tokens in all references of the segments with
        this number of references), ordered by the number. Integers, so that the average is exact.
    """

    closest: int = 0
    closest_first: int = 0
    shortest: int = 0
    longest: int = 0
    by_reference_count: tuple[tuple[int, int], ...] = ()

    def __add__(self, other: ReferenceLengths) -> ReferenceLengths:
        tokens_of = dict(self.by_reference_count)
        for count, tokens in other.by_reference_count:
            tokens_of[count] = tokens_of.get(count, 0) + tokens
        return ReferenceLengths(
            self.closest + other.closest,
            self.closest_first + other.closest_first,
            self.shortest + other.shortest,
            self.longest + other.longest,
            tuple(sorted(tokens_of.items())),
        )

    def by(self, rule: ReferenceLengthName) -> int | Fraction:
        """The length by a rule of `REFERENCE_LENGTHS`, exact."""
        return function_of(_BY_RULE, rule, "reference length")(self)


def _average(lengths: ReferenceLengths) -> Fraction:
    shares = (Fraction(tokens, count) for count, tokens in lengths.by_reference_count)
    return sum(shares, Fraction())


_BY_RULE: dict[str, Callable[[ReferenceLengths], int | Fraction]] = {
    "closest": operator.attrgetter("closest"),
    "closest_first": operator.attrgetter("closest_first"),
    "shortest": operator.attrgetter("shortest"),
    "longest": operator.attrgetter("longest"),
    "average": _average,
}


@dataclasses.dataclass(frozen=True)
class CorpusSums:
    """The sums over any number of segments of one system.

    Attributes:
      matches: clipped n-gram matches; matches[n - 1] is of order n.
      totals: n-grams in the candidates; totals[n - 1] is of order n.
      short_candidates: segments whose candidate has fewer than n tokens;
        short_candidates[n - 1] is of order n, so the first item counts empty candidates.
      candidate_length: tokens in the candidates.
      reference_lengths: tokens in the references, by each rule.
      segments: the number of segments.
      min_reference_count: the smallest number of references of a segment, 0 without segments.
      max_reference_count: the largest number of references of a segment.
      candidate_bytes: bytes of the candidates in UTF-8.
      reference_bytes: bytes of all references in UTF-8.
      signs: the numbers of texts that look suspicious.
      units: the sums of the segments as units, for the uncertainty; None if it is not asked for.
        Only transforms of the library have them here. The command has `Moments`.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    short_candidates: tuple[int, ...]
    candidate_length: int = 0
    reference_lengths: ReferenceLengths = ReferenceLengths()
    segments: int = 0
    min_reference_count: int = 0
    max_reference_count: int = 0
    candidate_bytes: int = 0
    reference_bytes: int = 0
    signs: InputSigns = dataclasses.field(default_factory=InputSigns)
    units: UnitSums | None = None

    @property
    def unit_sums(self) -> tuple[int, ...]:
        """The W sums of the columns of a unit (`totals.units`), of all segments together.

        The average of the references is rounded only if a segment has more than 16 of them.
        """
        lengths = self.reference_lengths
        average = lengths.by("average") - lengths.shortest
        return (
            self.segments,
            self.candidate_length,
            lengths.shortest,
            lengths.closest - lengths.shortest,
            lengths.closest_first - lengths.closest,
            lengths.longest - lengths.shortest,
            int(average * PARTS_OF_A_TOKEN),
            *self.matches,
            *self.short_candidates,
        )

    @classmethod
    def zero(cls, max_order: int) -> CorpusSums:
        """The sums of no segment."""
        zeros = (0,) * max_order
        return cls(matches=zeros, totals=zeros, short_candidates=zeros)

    @classmethod
    def of(
        cls,
        statistics: BatchStatistics,
        system: int,
        rows: slice = slice(None),
        *,
        with_units: bool = False,
    ) -> CorpusSums:
        """The sums of some rows of one system's segment statistics.

        `with_units` says whether they have `units`, too.
        """
        reference_counts = statistics.reference_counts[rows]
        if not len(reference_counts):
            return cls.zero(statistics.max_order)
        # Sum all columns in one pass, and read the sums like the columns of one segment. The
        # sums of a batch fit in an int64. Those of a corpus are Python's unbounded integers.
        sums = statistics.counts[system, rows].sum(axis=0)
        summed = dataclasses.replace(statistics, counts=sums[None, None])
        smallest, largest = int(reference_counts.min()), int(reference_counts.max())

        def length(rule: ReferenceLengthName) -> int:
            return int(summed.reference_length(rule)[0, 0])

        if smallest == largest:
            by_number = {smallest: length("average")}
        else:
            lengths = statistics.reference_length("average")[system, rows]
            by_number = {
                number: int(lengths[reference_counts == number].sum())
                for number in np.unique(reference_counts).tolist()
            }
        return cls(
            matches=tuple(summed.matches[0, 0].tolist()),
            totals=tuple(summed.totals[0, 0].tolist()),
            short_candidates=tuple(
                np.count_nonzero(statistics.totals[system, rows] == 0, axis=0).tolist()
            ),
            candidate_length=int(summed.candidate_length[0, 0]),
            reference_lengths=ReferenceLengths(
                length("closest"),
                length("closest_first"),
                length("shortest"),
                length("longest"),
                tuple(by_number.items()),
            ),
            segments=len(reference_counts),
            min_reference_count=smallest,
            max_reference_count=largest,
            candidate_bytes=int(statistics.candidate_bytes[system, rows].sum()),
            reference_bytes=int(statistics.reference_bytes[rows].sum()),
            signs=InputSigns.of(statistics.signs, system, rows),
            units=unit_sums(statistics, system, rows) if with_units else None,
        )

    @property
    def max_order(self) -> int:
        """The largest n-gram order, N."""
        return len(self.matches)

    @property
    def empty_candidates(self) -> int:
        """Segments whose candidate has no token."""
        return self.short_candidates[0]

    def __add__(self, other: CorpusSums) -> CorpusSums:
        if self.max_order != other.max_order:
            raise ValueError(f"sums of order {self.max_order} and {other.max_order} do not add up")
        if not self.segments or not other.segments:
            return self if self.segments else other
        if (self.units is None) != (other.units is None):
            raise ValueError("sums with units and sums without units do not add up")
        return CorpusSums(
            matches=_added(self.matches, other.matches),
            totals=_added(self.totals, other.totals),
            short_candidates=_added(self.short_candidates, other.short_candidates),
            candidate_length=self.candidate_length + other.candidate_length,
            reference_lengths=self.reference_lengths + other.reference_lengths,
            segments=self.segments + other.segments,
            min_reference_count=min(self.min_reference_count, other.min_reference_count),
            max_reference_count=max(self.max_reference_count, other.max_reference_count),
            candidate_bytes=self.candidate_bytes + other.candidate_bytes,
            reference_bytes=self.reference_bytes + other.reference_bytes,
            signs=self.signs + other.signs,
            units=self.units and other.units and self.units + other.units,
        )


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int.__add__, one, other))
