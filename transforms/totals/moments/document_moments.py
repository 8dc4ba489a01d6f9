"""Puts documents together from their parts, and adds up the products of whole documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.totals.moments.document_sums import DocumentSums, has_segments
from beam_bleu.transforms.totals.moments.exact import ExactIntegers, exact, rows_added
from beam_bleu.transforms.totals.moments.group_sums import GroupSums
from beam_bleu.transforms.totals.moments.moments import (
    GroupKey,
    Moments,
    Pair,
    all_pairs,
    pairs_with,
    sorted_keys,
)


class DocumentMoments:
    """Adds up the moments of documents. Mutable.

    A document in which some systems lack segments is a unit of each system that has any of them,
    with the segments that the system has. And it is a common unit, with the segments that all
    systems have. Which segments these are is known when all documents are added up, because the
    moments of parts say which systems they know (`Moments`).

    Args:
      basis: the columns of the metric.
      most: `Slicing.most`. If there are more slices, only the whole corpus is added up.
      baseline: the system with which the others are compared; None for the first one.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
    """

    def __init__(
        self,
        basis: Basis,
        most: int,
        baseline: str | None,
        *,
        with_all_pairs: bool = False,
    ) -> None:
        self._basis = basis
        self._most = most
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs
        self._slices: dict[GroupKey, int] = {}
        self._by_systems: dict[tuple[str, ...], _Sums] = {}

    def add(self, parts: Iterable[DocumentSums]) -> None:
        """Adds documents.

        Args:
          parts: all parts of some documents.
        """
        given = list(parts)
        if not given:
            return
        ordered = _in_order({each.systems for each in given})
        systems = tuple(sorted(ordered))
        if systems not in self._by_systems:
            with_baseline = pairs_with(self._baseline or ordered[0], systems)
            pairs = all_pairs(len(systems)) if self._with_all_pairs else with_baseline
            self._by_systems[systems] = _Sums(systems, self._basis, pairs, with_baseline)
        documents = _put_together(given, systems, self._basis.width)
        groups = np.array([self._number(key) for key in documents.keys], np.int64)
        if len(self._slices) > self._most:
            groups = np.where(groups, _NO_GROUP, groups)
        self._by_systems[systems].add(documents, groups[documents.group_of], len(self._slices))

    def _number(self, key: GroupKey) -> int:
        """0 for the whole corpus, otherwise the number of a slice from 1."""
        if key is None:
            return 0
        if len(self._slices) > self._most:
            return _NO_GROUP
        return self._slices.setdefault(key, len(self._slices)) + 1

    def moments(self) -> Moments | None:
        """The moments of all documents; None if there are none."""
        total: Moments | None = None
        for sums in self._by_systems.values():
            found = sums.moments(list(self._slices))
            total = found if total is None else total + found
        if total is None:
            return None
        if len(self._slices) > self._most:
            total = total.without_slices()
        return dataclasses.replace(total, most=self._most)


_NO_GROUP = -1
"""The number of a slice that is left out, because there are too many slices."""


def _in_order(found: set[tuple[str, ...]]) -> tuple[str, ...]:
    """All systems; in the order of the result, if some segments have all of them."""
    every = {system for systems in found for system in systems}
    complete = sorted(systems for systems in found if len(systems) == len(every))
    # Otherwise the order has no effect: no segment is common to all systems.
    return complete[0] if complete else tuple(sorted(every))


@dataclasses.dataclass(frozen=True)
class _Documents:
    """Whole documents. A row has the sums of a document in a group.

    Attributes:
      keys: the groups.
      group_of: int64 (rows,), the place of each row's group.
      own: int64 (rows, systems, W), the sums over the segments that each system has.
      common: the same over the segments that all of these systems have.
      is_complete: bool (rows,), whether all systems have the same segments.
    """

    keys: tuple[GroupKey, ...]
    group_of: Integers
    own: Integers
    common: Integers
    is_complete: NDArray[np.bool_]


def _put_together(
    parts: Sequence[DocumentSums], systems: Sequence[str], of_unit: int
) -> _Documents:
    names: dict[str, int] = {}
    keys: dict[GroupKey, int] = {}
    pairs = []
    for part in parts:
        documents = [names.setdefault(name, len(names)) for name in part.documents]
        groups = [keys.setdefault(key, len(keys)) for key in part.keys]
        pairs.append(
            np.array(documents, np.int64)[part.document_of] << 32
            | np.array(groups, np.int64)[part.group_of]
        )
    found, rows = np.unique(np.concatenate(pairs), return_inverse=True)
    own = np.zeros((len(found), len(systems), of_unit), np.int64)
    same = all(len(part.systems) == len(systems) for part in parts)
    common = own if same else np.zeros_like(own)
    is_complete = np.ones(len(found), np.bool_)
    begin = 0
    for part in parts:
        of_part = rows[begin : begin + len(part.document_of)]
        begin += len(of_part)
        places = np.array([systems.index(system) for system in part.systems], np.int64)
        sums = part.sums
        # A part has each row once.
        own[of_part[:, np.newaxis], places] += sums
        if len(places) < len(systems):
            is_complete[of_part] = False
        elif not same:
            common[of_part[:, np.newaxis], places] += sums
    return _Documents(tuple(keys), found & 0xFFFFFFFF, own, common, is_complete)


class _Sums:
    """The sums of products of documents of the same systems. Mutable.

    Args:
      systems: the names of the systems, sorted.
      basis: the columns of the metric.
      pairs: the pairs of the whole corpus.
      slice_pairs: the pairs of slices.
    """

    def __init__(
        self,
        systems: tuple[str, ...],
        basis: Basis,
        pairs: tuple[Pair, ...],
        slice_pairs: tuple[Pair, ...],
    ) -> None:
        self._systems = systems
        self._basis = basis
        self._pairs = pairs
        self._slice_pairs = slice_pairs
        self._complete = self._of_all()
        # Of the other documents: the common segments, and the segments that each system has.
        self._common: _Corpus | None = None
        self._own: list[_Corpus] = []

    def _of_all(self) -> _Corpus:
        return _Corpus(len(self._systems), self._basis, self._pairs, self._slice_pairs)

    def add(self, documents: _Documents, groups: Integers, slices: int) -> None:
        """Adds documents.

        Args:
          documents: the documents.
          groups: int64 (rows,), 0 for the whole corpus, or the number of a slice, from 1.
          slices: the number of slices.
        """
        complete, common = documents.is_complete, documents.common
        self._complete.add(documents.own[complete], groups[complete], slices)
        if complete.all():
            return
        if self._common is None:
            self._common = self._of_all()
            self._own = [_Corpus(1, self._basis, (), ()) for _ in self._systems]
        rows = np.flatnonzero(~complete)
        has_common = rows[has_segments(common[rows]).all(axis=1)]
        self._common.add(common[has_common], groups[has_common], slices)
        for system, sums in enumerate(self._own):
            of_system = documents.own[rows, system : system + 1]
            has = has_segments(of_system)[:, 0]
            sums.add(of_system[has], groups[rows[has]], slices)

    def moments(self, slices: Sequence[GroupKey]) -> Moments:
        """The moments of all documents.

        Args:
          slices: the slices, by their numbers.
        """
        keys = sorted_keys([None, *slices])
        number_of: dict[GroupKey, int] = {None: 0}
        number_of |= {key: number for number, key in enumerate(slices, 1)}
        order = np.array([number_of[key] for key in keys], np.int64)
        common = self._complete.sums(order)
        own = common
        if self._common is not None:
            # In one group a document can be complete, and in another one it is not. So these
            # are added here: they are not the moments of two parts of the corpus.
            own = own.added(_side_by_side([each.sums(order) for each in self._own]))
            common = common.added(self._common.sums(order))
        return Moments(
            self._basis.width,
            self._systems,
            keys,
            self._pairs,
            self._slice_pairs,
            own.units,
            own.sums,
            own.products,
            common.units[:, 0],
            common.sums,
            common.products,
            common.crosses,
            common.slice_crosses,
        )


@dataclasses.dataclass(frozen=True)
class _Found:
    """The sums of a `_Corpus` for all groups.

    Attributes:
      units: int64 (groups, systems).
      sums: as in `Moments`, and so are the others.
    """

    units: Integers
    sums: ExactIntegers
    products: ExactIntegers
    crosses: ExactIntegers
    slice_crosses: ExactIntegers

    def added(self, other: _Found) -> _Found:
        """The sums of both. Those without pairs add nothing to the products of pairs."""

        def total(name: str) -> ExactIntegers:
            values = [getattr(each, name) for each in (self, other)]
            kept = [(slice(None), each) for each in values if each.shape == values[0].shape]
            return rows_added(values[0].shape, kept)

        units = self.units + other.units
        return _Found(units, *map(total, ("sums", "products", "crosses", "slice_crosses")))


def _side_by_side(systems: Sequence[_Found]) -> _Found:
    """The sums of all systems, without pairs."""

    def together(name: str) -> ExactIntegers:
        return exact(np.concatenate([getattr(each, name) for each in systems], axis=1))

    no_pairs = np.zeros(0, np.int64)
    units = np.concatenate([each.units for each in systems], axis=1)
    return _Found(units, together("sums"), together("products"), no_pairs, no_pairs)


class _Corpus:
    """Sums of units of the same systems: in the whole corpus, and in its slices. Mutable."""

    def __init__(
        self,
        systems: int,
        basis: Basis,
        pairs: tuple[Pair, ...],
        slice_pairs: tuple[Pair, ...],
    ) -> None:
        self._whole = GroupSums(systems, basis, pairs)
        self._slices = GroupSums(systems, basis, slice_pairs)

    def add(self, sums: Integers, groups: Integers, slices: int) -> None:
        """Adds units.

        Args:
          sums: int64 (rows, systems, W).
          groups: as in `_Sums.add`, and so is the next one.
          slices: the number of slices.
        """
        of_whole, of_slices = groups == 0, groups > 0
        if of_whole.any():
            self._whole.add(_by_column(sums[of_whole]))
        if of_slices.any():
            self._slices.add(_by_column(sums[of_slices]), groups[of_slices] - 1, slices)

    def sums(self, order: Integers) -> _Found:
        """The sums of all groups in this order, which begins with the whole corpus, 0."""
        of_whole = self._whole.sums(1)
        of_slices = self._slices.sums(len(order) - 1)
        slices = order[1:] - 1
        units, sums, products = (
            np.concatenate([whole, each[slices]])
            for whole, each in zip(of_whole[:3], of_slices[:3], strict=True)
        )
        of_systems = np.repeat(units[:, np.newaxis], sums.shape[1], axis=1)
        return _Found(of_systems, sums, products, of_whole[3][0], of_slices[3][slices])


def _by_column(sums: Integers) -> Integers:
    """Sums (rows, systems, W) as (systems, W, rows)."""
    return np.ascontiguousarray(sums.transpose(1, 2, 0))
