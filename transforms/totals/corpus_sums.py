"""Corpus sums: the integers from which every definition of a metric is computed.

With them come the numbers of texts that look suspicious, for the warnings about a score.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.text.tokenizers import SCRIPTS
from beam_bleu.transforms.totals.moments.products import unit_sums
from beam_bleu.transforms.totals.unit_sums import UnitSums
from beam_bleu.transforms.wiring.sums import Sums


@dataclasses.dataclass(frozen=True)
class InputSigns:
    """The signs of one system's candidates and of the references, added up.

    References are counted by position: item k counts reference k + 1 of each segment. If the
    number of references varies, there is an item for each position that at least one segment
    has.

    Attributes:
      tokenized: candidates that end in " .".
      candidate_returns: candidates that end in a carriage return.
      identical: candidates that equal the reference, byte for byte.
      given: references that are not missing.
      reference_returns: references that end in a carriage return.
      scripts: candidates that are in each script of `SCRIPTS`, like one of their references.
    """

    tokenized: int = 0
    candidate_returns: int = 0
    identical: tuple[int, ...] = ()
    given: tuple[int, ...] = ()
    reference_returns: tuple[int, ...] = ()
    scripts: tuple[int, ...] = (0,) * len(SCRIPTS)

    def __post_init__(self) -> None:
        if len(self.scripts) != len(SCRIPTS):
            raise ValueError(f"there are {len(SCRIPTS)} scripts, not {len(self.scripts)}")

    @classmethod
    def of(cls, signs: BatchSigns, system: int, rows: slice = slice(None)) -> InputSigns:
        """The signs of some rows of one system's segments."""
        count = np.count_nonzero
        given = [int(count(each[rows])) for each in signs.given]
        while given and not given[-1]:
            # Only other rows of the batch need this column. The sums must not depend on which
            # rows are in the same batch.
            given.pop()
        present = range(len(given))
        return cls(
            tokenized=int(count(signs.tokenized[system, rows])),
            candidate_returns=int(count(signs.candidate_returns[system, rows])),
            scripts=tuple(
                np.bincount(signs.scripts[system, rows], minlength=len(SCRIPTS) + 1)[1:].tolist()
            ),
            identical=tuple(int(count(signs.identical[system, k, rows])) for k in present),
            given=tuple(given),
            reference_returns=tuple(int(count(signs.reference_returns[k, rows])) for k in present),
        )

    def __add__(self, other: InputSigns) -> InputSigns:
        return InputSigns(
            tokenized=self.tokenized + other.tokenized,
            candidate_returns=self.candidate_returns + other.candidate_returns,
            scripts=_added(self.scripts, other.scripts),
            identical=_added(self.identical, other.identical),
            given=_added(self.given, other.given),
            reference_returns=_added(self.reference_returns, other.reference_returns),
        )


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, itertools.zip_longest(one, other, fillvalue=0)))


@dataclasses.dataclass(frozen=True)
class CorpusSums(Sums):
    """The sums over any number of segments of one system.

    Attributes:
      columns: W integers: for each column of the basis its sum over the segments.
      min_reference_count: the smallest number of references of a segment, 0 without segments.
      max_reference_count: the largest number of references of a segment.
      candidate_bytes: bytes of the candidates in UTF-8.
      reference_bytes: bytes of all references in UTF-8.
      signs: the numbers of texts that look suspicious.
      units: the sums of the segments as units, for the uncertainty; None if it is not asked for.
        Only transforms of the library have them here. The command has `Moments`.
    """

    columns: tuple[int, ...]
    min_reference_count: int = 0
    max_reference_count: int = 0
    candidate_bytes: int = 0
    reference_bytes: int = 0
    signs: InputSigns = dataclasses.field(default_factory=InputSigns)
    units: UnitSums | None = None

    @classmethod
    def zero(cls, width: int) -> CorpusSums:
        """The sums of no segment, of W columns."""
        return cls((0,) * width)

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
        counts = statistics.counts[system, rows]
        if not len(counts):
            return cls.zero(counts.shape[1])
        reference_counts = statistics.reference_counts[rows]
        # The sums of a batch fit in an int64. Those of a corpus are Python's unbounded integers.
        return cls(
            columns=tuple(counts.sum(axis=0).tolist()),
            min_reference_count=int(reference_counts.min()),
            max_reference_count=int(reference_counts.max()),
            candidate_bytes=int(statistics.candidate_bytes[system, rows].sum()),
            reference_bytes=int(statistics.reference_bytes[rows].sum()),
            signs=InputSigns.of(statistics.signs, system, rows),
            units=unit_sums(statistics, system, rows) if with_units else None,
        )

    @property
    def segments(self) -> int:
        """The number of segments."""
        return self.columns[SEGMENTS]

    def __add__(self, other: CorpusSums) -> CorpusSums:
        if len(self.columns) != len(other.columns):
            raise ValueError(
                f"sums of {len(self.columns)} and {len(other.columns)} columns do not add up"
            )
        if not self.segments or not other.segments:
            return self if self.segments else other
        if (self.units is None) != (other.units is None):
            raise ValueError("sums with units and sums without units do not add up")
        return CorpusSums(
            columns=tuple(map(int.__add__, self.columns, other.columns)),
            min_reference_count=min(self.min_reference_count, other.min_reference_count),
            max_reference_count=max(self.max_reference_count, other.max_reference_count),
            candidate_bytes=self.candidate_bytes + other.candidate_bytes,
            reference_bytes=self.reference_bytes + other.reference_bytes,
            signs=self.signs + other.signs,
            units=self.units and other.units and self.units + other.units,
        )
