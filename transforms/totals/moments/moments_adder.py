"""Adds up the moments of batches whose units are segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.totals.moments.exact import ExactIntegers, joined
from beam_bleu.transforms.totals.moments.group_sums import GroupSums
from beam_bleu.transforms.totals.moments.moments import (
    GroupKey,
    Moments,
    all_pairs,
    pairs_with,
    sorted_keys,
)
from beam_bleu.transforms.totals.moments.products import by_column
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

_MOST_SETS = 8
"""The sets of systems that are added up side by side. Each one has its own arrays."""


class MomentsAdder:
    """Adds up the moments of batches of segments. Mutable.

    Args:
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
    """

    def __init__(
        self,
        slicing: Slicing,
        labels: Sequence[str],
        basis: Basis,
        baseline: str | None = None,
        *,
        with_all_pairs: bool = False,
    ) -> None:
        self._numbering = SliceNumbering(slicing, labels) if slicing else None
        self._most = slicing.most
        self._basis = basis
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs
        self._sets: dict[tuple[str, ...], SystemSet] = {}
        self._added = Moments.zero(basis.width)

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch.

        Raises:
          InputError: there are too many slices.
        """
        if not len(statistics):
            return
        to = self._set_of(statistics.systems)
        to.add(statistics)
        if self._numbering is not None:
            columns = by_column(statistics.counts)
            for slices in self._numbering.rows_of(statistics):
                to.add_to_slices(columns, slices, len(self._numbering.keys))

    def _set_of(self, systems: tuple[str, ...]) -> SystemSet:
        found = self._sets.get(systems)
        if found is None:
            if len(self._sets) == _MOST_SETS:
                self._added = self.moments()
                self._sets.clear()
            found = SystemSet(
                systems,
                self._basis,
                self._baseline or systems[0],
                with_all_pairs=self._with_all_pairs,
            )
            self._sets[systems] = found
        return found

    def by_system(self) -> dict[str, Moments]:
        """The moments of all batches, as those of all systems."""
        return {ALL_SYSTEMS: dataclasses.replace(self.moments(), most=self._most)}

    def moments(self) -> Moments:
        """The moments of all batches."""
        keys: Sequence[SliceKey] = () if self._numbering is None else self._numbering.keys
        parts = [each.moments(keys) for each in self._sets.values()]
        if not parts:
            return self._added
        if not self._added.systems:
            total, *parts = parts
        else:
            total = self._added
        for part in parts:
            total += part
        return total


def compile_moments() -> None:
    """Compiles the code that adds up moments, or loads it, unless this process has done so."""
    one = np.ones(1, np.int64)
    signs = BatchSigns.none(systems=1, reference_count=1, segments=1)
    basis = Basis(("segments",), shared=(SEGMENTS,))
    counts = np.ones((1, 1, basis.width), np.int64)
    statistics = BatchStatistics(counts, one, one[None], one, signs, ("",))
    system = SystemSet(statistics.systems, basis, "", with_all_pairs=False)
    system.add(statistics)
    system.add_to_slices(by_column(statistics.counts), np.zeros(1, np.int64), 1)


class SystemSet:
    """Adds up units that all systems of a set have. Mutable.

    Args:
      systems: the names of the systems, in any order.
      basis: the columns of the metric.
      baseline: the other systems are compared with this one. If it is none of the systems, there
        are no such pairs.
      with_all_pairs: whether the whole corpus has all pairs of systems. Their number grows with
        the square of that of systems.
    """

    def __init__(
        self, systems: Sequence[str], basis: Basis, baseline: str, *, with_all_pairs: bool
    ) -> None:
        self._basis = basis
        self._systems = tuple(sorted(systems))
        # The place of each system of the result in the columns that are added.
        self._order = np.array([systems.index(system) for system in self._systems], np.int64)
        self._slice_pairs = pairs_with(baseline, self._systems)
        self._pairs = all_pairs(len(systems)) if with_all_pairs else self._slice_pairs
        self._corpus = GroupSums(len(systems), basis, self._pairs, self._order)
        self._slices = GroupSums(len(systems), basis, self._slice_pairs)

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch to the whole corpus.

        The systems are in the order in which their names were given.
        """
        self._corpus.add_rows(statistics.counts)

    def add_to_slices(self, columns: Integers, slices: Integers, number: int) -> None:
        """Adds units to slices.

        Args:
          columns: int64 (systems, W, units), the integers of the units. The systems are in the
            order in which their names were given.
          slices: int64 (units,), the number of each unit's slice.
          number: the number of slices. In a later call it may be larger.
        """
        if (np.diff(self._order) < 0).any():
            columns = columns[self._order]
        self._slices.add(columns, slices, number)

    def moments(self, keys: Sequence[SliceKey] = ()) -> Moments:
        """The moments of what was added; `keys` has the slice of each number."""
        corpus, slices = self._corpus.sums(1), self._slices.sums(len(keys))
        # Other sets of systems may have other slices.
        found = np.flatnonzero(slices[0])
        names: list[GroupKey] = [keys[each] for each in found.tolist()]
        groups = sorted_keys([None, *names])
        place = {key: number for number, key in enumerate(names)}
        order = found[[place[key] for key in groups[1:]]]

        def of_groups(number: int) -> ExactIntegers:
            return joined(corpus[number], slices[number][order])

        units = np.append(corpus[0], slices[0][order])
        sums, products = of_groups(1), of_groups(2)
        has_units = bool(corpus[0][0])
        return Moments(
            self._basis.width,
            self._systems,
            groups,
            self._pairs if has_units else (),
            self._slice_pairs if has_units else (),
            np.repeat(units[:, np.newaxis], len(self._systems), axis=1),
            sums,
            products,
            units,
            sums,
            products,
            corpus[3][0] if has_units else corpus[3][0, :0],
            slices[3][order] if has_units else slices[3][order, :0],
        )
