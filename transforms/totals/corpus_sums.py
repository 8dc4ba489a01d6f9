"""Corpus sums: the integers from which every definition of a metric is computed.

With them come the numbers of texts that look suspicious, for the warnings about a score; and, if
the score gets a standard error, the sums of products. `MetricSums` are those of several metrics.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import exact
from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics, MetricStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.text.tokenizers import SCRIPTS
from beam_bleu.transforms.totals.products import by_column, sums_of_columns
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
        references = [int(count(is_there[rows])) for is_there in signs.given]
        while references and not references[-1]:
            # Only other rows of the batch need this column. The sums must not depend on which
            # rows are in the same batch.
            references.pop()
        present = range(len(references))
        return cls(
            tokenized=int(count(signs.tokenized[system, rows])),
            candidate_returns=int(count(signs.candidate_returns[system, rows])),
            scripts=tuple(
                np.bincount(signs.scripts[system, rows], minlength=len(SCRIPTS) + 1)[1:].tolist()
            ),
            identical=tuple(int(count(signs.identical[system, k, rows])) for k in present),
            given=tuple(references),
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
    """The sums of integers, place by place. One tuple may have more places than the other."""
    return tuple(map(sum, itertools.zip_longest(one, other, fillvalue=0)))


def _summed(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """The same of tuples that have the same places."""
    return tuple(map(int.__add__, one, other))


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
      units: the number of units, with `products`; 0 without them.
      products: the sums of products over these units, as in `UnitSums`; None for a score without
        a standard error. Those that the command adds up are in `Moments`, until it scores.
    """

    columns: tuple[int, ...]
    min_reference_count: int = 0
    max_reference_count: int = 0
    candidate_bytes: int = 0
    reference_bytes: int = 0
    signs: InputSigns = dataclasses.field(default_factory=InputSigns)
    units: int = 0
    products: tuple[int, ...] | None = None

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
        with_products: bool = False,
    ) -> CorpusSums:
        """The sums of some rows of one system's segment statistics.

        `with_products` says whether they have products, each segment being a unit.
        """
        counts = statistics.counts[system, rows]
        if not len(counts):
            return cls.zero(counts.shape[1])
        reference_counts = statistics.reference_counts[rows]
        units = None
        if with_products:
            (columns,) = by_column(counts[np.newaxis])
            units = sums_of_columns(columns)
        # The sums of a batch fit in an int64. Those of a corpus are Python's unbounded integers.
        return cls(
            columns=tuple((counts.sum(axis=0) if units is None else units.columns).tolist()),
            min_reference_count=int(reference_counts.min()),
            max_reference_count=int(reference_counts.max()),
            candidate_bytes=int(statistics.candidate_bytes[system, rows].sum()),
            reference_bytes=int(statistics.reference_bytes[rows].sum()),
            signs=InputSigns.of(statistics.signs, system, rows),
            units=0 if units is None else units.units,
            products=None if units is None else tuple(units.products.tolist()),
        )

    def with_products(self, units: UnitSums) -> CorpusSums:
        """These sums with the products of their units.

        Args:
          units: the sums over the units of the same segments.
        """
        products = tuple(units.products.tolist())
        return dataclasses.replace(self, units=units.units, products=products)

    @property
    def unit_sums(self) -> UnitSums | None:
        """The sums over units; None without products."""
        if self.products is None:
            return None
        columns, products = (
            exact(np.array(values, object)) for values in (self.columns, self.products)
        )
        return UnitSums(self.units, columns, products)

    @property
    def segments(self) -> int:
        """The number of segments."""
        return self.columns[SEGMENTS]

    def __add__(self, other: CorpusSums) -> CorpusSums:
        if len(self.columns) != len(other.columns):
            raise ValueError(
                f"sums of {len(self.columns)} and {len(other.columns)} columns cannot be added"
            )
        if not self.segments or not other.segments:
            return self if self.segments else other
        if (self.products is None) != (other.products is None):
            raise ValueError("sums with products and sums without products cannot be added")
        return CorpusSums(
            columns=_summed(self.columns, other.columns),
            min_reference_count=min(self.min_reference_count, other.min_reference_count),
            max_reference_count=max(self.max_reference_count, other.max_reference_count),
            candidate_bytes=self.candidate_bytes + other.candidate_bytes,
            reference_bytes=self.reference_bytes + other.reference_bytes,
            signs=self.signs + other.signs,
            units=self.units + other.units,
            products=self.products and other.products and _summed(self.products, other.products),
        )


@dataclasses.dataclass(frozen=True)
class MetricSums(Sums):
    """The sums over any number of segments of one system, for several metrics.

    One value has all of them, so that no trigger of a pipeline can fire for one metric alone.

    Attributes:
      metrics: the sums of each metric.
    """

    metrics: tuple[CorpusSums, ...]

    @property
    def segments(self) -> int:
        """The number of segments, which is the same for each metric."""
        return self.metrics[0].segments

    def __add__(self, other: MetricSums) -> MetricSums:
        return MetricSums(
            tuple(one + more for one, more in zip(self.metrics, other.metrics, strict=True))
        )


def metric_sums_of_each_system(
    statistics: MetricStatistics, group: RowGroup, *, with_products: bool = False
) -> Iterator[tuple[tuple[str, object], MetricSums]]:
    """The sums of a group of a batch, for each system: ((name of the system, key), sums)."""
    for number, system in enumerate(statistics.systems):
        sums = (
            CorpusSums.of(of_metric, number, group.rows, with_products=with_products)
            for of_metric in statistics.metrics
        )
        yield (system, group.key), MetricSums(tuple(sums))
