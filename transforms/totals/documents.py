"""Documents as units: their totals, when the sums of all of their segments are there.

A document is a slice, and so is what each slice has of it. So the sums of documents are
`GroupTotals` without products, which `DocumentAdder` adds up as those of other slices. Then each
document is a unit, as a segment is otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import ExactIntegers, Integers, exact
from beam_bleu.transforms.totals.batch_adder import AddersOfSystems, Adding, DocumentParts
from beam_bleu.transforms.totals.group_totals import (
    GroupTotals,
    MetricTotals,
    added,
    require_bounded,
)


def totals_of_documents(parts: DocumentParts, adding: Adding) -> MetricTotals:
    """The totals of documents as units.

    A document in which some systems lack segments is a unit of each system that has any of them,
    with the segments that the system has. And it is a common unit, with the segments that all
    systems have.

    Args:
      parts: all parts of all documents.
      adding: what is added up.

    Raises:
      InputError: there are too many slices.
    """
    if not parts.parts:
        width, with_products = adding.basis.width, adding.with_products
        return MetricTotals(GroupTotals.zero(width, with_products=with_products))
    documents = added(parts.parts)
    adding = dataclasses.replace(adding, baseline=adding.baseline or parts.systems[0])
    slices: dict[SliceKey, int] = {}
    groups = np.array([_number(key, slices) for key in documents.keys if key is not None], np.int64)
    keys = [*slices]
    require_bounded(keys, adding.slicing.most)
    common = _units_added(documents.systems, adding, documents.common, groups, keys)
    if documents.rest is None:
        return common
    own = [
        _units_added((system,), adding, documents.own[:, place : place + 1], groups, keys)
        for place, system in enumerate(documents.systems)
    ]
    corpus = _with_rest(common.corpus, [of_system.corpus for of_system in own])
    if common.slices is None:
        return MetricTotals(corpus)
    of_slices = [of_system.slices for of_system in own if of_system.slices is not None]
    return MetricTotals(corpus, _with_rest(common.slices, of_slices))


def _number(key: SliceKey, slices: dict[SliceKey, int]) -> int:
    """0 for a whole document, otherwise the number of its slice from 1."""
    if key.item == 0:
        return 0
    return slices.setdefault(SliceKey(key.item - 1, key.values[1:]), len(slices)) + 1


def _units_added(
    systems: Sequence[str],
    adding: Adding,
    sums: ExactIntegers,
    groups: Integers,
    keys: Sequence[SliceKey],
) -> MetricTotals:
    """The totals of the units that have segments.

    Args:
      systems: the sorted systems.
      adding: what is added up.
      sums: (rows, systems, 1 + W), as in `GroupTotals.common`.
      groups: int64 (rows,), as `_number` gives them.
      keys: the slices by their numbers.
    """
    adders = AddersOfSystems(systems, adding)
    units = sums[:, :, 1:].astype(np.int64, copy=False).transpose(1, 0, 2)
    has_segments = units[0, :, SEGMENTS] > 0
    whole, parts = has_segments & (groups == 0), has_segments & (groups > 0)
    adders.corpus.add(np.ascontiguousarray(units[:, whole]))
    adders.slices.add(np.ascontiguousarray(units[:, parts]), groups[parts] - 1, len(keys))
    return adders.totals(keys)


def _with_rest(common: GroupTotals, own: Sequence[GroupTotals]) -> GroupTotals:
    """The totals of common units, with what the units of each single system add to them."""
    rest = np.concatenate([of_system.common for of_system in own], axis=1) - common.common
    return dataclasses.replace(common, rest=exact(rest) if rest.any() else None)
