"""Adds up documents, where these are the units, instead of segments. Each bundle adds up its part
of each document, as `GroupTotals` of slices without products. A shuffle brings the parts of a
document together, and then it is added as one unit.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import ExactIntegers, Integers, Sums, exact
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import AddersOfSystems, Adding, SliceNumbering
from beam_bleu.transforms.totals.group_totals import (
    GroupTotals,
    MetricTotals,
    added_totals,
    require_bounded,
)
from beam_bleu.transforms.totals.unit_adder import UnitAdder

BUCKETS = 64
"""Documents are shuffled in this number of buckets. A whole bucket must fit in memory."""

_MOST_PARTS = 256
"""More parts than these are added up into one: to do so for each new one takes quadratic time."""


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentParts(Sums):
    """The sums of some documents in parts of a corpus, as slices without products and without
    facts. `systems` are those of the segments that have most: if all, in the order of the result.
    """

    systems: tuple[str, ...]
    parts: tuple[GroupTotals, ...]

    def __add__(self, other: DocumentParts) -> DocumentParts:
        parts = (*self.parts, *other.parts)
        systems = max(self.systems, other.systems, key=len)
        return DocumentParts(systems, (added_totals(parts),) if len(parts) > _MOST_PARTS else parts)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)


class DocumentAdder:
    """Adds up the segments of each document, for each system, whole and in slices. Mutable."""

    def __init__(self, adding: Adding) -> None:
        self._numbering = SliceNumbering(adding.slicing, adding.labels, adding.documents)
        self._adding = adding
        self._adders: dict[tuple[str, ...], UnitAdder] = {}

    def add(self, statistics: BatchStatistics) -> None:
        systems = statistics.systems
        if systems not in self._adders:
            self._adders[systems] = UnitAdder(systems, self._adding.basis, with_products=False)
        place = self._adding.place
        for groups in self._numbering.rows_of(statistics, place):
            self._adders[systems].add(statistics.counts[place], groups, len(self._numbering.keys))

    @property
    def nbytes(self) -> int:
        return sum(adder.nbytes for adder in self._adders.values())

    def sums(self) -> DocumentParts:
        parts = tuple(adder.totals(self._numbering.keys) for adder in self._adders.values())
        return DocumentParts(max(self._adders, key=len, default=()), parts)

    def buckets(self) -> Iterator[tuple[int, DocumentParts]]:
        """The sums of each bucket. All parts of a document are in the same bucket."""
        sums = self.sums()
        totals = added_totals(sums.parts)
        names = [str(key.values[0]) for key in self._numbering.keys]
        buckets = np.array([zlib.crc32(name.encode()) % BUCKETS for name in names], np.int64)
        for bucket in np.unique(buckets).tolist():
            rows = np.flatnonzero(buckets == bucket)
            yield bucket, DocumentParts(sums.systems, (totals.rows(rows.tolist()),))


class DocumentTotals:
    """Adds up the totals of documents. If a system lacks segments of a document, this is a unit of
    each system that has any, with all that the system has, and a common unit, with the segments
    that all systems have. Which these are is known only after the parts have been added up.
    """

    def __init__(self, adding: Adding) -> None:
        self._adding = adding
        self._slices: dict[SliceKey, int] = {}
        # By systems: the adders of the common units, then those of each system's own units.
        self._by_systems: dict[tuple[str, ...], list[AddersOfSystems]] = {}

    def add(self, documents: DocumentParts) -> None:
        totals = added_totals(documents.parts)
        if totals.systems not in self._by_systems:
            baseline = self._adding.baseline or documents.systems[0]
            adding = dataclasses.replace(self._adding, baseline=baseline)
            self._by_systems[totals.systems] = [
                AddersOfSystems(systems, adding)
                for systems in (totals.systems, *((system,) for system in totals.systems))
            ]
        # 0 for a whole document, otherwise the number of its slice from 1.
        groups = np.zeros(len(totals.keys), np.int64)
        for row, (item, values) in enumerate(filter(None, totals.keys)):
            if item > 0:
                group = SliceKey(item - 1, values[1:])
                groups[row] = self._slices.setdefault(group, len(self._slices)) + 1
        require_bounded([*self._slices], self._adding.slicing.most)
        common, *own = self._by_systems[totals.systems]
        self._add(common, totals.common, groups)
        for place, adders in enumerate(own):
            self._add(adders, totals.own[:, place : place + 1], groups)

    def _add(self, adders: AddersOfSystems, sums: ExactIntegers, groups: Integers) -> None:
        units = sums[:, :, 1:].astype(np.int64, copy=False).transpose(1, 0, 2)
        has_segments = units[0, :, SEGMENTS] > 0
        whole, parts = has_segments & (groups == 0), has_segments & (groups > 0)
        adders.corpus.add(np.ascontiguousarray(units[:, whole]))
        if parts.any():
            of_slices = np.ascontiguousarray(units[:, parts])
            adders.slices.add(of_slices, groups[parts] - 1, len(self._slices))

    def totals(self) -> MetricTotals | None:
        parts = []
        for adders in self._by_systems.values():
            common, *own = (adder.totals([*self._slices]) for adder in adders)
            corpus = _with_rest(common.corpus, [totals.corpus for totals in own])
            slices = None
            if common.slices is not None:
                of_slices = [totals.slices for totals in own if totals.slices is not None]
                slices = _with_rest(common.slices, of_slices)
            parts.append(MetricTotals(corpus, slices))
        return functools.reduce(operator.add, parts) if parts else None


def _with_rest(common: GroupTotals, own: Sequence[GroupTotals]) -> GroupTotals:
    rest = np.concatenate([of_system.common for of_system in own], axis=1) - common.common
    return dataclasses.replace(common, rest=exact(rest) if rest.any() else None)
