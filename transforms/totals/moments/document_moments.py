"""Puts documents together from their parts, and adds up the products of whole documents."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.totals.moments.document_sums import DocumentSums, has_segments
from beam_bleu.transforms.totals.moments.moments import GroupKey, Moments
from beam_bleu.transforms.totals.moments.unit_adder import UnitAdder, groups_of


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
        self._slices: dict[SliceKey, int] = {}
        self._by_systems: dict[tuple[str, ...], _DocumentsOfSystems] = {}

    def add(self, parts: Iterable[DocumentSums]) -> None:
        """Adds documents.

        Args:
          parts: all parts of some documents.
        """
        parts = list(parts)
        if not parts:
            return
        ordered = _in_order({part.systems for part in parts})
        systems = tuple(sorted(ordered))
        if systems not in self._by_systems:
            new_adder = functools.partial(
                UnitAdder,
                basis=self._basis,
                baseline=self._baseline or ordered[0],
                with_all_pairs=self._with_all_pairs,
            )
            self._by_systems[systems] = _DocumentsOfSystems(systems, new_adder)
        documents = _put_together(parts, systems, self._basis.width)
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
        keys, slices = groups_of(list(self._slices))
        total: Moments | None = None
        for documents in self._by_systems.values():
            of_systems = documents.moments(keys, slices)
            total = of_systems if total is None else total + of_systems
        if total is None:
            return None
        if len(self._slices) > self._most:
            total = total.without_slices()
        return dataclasses.replace(total, most=self._most)


_NO_GROUP = -1
"""The number of a slice that is left out, because there are too many slices."""


def _in_order(sets: set[tuple[str, ...]]) -> tuple[str, ...]:
    """All systems of these sets; in the order of the result, if some segments have all of them."""
    every = {system for systems in sets for system in systems}
    complete = sorted(systems for systems in sets if len(systems) == len(every))
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


def _put_together(parts: Sequence[DocumentSums], systems: Sequence[str], width: int) -> _Documents:
    """Whole documents from all of their parts, with the sums of so many columns."""
    names: dict[str, int] = {}
    keys: dict[GroupKey, int] = {}
    rows_of_parts = []
    for part in parts:
        documents = [names.setdefault(name, len(names)) for name in part.documents]
        groups = [keys.setdefault(key, len(keys)) for key in part.keys]
        rows_of_parts.append(
            np.array(documents, np.int64)[part.document_of] << 32
            | np.array(groups, np.int64)[part.group_of]
        )
    # A number for each pair of a document and a group.
    pairs, rows = np.unique(np.concatenate(rows_of_parts), return_inverse=True)
    own = np.zeros((len(pairs), len(systems), width), np.int64)
    same = all(len(part.systems) == len(systems) for part in parts)
    common = own if same else np.zeros_like(own)
    is_complete = np.ones(len(pairs), np.bool_)
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
    return _Documents(tuple(keys), pairs & 0xFFFFFFFF, own, common, is_complete)


class _DocumentsOfSystems:
    """The sums of products of documents of the same systems. Mutable.

    Args:
      systems: the names of the systems, sorted.
      new_adder: makes a `UnitAdder` for some of these systems.
    """

    def __init__(
        self, systems: tuple[str, ...], new_adder: Callable[[Sequence[str]], UnitAdder]
    ) -> None:
        self._systems = systems
        self._new_adder = new_adder
        self._complete = new_adder(systems)
        # Of the other documents: the common segments, and the segments that each system has.
        self._common: UnitAdder | None = None
        self._own: list[UnitAdder] = []

    def add(self, documents: _Documents, groups: Integers, slices: int) -> None:
        """Adds documents.

        Args:
          documents: the documents.
          groups: int64 (rows,), 0 for the whole corpus, or the number of a slice, from 1.
          slices: the number of slices.
        """
        complete, common = documents.is_complete, documents.common
        _add(self._complete, documents.own[complete], groups[complete], slices)
        if complete.all():
            return
        if self._common is None:
            self._common = self._new_adder(self._systems)
            self._own = [self._new_adder([system]) for system in self._systems]
        rows = np.flatnonzero(~complete)
        has_common = rows[has_segments(common[rows]).all(axis=1)]
        _add(self._common, common[has_common], groups[has_common], slices)
        for system, adder in enumerate(self._own):
            of_system = documents.own[rows, system : system + 1]
            has = has_segments(of_system)[:, 0]
            _add(adder, of_system[has], groups[rows[has]], slices)

    def moments(self, keys: tuple[GroupKey, ...], slices: Integers) -> Moments:
        """The moments of all documents.

        Args:
          keys: the groups.
          slices: int64, the number of each slice in their order, from 0.
        """
        common = own = self._complete.sums(slices)
        if self._common is not None:
            # In one group a document can be complete, and in another one it is not. So these
            # are added here: they are not the moments of two parts of the corpus.
            own = own.with_own_units([adder.sums(slices) for adder in self._own])
            common = common + self._common.sums(slices)
        return self._complete.moments(keys, common, own)


def _add(adder: UnitAdder, sums: Integers, groups: Integers, slices: int) -> None:
    """Adds units to the whole corpus and to slices.

    Args:
      adder: adds them up.
      sums: int64 (rows, systems, W).
      groups: as in `_DocumentsOfSystems.add`, and so is the next one.
      slices: the number of slices.
    """
    of_whole, of_slices = groups == 0, groups > 0
    if of_whole.any():
        adder.add(_by_system(sums[of_whole]))
    if of_slices.any():
        adder.add_to_slices(_by_system(sums[of_slices]), groups[of_slices] - 1, slices)


def _by_system(sums: Integers) -> Integers:
    """Sums (rows, systems, W) as (systems, rows, W)."""
    return np.ascontiguousarray(sums.transpose(1, 0, 2))
