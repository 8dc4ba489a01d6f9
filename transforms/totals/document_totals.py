"""Puts documents together from their parts, and adds up the totals of whole documents."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable, Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import Integers, exact
from beam_bleu.transforms.totals.batch_adder import AddersOfSystems, Adding
from beam_bleu.transforms.totals.document_sums import DocumentSums, put_together
from beam_bleu.transforms.totals.group_totals import (
    GroupKey,
    GroupTotals,
    MetricTotals,
    require_bounded,
)


class DocumentTotals:
    """Adds up the totals of documents. Mutable.

    A document in which some systems lack segments is a unit of each system that has any of them,
    with the segments that the system has. And it is a common unit, with the segments that all
    systems have. Which segments these are is known when all documents are added up, because the
    totals of parts say which systems they know (`GroupTotals`).

    Args:
      adding: what is added up.
    """

    def __init__(self, adding: Adding) -> None:
        self._adding = adding
        self._slices: dict[SliceKey, int] = {}
        self._by_systems: dict[tuple[str, ...], _DocumentsOfSystems] = {}

    def add(self, parts: Iterable[DocumentSums]) -> None:
        """Adds documents.

        Args:
          parts: all parts of some documents; one or more.

        Raises:
          InputError: there are too many slices.
        """
        documents = put_together(list(parts))
        systems = documents.totals.systems
        if systems not in self._by_systems:
            baseline = self._adding.baseline or documents.systems[0]
            adding = dataclasses.replace(self._adding, baseline=baseline)
            self._by_systems[systems] = _DocumentsOfSystems(systems, adding)
        groups = np.array([self._number(key) for key in documents.groups], np.int64)
        require_bounded([*self._slices], self._adding.slicing.most)
        numbers = groups[documents.group_of]
        self._by_systems[systems].add(documents.totals, numbers, len(self._slices))

    def _number(self, key: GroupKey) -> int:
        """0 for the whole corpus, otherwise the number of a slice from 1."""
        return 0 if key is None else self._slices.setdefault(key, len(self._slices)) + 1

    def totals(self) -> MetricTotals | None:
        """The totals of all documents; None if there are none."""
        slices = list(self._slices)
        parts = [documents.totals(slices) for documents in self._by_systems.values()]
        return functools.reduce(operator.add, parts) if parts else None


class _DocumentsOfSystems:
    """The totals of documents of the same systems. Mutable.

    Args:
      systems: the names of the systems, sorted.
      adding: what is added up. It has a baseline.
    """

    def __init__(self, systems: tuple[str, ...], adding: Adding) -> None:
        self._systems = systems
        self._adding = adding
        self._complete = AddersOfSystems(systems, adding)
        # Of the other documents: the common segments, and the segments that each system has.
        self._common: AddersOfSystems | None = None
        self._own: list[AddersOfSystems] = []

    def add(self, documents: GroupTotals, groups: Integers, slices: int) -> None:
        """Adds documents.

        Args:
          documents: the sums of each row.
          groups: int64 (rows,), 0 for the whole corpus, or the number of a slice, from 1.
          slices: the number of slices.
        """
        common = documents.common[:, :, 1:].astype(np.int64, copy=False)
        if documents.rest is None:
            _add(self._complete, common, groups, slices)
            return
        complete = ~documents.rest.any(axis=(1, 2))
        _add(self._complete, common[complete], groups[complete], slices)
        if self._common is None:
            self._common = AddersOfSystems(self._systems, self._adding)
            self._own = [AddersOfSystems([system], self._adding) for system in self._systems]
        common, groups = common[~complete], groups[~complete]
        own = common + documents.rest[~complete, :, 1:]
        has_common = common[:, 0, SEGMENTS] > 0
        _add(self._common, common[has_common], groups[has_common], slices)
        for system, adders in enumerate(self._own):
            has = own[:, system, SEGMENTS] > 0
            _add(adders, own[has, system : system + 1], groups[has], slices)

    def totals(self, slices: Sequence[SliceKey]) -> MetricTotals:
        """The totals of all documents.

        Args:
          slices: the slices by their numbers.
        """
        complete = self._complete.totals(slices)
        if self._common is None:
            return complete
        # In one group a document can be complete, and in another one it is not. So these are added
        # here: they are not the totals of two parts of the corpus.
        common = self._common.totals(slices)
        own = [adders.totals(slices) for adders in self._own]
        corpus = _with_rest(common.corpus, [totals.corpus for totals in own])
        if complete.slices is None or common.slices is None:
            return MetricTotals(complete.corpus + corpus)
        of_slices = [totals.slices for totals in own if totals.slices is not None]
        return MetricTotals(
            complete.corpus + corpus, complete.slices + _with_rest(common.slices, of_slices)
        )


def _with_rest(common: GroupTotals, own: Sequence[GroupTotals]) -> GroupTotals:
    """The totals of common units, with what the units of each single system add to them."""
    units = np.concatenate([of_system.common for of_system in own], axis=1)
    return dataclasses.replace(common, rest=exact(units - common.common))


def _add(adders: AddersOfSystems, sums: Integers, groups: Integers, slices: int) -> None:
    """Adds units to the whole corpus and to slices.

    Args:
      adders: add them up.
      sums: int64 (rows, systems, W).
      groups: as in `_DocumentsOfSystems.add`, and so is the next one.
      slices: the number of slices.
    """
    of_whole, of_slices = groups == 0, groups > 0
    if of_whole.any():
        adders.corpus.add(_by_system(sums[of_whole]))
    if of_slices.any():
        adders.slices.add(_by_system(sums[of_slices]), groups[of_slices] - 1, slices)


def _by_system(sums: Integers) -> Integers:
    """Sums (rows, systems, W) as (systems, rows, W)."""
    return np.ascontiguousarray(sums.transpose(1, 0, 2))
