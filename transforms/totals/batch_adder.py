"""Adds up batches of segments for each metric: in the whole corpus, in slices, in replicates."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import LENGTH, NO_SLICES, SliceKey, Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers, Sums
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.totals.group_totals import (
    GroupKey,
    GroupTotals,
    MetricTotals,
    all_pairs,
    pairs_with,
    require_bounded,
)
from beam_bleu.transforms.totals.replicates import ReplicateAdder
from beam_bleu.transforms.totals.unit_adder import UnitAdder

_Values = tuple[str | int | None, ...]


class SliceNumbering:
    """Numbers slices from 0, in the order in which they first occur. With a label `documents`, item
    0 is the documents, and item i + 1 is item i of the slicing within each document; the first
    value of a key is the document.
    """

    def __init__(
        self, slicing: Slicing, labels: Sequence[str], documents: str | None = None
    ) -> None:
        self._items = slicing.items
        self._most: int | None = slicing.most
        if documents is not None:
            self._items = ((documents,), *((documents, *item) for item in slicing.items))
            self._most = None
        self._names = dict.fromkeys(itertools.chain.from_iterable(self._items))
        self._places = {name: labels.index(name) for name in self._names if name != LENGTH}
        self._edges = np.array(slicing.length_edges, np.int64)
        self._numbers: list[dict[_Values, int]] = [{} for _ in self._items]
        self.keys: list[SliceKey] = []

    def rows_of(self, statistics: BatchStatistics, place: int) -> Integers:
        """The place in `keys` of each segment's slice of each item, int64 (items, segments)."""
        columns = {name: self._column(name, statistics, place) for name in self._names}
        rows = np.stack(
            [
                self._rows_of_item(item, [columns[name] for name in names])
                for item, names in enumerate(self._items)
            ]
        )
        if self._most is not None:
            require_bounded(self.keys, self._most)
        return rows

    def _column(
        self, name: str, statistics: BatchStatistics, place: int
    ) -> tuple[Integers, list[Any]]:
        if name == LENGTH:
            # The average, so that it does not depend on the order of the references.
            lengths = np.searchsorted(self._edges, statistics.lengths[place], side="right")
            ranges = pa.array(lengths)
            encoded = ranges.dictionary_encode()
            values = encoded.dictionary
        else:
            column = statistics.labels[self._places[name]]
            encoded = column.indices.dictionary_encode(null_encoding="encode")
            values = column.dictionary.take(encoded.dictionary)
        return encoded.indices.to_numpy().astype(np.int64), values.to_pylist()

    def _rows_of_item(self, item: int, columns: Sequence[tuple[Integers, list[Any]]]) -> Integers:
        places, first = columns[0]
        values: list[_Values] = [(value,) for value in first]
        for of_column, others in columns[1:]:
            pairs = pa.array(places << 32 | of_column).dictionary_encode()
            places = pairs.indices.to_numpy().astype(np.int64)
            values = [
                (*values[pair >> 32], others[pair & 0xFFFFFFFF])
                for pair in pairs.dictionary.to_pylist()
            ]
        known, keys = self._numbers[item], self.keys
        rows = np.empty(len(values), np.int64)
        for place, value in enumerate(values):
            rows[place] = number = known.setdefault(value, len(keys))
            if number == len(keys):
                keys.append(SliceKey(item, value))
        of_segments: Integers = rows[places]
        return of_segments


_MOST_SETS = 8  # how many sets of systems are added up side by side, each in arrays of its own


@dataclasses.dataclass(frozen=True)
class Adding:
    """What workers add up for a metric, with one way to make tokens.

    Attributes:
      place: the metric's place in `BatchStatistics.counts`.
      labels: the names of the columns of `BatchStatistics.labels`.
      with_all_pairs: whether the whole corpus has all pairs of systems. Slices have only the pairs
        with the baseline, which is by default the first system.
      documents: the label of documents, if these are the units. Batches then add only facts,
        because the parts of a document must be brought together first.
    """

    basis: Basis
    place: int = 0
    slicing: Slicing = NO_SLICES
    labels: tuple[str, ...] = ()
    with_products: bool = False
    baseline: str | None = None
    with_all_pairs: bool = False
    documents: str | None = None
    resampling: Resampling | None = None


