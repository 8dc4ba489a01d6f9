"""Adds up units: in the whole corpus, and in its slices.

A `UnitAdder` adds up segments or documents that have the same systems. A `MomentsAdder` adds up
batches of segments, whose systems can differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import ExactIntegers, Integers, rows_added
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.group_sums import GroupSums
from beam_bleu.transforms.totals.moments.moments import (
    GroupKey,
    Moments,
    all_pairs,
    pairs_with,
    sorted_keys,
)
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS


@dataclasses.dataclass(frozen=True)
class AddedUnits:
    """The sums of a `UnitAdder`, for the whole corpus and then for its slices.

    Attributes:
      units: int64 (groups, systems), the numbers of units.
      sums: (groups, systems, W), the sums of their columns.
      products: (groups, systems, W (W + 1) / 2), packed as in `UnitSums`.
      cross_products: (pairs, W, W), as in `Moments`; and so is the next one.
      slice_cross_products: (slices, slice pairs, W, W).
    """

    units: Integers
    sums: ExactIntegers
    products: ExactIntegers
    cross_products: ExactIntegers
    slice_cross_products: ExactIntegers

    def __add__(self, other: AddedUnits) -> AddedUnits:
        """The sums of both, which have the same groups, systems and pairs."""
        return AddedUnits(
            self.units + other.units,
            _added(self.sums, other.sums),
            _added(self.products, other.products),
            _added(self.cross_products, other.cross_products),
            _added(self.slice_cross_products, other.slice_cross_products),
        )

    def with_own_units(self, systems: Sequence[AddedUnits]) -> AddedUnits:
        """These sums, and those of units that only single systems have.

        Args:
          systems: for each system the sums of such units. They have no pairs, and the products of
            pairs stay as they are.
        """

        def own(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(of_system, name) for of_system in systems], axis=1)

        return dataclasses.replace(
            self,
            units=self.units + own("units"),
            sums=_added(self.sums, own("sums")),
            products=_added(self.products, own("products")),
        )


def _added(one: ExactIntegers, other: ExactIntegers) -> ExactIntegers:
    return rows_added(one.shape, [(slice(None), one), (slice(None), other)])


class UnitAdder:
    """Adds up units that all systems of a set have. Mutable.

    Args:
      systems: the names of the systems, in any order. The sums have them sorted.
      basis: the columns of the metric.
      baseline: the other systems are compared with this one. If it is none of the systems, there
        are no such pairs.
      with_all_pairs: whether the whole corpus has all pairs of systems. Their number grows with
        the square of that of systems.
    """

    def __init__(
        self, systems: Sequence[str], basis: Basis, baseline: str, *, with_all_pairs: bool
    ) -> None:
        self._width = basis.width
        self._systems = tuple(sorted(systems))
        # The place of each system of the sums in the columns that are added.
        places = np.array([systems.index(system) for system in self._systems], np.int64)
        self._slice_pairs = pairs_with(baseline, self._systems)
        self._pairs = all_pairs(len(systems)) if with_all_pairs else self._slice_pairs
        self._corpus = GroupSums(places, basis, self._pairs)
        self._slices = GroupSums(places, basis, self._slice_pairs)

    def add(self, counts: Integers) -> None:
        """Adds units of the whole corpus.

        Args:
          counts: int64 (systems, units, W), the integers of the units. The systems are in the
            order in which their names were given.
        """
        self._corpus.add(counts)

    def add_to_slices(self, counts: Integers, slices: Integers, number: int) -> None:
        """Adds units of slices.

        Args:
          counts: as in `add`.
          slices: int64 (units,), the number of each unit's slice.
          number: the number of slices. In a later call it may be larger.
        """
        self._slices.add(counts, slices, number)

    def sums(self, slices: Integers) -> AddedUnits:
        """The sums of the whole corpus, and of slices.

        Args:
          slices: int64, the numbers of all slices, in the order of the result.
        """
        units, sums, products, crosses = self._corpus.sums(1)
        slice_units, slice_sums, slice_products, slice_crosses = self._slices.sums(len(slices))
        of_groups = np.append(units, slice_units[slices])
        return AddedUnits(
            np.repeat(of_groups[:, np.newaxis], len(self._systems), axis=1),
            np.concatenate([sums, slice_sums[slices]]),
            np.concatenate([products, slice_products[slices]]),
            crosses[0],
            slice_crosses[slices],
        )

    def moments(self, keys: tuple[GroupKey, ...], common: AddedUnits, own: AddedUnits) -> Moments:
        """The moments with these sums, which have its systems and pairs.

        Args:
          keys: the groups of the sums.
          common: the sums over the units that all systems have.
          own: the sums over the units of each system.
        """
        # Without any common unit, there is no pair.
        pairs = len(self._pairs) if common.units[0].any() else 0
        slice_pairs = len(self._slice_pairs) if pairs else 0
        return Moments(
            self._width,
            self._systems,
            keys,
            self._pairs[:pairs],
            self._slice_pairs[:slice_pairs],
            own.units,
            own.sums,
            own.products,
            common.units[:, 0],
            common.sums,
            common.products,
            common.cross_products[:pairs],
            common.slice_cross_products[:, :slice_pairs],
        )


def groups_of(slices: Sequence[SliceKey]) -> tuple[tuple[GroupKey, ...], Integers]:
    """The groups of moments, and the number of each slice in their order.

    Args:
      slices: the slices by their numbers, from 0.
    """
    keys = sorted_keys([None, *slices])
    number_of: dict[GroupKey, int] = {key: number for number, key in enumerate(slices)}
    return keys, np.array([number_of[key] for key in keys[1:]], np.int64)


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
        self._sets: dict[tuple[str, ...], UnitAdder] = {}
        self._added = Moments.zero(basis.width)

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch.

        Raises:
          InputError: there are too many slices.
        """
        if not len(statistics):
            return
        adder = self._adder_of(statistics.systems)
        adder.add(statistics.counts)
        if self._numbering is not None:
            for slices in self._numbering.rows_of(statistics):
                adder.add_to_slices(statistics.counts, slices, len(self._numbering.keys))

    def _adder_of(self, systems: tuple[str, ...]) -> UnitAdder:
        if systems not in self._sets:
            if len(self._sets) == _MOST_SETS:
                self._added = self.moments()
                self._sets.clear()
            self._sets[systems] = UnitAdder(
                systems,
                self._basis,
                self._baseline or systems[0],
                with_all_pairs=self._with_all_pairs,
            )
        return self._sets[systems]

    def by_system(self) -> dict[str, Moments]:
        """The moments of all batches, as those of all systems."""
        return {ALL_SYSTEMS: dataclasses.replace(self.moments(), most=self._most)}

    def moments(self) -> Moments:
        """The moments of all batches."""
        keys, slices = groups_of(() if self._numbering is None else self._numbering.keys)
        total = self._added
        for adder in self._sets.values():
            sums = adder.sums(slices)
            of_set = adder.moments(keys, common=sums, own=sums)
            total = total + of_set if total.systems else of_set
        return total


def compile_moments() -> None:
    """Compiles the code that adds up moments, or loads it, unless this process has done so."""
    basis = Basis(("segments",), shared=(SEGMENTS,))
    UnitAdder(("",), basis, "", with_all_pairs=False).add(np.ones((1, 1, basis.width), np.int64))
