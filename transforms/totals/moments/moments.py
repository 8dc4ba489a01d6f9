"""Moments: sums and sums of products of the integers of units, for several systems and groups."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.native.arrays import Compact, ExactIntegers, Integers, rows_added
from beam_bleu.transforms.totals.slice_sums import smaller_limit
from beam_bleu.transforms.totals.unit_sums import UnitSums, products, side_by_side
from beam_bleu.transforms.wiring.sums import Sums

GroupKey = SliceKey | None
"""A group of units: a slice, or None for the whole corpus."""

Pair = tuple[int, int]
"""The places of two systems in `Moments.systems`, the smaller place first."""


@dataclasses.dataclass(frozen=True, eq=False)
class Moments(Sums):
    """Sums and sums of products. Those of all parts of a corpus are added up, in any order.

    Common units are those that all of `systems` have. If a part of the corpus has a system that
    another part lacks, the units of the other part stop being common ones when both are added.

    Slices have the pairs with the baseline only, because there can be many slices. So has the
    whole corpus, unless all pairs are asked for. Without any common unit, there is no pair.

    Attributes:
      width: the number of columns of the metric, W.
      systems: the names of all systems, sorted.
      keys: the groups: None, then the slices, sorted.
      pairs: the pairs of the whole corpus, sorted. The first system of a pair is the one whose
        name comes first.
      slice_pairs: the pairs of all slices, in the same way.
      own_units: int64 (groups, systems), the units of each system.
      own_sums: (groups, systems, W).
      own_products: (groups, systems, W (W + 1) / 2), packed as in `UnitSums`.
      common_units: int64 (groups,), the units that all systems have.
      common_sums: (groups, systems, W), over the common units.
      common_products: (groups, systems, W (W + 1) / 2), over the common units.
      cross_products: (pairs, W, W), over the common units of the whole corpus; row i is of the
        first system's column i, column j of the second system's column j.
      slice_cross_products: (slices, slice pairs, W, W), over the common units of each slice.
      most: with more slices than this, only the whole corpus is kept; None if there is no limit.
    """

    width: int
    systems: tuple[str, ...]
    keys: tuple[GroupKey, ...]
    pairs: tuple[Pair, ...]
    slice_pairs: tuple[Pair, ...]
    own_units: Integers
    own_sums: ExactIntegers
    own_products: ExactIntegers
    common_units: Integers
    common_sums: ExactIntegers
    common_products: ExactIntegers
    cross_products: ExactIntegers
    slice_cross_products: ExactIntegers
    most: int | None = None

    @classmethod
    def zero(cls, width: int) -> Moments:
        """The moments of no unit: there is the whole corpus, without a system."""
        packed = products(width)

        def zeros(*shape: int) -> Integers:
            return np.zeros(shape, np.int64)

        return cls(
            width,
            (),
            (None,),
            (),
            (),
            zeros(1, 0),
            zeros(1, 0, width),
            zeros(1, 0, packed),
            zeros(1),
            zeros(1, 0, width),
            zeros(1, 0, packed),
            zeros(0, width, width),
            zeros(0, 0, width, width),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: most columns are 0, and most sums are short."""
        fields = [getattr(self, field.name) for field in dataclasses.fields(self)]
        packed = {id(value): Compact.of(value) for value in fields if isinstance(value, np.ndarray)}
        return _unpacked, tuple(packed.get(id(value), value) for value in fields)

    @functools.cached_property
    def _group_of(self) -> dict[GroupKey, int]:
        """The place of each group: there can be many."""
        return {key: group for group, key in enumerate(self.keys)}

    @functools.cached_property
    def _place_of(self) -> dict[str, int]:
        """The place of each system."""
        return {system: place for place, system in enumerate(self.systems)}

    @functools.cached_property
    def _number_of(self) -> dict[Pair, int]:
        """The number of each pair of the whole corpus: there can be many."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    @functools.cached_property
    def _slice_number_of(self) -> dict[Pair, int]:
        """The number of each pair of slices."""
        return {pair: number for number, pair in enumerate(self.slice_pairs)}

    @property
    def units(self) -> int:
        """The number of units of the whole corpus that all systems have."""
        return int(self.common_units[self.keys.index(None)])

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays, without those of unbounded integers."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def of_system(self, system: str, key: GroupKey = None) -> UnitSums:
        """The sums of a system over all of its own units in a group; zero if it has none."""
        group = self._group_of.get(key)
        place = self._place_of.get(system)
        if place is None or group is None:
            return UnitSums.zero(self.width)
        return self._sums(
            self.own_units[group, place], self.own_sums, self.own_products, group, place
        )

    def of_pair(self, system: str, baseline: str, key: GroupKey = None) -> UnitSums:
        """The sums of two systems, side by side, over the common units of a group.

        They are zero if it has none.

        Raises:
          ValueError: this pair of systems was not asked for.
        """
        group = self._group_of.get(key)
        known = system in self._place_of and baseline in self._place_of
        if not known or group is None or not self.common_units[group]:
            return UnitSums.zero(2 * self.width)
        places = self._place_of[system], self._place_of[baseline]
        ordered = (min(places), max(places))
        number = (self._number_of if key is None else self._slice_number_of).get(ordered)
        if number is None:
            raise ValueError(f"{system} and {baseline} are not a pair of these moments")
        cross = (
            self.cross_products[number]
            if key is None
            else self.slice_cross_products[group - 1, number]
        )
        if ordered != places:
            cross = cross.T
        of_system, of_baseline = (
            self._sums(
                self.common_units[group], self.common_sums, self.common_products, group, place
            )
            for place in places
        )
        return side_by_side(of_system, of_baseline, cross)

    def _sums(
        self, units: Any, sums: ExactIntegers, packed: ExactIntegers, group: int, place: int
    ) -> UnitSums:
        return UnitSums(
            int(units),
            sums[group, place],
            packed[group, place],
        )

    def without_slices(self) -> Moments:
        """The moments of the whole corpus only."""
        return dataclasses.replace(
            self,
            keys=(None,),
            slice_pairs=(),
            own_units=self.own_units[:1],
            own_sums=self.own_sums[:1],
            own_products=self.own_products[:1],
            common_units=self.common_units[:1],
            common_sums=self.common_sums[:1],
            common_products=self.common_products[:1],
            slice_cross_products=self.slice_cross_products[:0, :0],
        )

    def __add__(self, other: Moments) -> Moments:
        most = smaller_limit(self.most, other.most)
        if self.width != other.width:
            raise ValueError(f"moments of {self.width} and {other.width} columns cannot be added")
        systems = tuple(sorted({*self.systems, *other.systems}))
        keys = sorted_keys((*self.keys, *other.keys))
        if most is not None and len(keys) - 1 > most:
            return self.without_slices() + other.without_slices()
        parts = [(part, _Places.of(part, systems, keys)) for part in (self, other)]
        # Usually all segments have all systems, and there is nothing else to add up for pairs.
        is_common = all(
            part.systems == systems and part.common_sums is part.own_sums for part in (self, other)
        )
        # In the other parts no unit is common: they have no unit of one of the systems.
        common = [
            (part, places)
            for part, places in parts
            if part.systems == systems and part.common_units[0]
        ]
        pairs = _in_all([part.pairs for part, _ in common])
        slice_pairs = _in_all([part.slice_pairs for part, _ in common])
        groups, width, packed = len(keys), self.width, products(self.width)

        def of_own(name: str, *shape: int) -> ExactIntegers:
            return rows_added(
                (groups, len(systems), *shape),
                [(places.own, getattr(part, name)) for part, places in parts],
            )

        def of_common(name: str, *shape: int) -> ExactIntegers:
            return rows_added(
                (groups, *shape), [(places.groups, getattr(part, name)) for part, places in common]
            )

        own = of_own("own_sums", width), of_own("own_products", packed)
        return Moments(
            self.width,
            systems,
            keys,
            pairs,
            slice_pairs,
            _bounded(of_own("own_units")),
            *own,
            _bounded(of_common("common_units")),
            *(
                own
                if is_common
                else (
                    of_common("common_sums", len(systems), width),
                    of_common("common_products", len(systems), packed),
                )
            ),
            rows_added(
                (len(pairs), width, width),
                [
                    (slice(None), part.cross_products[_numbers(pairs, part.pairs)])
                    for part, _ in common
                ],
            ),
            rows_added(
                (groups - 1, len(slice_pairs), width, width),
                [
                    (
                        places.groups[1:] - 1,
                        part.slice_cross_products[:, _numbers(slice_pairs, part.slice_pairs)],
                    )
                    for part, places in common
                ],
            ),
            most,
        )


def _unpacked(*fields: Any) -> Moments:
    """The moments from their pickle. An array that is there twice stays one."""
    arrays = {id(field): field.array for field in fields if isinstance(field, Compact)}
    return Moments(*(arrays.get(id(field), field) for field in fields))


@dataclasses.dataclass(frozen=True)
class _Places:
    """Where the groups and systems of a part are in a sum.

    Attributes:
      groups: int64 (groups of the part,).
      own: an index of all groups and systems of the part.
    """

    groups: Integers
    own: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, part: Moments, systems: Sequence[str], keys: Sequence[GroupKey]) -> _Places:
        row_of = {key: row for row, key in enumerate(keys)}
        groups = np.array([row_of[key] for key in part.keys], np.int64)
        place_of = {system: place for place, system in enumerate(systems)}
        places = np.array([place_of[system] for system in part.systems], np.int64)
        return cls(groups, np.ix_(groups, places))


def all_pairs(systems: int) -> tuple[Pair, ...]:
    """All pairs of systems, sorted."""
    return tuple(itertools.combinations(range(systems), 2))


def pairs_with(baseline: str, systems: Sequence[str]) -> tuple[Pair, ...]:
    """The pairs of a baseline and each other system, sorted; none if it is not a system."""
    if baseline not in systems:
        return ()
    place = systems.index(baseline)
    others = (number for number in range(len(systems)) if number != place)
    return tuple((min(place, number), max(place, number)) for number in others)


def sorted_keys(keys: Iterable[GroupKey]) -> tuple[GroupKey, ...]:
    """The different groups in an order that depends on nothing else than the groups."""
    return tuple(sorted(set(keys), key=_sorted_by))


def _sorted_by(key: GroupKey) -> tuple[Any, ...]:
    if key is None:
        return (-1,)
    # The values of a label are texts or None; those of `LENGTH` are numbers.
    return key.item, [(value is None, 0 if value is None else value) for value in key.values]


def _in_all(lists: Sequence[tuple[Pair, ...]]) -> tuple[Pair, ...]:
    """The pairs that all lists have, sorted."""
    return tuple(sorted(set.intersection(*map(set, lists)))) if lists else ()


def _numbers(pairs: Sequence[Pair], of: Sequence[Pair]) -> Integers:
    """Where pairs are in a list that has all of them."""
    number_of = {pair: number for number, pair in enumerate(of)}
    return np.array([number_of[pair] for pair in pairs], np.int64)


def _bounded(units: ExactIntegers) -> Integers:
    """Numbers of units, which fit in an int64."""
    return units.astype(np.int64, copy=False)