class AddersOfSystems:
    """Adds up units that have the same systems: in the corpus, and in slices with fewer pairs."""

    def __init__(self, systems: Sequence[str], adding: Adding) -> None:
        slice_pairs = pairs_with(adding.baseline or systems[0], sorted(systems))
        pairs = all_pairs(len(systems)) if adding.with_all_pairs else slice_pairs
        self.corpus, self.slices = (
            UnitAdder(systems, adding.basis, chosen, with_products=adding.with_products)
            for chosen in (pairs, slice_pairs)
        )
        self._slicing = adding.slicing

    def totals(self, slices: Sequence[GroupKey]) -> MetricTotals:
        slicing = self._slicing
        of_slices = self.slices.totals(slices, slicing.most) if slicing else None
        return MetricTotals(self.corpus.totals(), of_slices)


class BatchAdder:
    """Adds up batches for one metric, whichever systems each of them has. Mutable."""

    def __init__(self, adding: Adding) -> None:
        self._adding = adding
        slicing = adding.slicing
        self._numbering = SliceNumbering(slicing, adding.labels) if slicing else None
        self._sets: dict[tuple[str, ...], AddersOfSystems] = {}
        self._replicates: ReplicateAdder | None = None
        if adding.resampling is not None:
            self._replicates = ReplicateAdder(
                adding.resampling, adding.labels, adding.basis, adding.documents
            )
        self._added = MetricTotals(
            GroupTotals.zero(adding.basis.width, with_products=adding.with_products)
        )

    def add(self, statistics: BatchStatistics) -> None:
        if not len(statistics):
            return
        systems = statistics.systems
        if systems not in self._sets and len(self._sets) == _MOST_SETS:
            self._added = self._totals()
            self._sets.clear()
        if systems not in self._sets:
            self._sets[systems] = AddersOfSystems(systems, self._adding)
        adders = self._sets[systems]
        place, has_units = self._adding.place, self._adding.documents is None
        counts = statistics.counts[place]
        if has_units:
            adders.corpus.add(counts)
        adders.corpus.add_facts(statistics)
        if self._numbering is not None:
            groups = self._numbering.rows_of(statistics, place)
            number = len(self._numbering.keys)
            if has_units:
                for of_item in groups:
                    adders.slices.add(counts, of_item, number)
            adders.slices.add_facts(statistics, groups, number)
        if self._replicates is not None:
            self._replicates.add(statistics, place)

    def _totals(self) -> MetricTotals:
        keys = () if self._numbering is None else self._numbering.keys
        parts = (adders.totals(keys) for adders in self._sets.values())
        return functools.reduce(operator.add, parts, self._added)

    def totals(self) -> MetricTotals:
        totals = self._totals()
        if self._replicates is None or not totals.corpus.systems:
            return totals
        return dataclasses.replace(totals, replicates=self._replicates.sums())


Additions = Mapping[str, Adding]  # what is added up, by the name of its totals
PICKED = "examples"  # the name of the picked segments among the sums


class MetricsAdder:
    def __init__(self, additions: Additions) -> None:
        self._adders = {name: BatchAdder(adding) for name, adding in additions.items()}
        self._picked: Sums | None = None

    def add(self, statistics: BatchStatistics) -> None:
        for adder in self._adders.values():
            adder.add(statistics)
        picked = statistics.picked
        if picked is not None:
            self._picked = picked if self._picked is None else self._picked + picked

    def sums(self) -> dict[str, Sums]:
        sums: dict[str, Sums] = {name: adder.totals() for name, adder in self._adders.items()}
        return sums if self._picked is None else {**sums, PICKED: self._picked}


@dataclasses.dataclass(frozen=True)
class SeveralTotals(Sums):
    """Totals of several metrics in one value, so that no trigger fires for one alone."""

    metrics: tuple[GroupTotals, ...]

    def __add__(self, other: SeveralTotals) -> SeveralTotals:
        return SeveralTotals(tuple(map(operator.add, self.metrics, other.metrics)))


def totals_of_rows(
    statistics: BatchStatistics,
    bases: Sequence[Basis],
    rows: slice = slice(None),
    pairs: Sequence[tuple[str, str]] = (),
    *,
    with_products: bool = False,
) -> SeveralTotals:
    """The totals of some segments of a batch, with each segment as a unit."""
    place_of = {system: place for place, system in enumerate(sorted(statistics.systems))}
    places = (sorted((place_of[one], place_of[other])) for one, other in pairs)
    ordered = tuple(sorted((low, high) for low, high in places))
    totals = []
    for basis, counts in zip(bases, statistics.counts, strict=True):
        adder = UnitAdder(statistics.systems, basis, ordered, with_products=with_products)
        adder.add(counts, rows=rows)
        adder.add_facts(statistics, rows=rows)
        totals.append(adder.totals())
    return SeveralTotals(tuple(totals))
