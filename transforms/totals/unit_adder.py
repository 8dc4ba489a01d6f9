"""Adds up units that have the same systems, in groups. Compiled code adds a few units of a group at
a time to the group's sums, so that their columns stay in the fastest cache.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, ExactIntegers, Integers, exact
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.totals.group_totals import (
    CANDIDATE_BYTES,
    CANDIDATE_RETURNS,
    FEWEST,
    FIRST_REFERENCE,
    FIRST_SCRIPT,
    GIVEN,
    IDENTICAL,
    JUDGED_REFERENCES,
    MOST,
    OF_REFERENCE,
    REFERENCE_BYTES,
    RETURNS,
    TOKENIZED,
    GroupTotals,
    Pair,
    packed_places,
    products,
)

_BLOCK = 128  # the units whose columns are copied at a time
_ZEROS = 4
"""The columns of zeros after those of a system: `_dots` multiplies 2 and 4 columns at a time."""

_MOST_UNITS = 2**13  # the units between two checks that sums fit in an int64
_LOW = 2**32 - 1
"""The largest value that compiled code multiplies: processors have an instruction for 32 bits."""


class UnitAdder:
    """Sums of units in groups, exact for integers of any size. All units have all systems."""

    def __init__(
        self,
        systems: Sequence[str],
        basis: Basis,
        pairs: tuple[Pair, ...] = (),
        *,
        with_products: bool = True,
    ) -> None:
        self._systems = tuple(sorted(systems))
        # The place of each system of the totals in the counts that are added.
        self._places = np.array([systems.index(system) for system in self._systems], np.int64)
        self._pairs = pairs if with_products else ()
        self._pair_places = np.array(self._pairs, np.int64).reshape(-1, 2)
        self._width = width = basis.width
        self._shared = np.array(basis.shared, np.int64)
        own = [column for column in range(width) if column not in basis.shared]
        # First the columns of single systems: pairs need only the products of these.
        self._columns = np.array([*own, *basis.shared], np.int64)
        self._with_products = with_products
        values = 1 + width + (products(width) if with_products else 0)
        self._common = np.zeros((0, len(systems), values), np.int64)
        self._crosses = np.zeros((0, len(self._pairs), width, width), np.int64)
        self._facts = np.zeros((0, len(systems), 0), np.int64)
        # No integer in `_common` and `_crosses` is larger than this.
        self._bound = 0
        # What did not fit into them: Python integers, in arrays of the same shapes.
        self._above: tuple[ExactIntegers, ExactIntegers] | None = None
        self._block = np.empty((len(systems), width + _ZEROS, _BLOCK), np.int64)
        self._used = np.empty((len(systems), width + 2), np.int64)

    def add(
        self,
        counts: Integers,
        groups: Integers | None = None,
        number: int = 1,
        rows: slice = slice(None),
    ) -> None:
        """Adds the units `rows` of `counts`, int64 (systems, units, W), integers of 0 or more.
        `groups`, int64 (units,), are below `number`, which can grow; None puts all in group 0.
        """
        self._make_room(number)
        if groups is None:
            order = np.arange(*rows.indices(counts.shape[1]))
            ordered = np.zeros(len(order), np.int64)
        else:
            # Numbers of 16 bits are sorted much faster.
            order = np.argsort(
                groups.astype(np.uint16) if number < 2**16 else groups, kind="stable"
            )
            ordered = groups[order]
        units = len(order)
        done = 0
        while done < units:
            end = min(done + _MOST_UNITS, units)
            done += self._add(counts, order[done:end], ordered[done:end])
            if done == end:
                continue
            if self._bound > LARGEST_INTEGER // 2:
                self._move_above()
                continue
            # A long document has large integers, but most of the units beside it do not.
            end = min(done + _BLOCK, end)
            self._add_any(counts, order[done:end], ordered[done:end])
            done = end

    def _add(self, counts: Integers, order: Integers, groups: Integers) -> int:
        """Adds units until one does not fit; returns how many."""
        most = (LARGEST_INTEGER - self._bound) // len(order)
        if self._with_products:
            most = min(math.isqrt(most), _LOW)
        state = np.zeros(2, np.int64)
        _add_units(
            counts,
            self._places,
            self._columns,
            len(self._columns) - len(self._shared),
            order,
            groups,
            self._pair_places,
            most,
            self._with_products,
            self._block,
            self._used,
            self._common,
            self._crosses,
            state,
        )
        added, bits = state.tolist()
        self._bound += added * (bits**2 if self._with_products else bits)
        return int(added)

    def _add_any(self, counts: Integers, order: Integers, groups: Integers) -> None:
        if self._above is None:
            self._above = (
                np.zeros(self._common.shape, object),
                np.zeros(self._crosses.shape, object),
            )
        common, crosses = self._above
        lower = np.tril_indices(self._width)
        for group in np.unique(groups):
            units = counts[self._places][:, order[groups == group]].astype(object)
            common[group, :, 0] += units.shape[1]
            common[group, :, 1 : 1 + self._width] += units.sum(axis=1)
            if self._with_products:
                for place, columns in enumerate(units):
                    common[group, place, 1 + self._width :] += (columns.T @ columns)[lower]
            for number, (first, second) in enumerate(self._pairs):
                crosses[group, number] += units[first].T @ units[second]

    def _move_above(self) -> None:
        self._above = tuple(self._exact())  # type: ignore[assignment]
        self._common[:] = 0
        self._crosses[:] = 0
        self._bound = 0

    def _exact(self) -> list[ExactIntegers]:
        arrays = [self._common.astype(object), self._crosses.astype(object)]
        if self._above is not None:
            arrays = [array + above for array, above in zip(arrays, self._above, strict=True)]
        return arrays

    def add_facts(
        self,
        statistics: BatchStatistics,
        groups: Integers | None = None,
        number: int = 1,
        rows: slice = slice(None),
    ) -> None:
        """Adds the facts of segments; `groups` is int64 (items, segments). See `add`."""
        self._make_room(number)
        judged = min(len(statistics.signs.given), JUDGED_REFERENCES)
        missing = FIRST_REFERENCE + judged * OF_REFERENCE - self._facts.shape[2]
        if missing > 0:
            more = np.zeros((*self._facts.shape[:2], missing), np.int64)
            self._facts = np.concatenate([self._facts, more], axis=2)
        _add_facts(
            self._places,
            np.arange(*rows.indices(len(statistics))),
            np.zeros((1, len(statistics)), np.int64) if groups is None else groups,
            statistics.reference_counts,
            statistics.candidate_bytes,
            statistics.reference_bytes,
            statistics.signs,
            judged,
            self._facts,
        )

    def _make_room(self, number: int) -> None:
        groups = len(self._common)
        if number <= groups:
            return
        # At least twice the room, so that the arrays are rarely copied.
        more = max(number, 2 * groups) - groups

        def larger(array: Any) -> Any:
            return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])

        self._common, self._crosses, self._facts = map(
            larger, (self._common, self._crosses, self._facts)
        )
        if self._above is not None:
            self._above = larger(self._above[0]), larger(self._above[1])

    @property
    def nbytes(self) -> int:
        return self._common.nbytes + self._crosses.nbytes + self._facts.nbytes

    def totals(self, keys: Sequence[Any] = (None,), most: int | None = None) -> GroupTotals:
        """The totals of all units. They share the adder's arrays, so add no units after this."""
        self._make_room(len(keys))
        groups = slice(len(keys))
        common: ExactIntegers = self._common[groups]
        crosses: ExactIntegers = self._crosses[groups]
        if self._above is not None:
            common, crosses = (exact(array[groups]) for array in self._exact())
        # Without any common unit, there is no pair.
        pairs = self._pairs if common[:, :1, 0].any() else ()
        crosses = crosses[:, : len(pairs)]
        if pairs:
            # A shared column has the same integers for both systems of a pair.
            packed = common[:, :, 1 + self._width :]
            first, second = self._pair_places.T[:, :, np.newaxis]
            crosses = crosses.astype(np.result_type(crosses, packed), copy=False)
            for column in self._shared:
                places = packed_places(self._width)[column]
                crosses[:, :, column] = packed[:, second, places]
                crosses[:, :, :, column] = packed[:, first, places]
        return GroupTotals(
            self._width,
            self._systems,
            tuple(keys),
            pairs,
            common,
            crosses,
            None,
            self._facts[groups],
            most,
        )


@compiled
def _add_units(
    counts,
    systems,
    columns,
    own,
    order,
    groups,
    pairs,
    most,
    with_products,
    block,
    used,
    common,
    crosses,
    state,
):
    """Adds the sums and products of units, until a value is larger than `most`.

    Args:
      counts: int64 (systems, units, W), and `systems` the place of each system in it.
      columns: int64 (W,), the columns: `own` of them of single systems, then the shared ones.
      order: int64 (units,), the units that are added, by their `groups` in ascending order.
      block: int64 (systems, W + 4, units at a time), overwritten: the columns that are not 0.
      used: int64 (systems, W + 2), overwritten: how many of these columns are the system's own, how
        many there are with the shared ones, then the numbers of all.
      common, crosses: as in `GroupTotals`; changed.
      state: int64 (2,), written: how many units were added, and all bits that their values have.
    """
    width = len(columns)
    bits = np.int64(0)
    start = 0
    while start < len(order):
        group, end = groups[start], start + 1
        while end < len(order) and end - start < _BLOCK and groups[end] == group:
            end += 1
        units = end - start
        for place in range(len(systems)):
            rows = counts[systems[place]]
            kept = 0
            for number in range(width):
                if number == own:
                    used[place, 0] = kept
                column = columns[number]
                to = block[place, kept]
                ored = np.int64(0)
                for i in range(units):
                    value = rows[order[start + i], column]
                    to[i] = value
                    ored |= value
                if ored:
                    used[place, 2 + kept] = column
                    kept += 1
                    bits |= ored
            if own == width:
                used[place, 0] = kept
            used[place, 1] = kept
            block[place, kept : kept + _ZEROS] = 0
        if bits > most:
            return
        for place in range(len(systems)):
            kept = used[place, 1]
            row = common[group, place]
            row[0] += units
            for i in range(kept):
                total = np.int64(0)
                for u in range(units):
                    total += block[place, i, u]
                row[1 + used[place, 2 + i]] += total
            if not with_products:
                continue
            packed = row[1 + width :]
            for i in range(0, kept, 2):
                for j in range(0, min(i + 2, kept), 4):
                    dots = _dots(block[place], i, block[place], j, units)
                    for k in range(8):
                        left, right = i + k // 4, j + k % 4
                        if left < kept and right <= left:
                            high, low = used[place, 2 + left], used[place, 2 + right]
                            if high < low:
                                high, low = low, high
                            packed[high * (high + 1) // 2 + low] += dots[k]
        for pair in range(len(pairs)):
            first, second = pairs[pair, 0], pairs[pair, 1]
            cross = crosses[group, pair]
            for i in range(0, used[first, 0], 2):
                for j in range(0, used[second, 0], 4):
                    dots = _dots(block[first], i, block[second], j, units)
                    for k in range(8):
                        left, right = i + k // 4, j + k % 4
                        if left < used[first, 0] and right < used[second, 0]:
                            cross[used[first, 2 + left], used[second, 2 + right]] += dots[k]
        start = end
        state[0], state[1] = end, bits


@compiled
def _dots(left, i, right, j, units):
    """The sums of the products of each of 2 columns, from i, and each of 4 columns, from j: their
    vectors fit in registers, and each value that is loaded is used several times.
    """
    x, y = left[i], left[i + 1]
    p, q, r, s = right[j], right[j + 1], right[j + 2], right[j + 3]
    xp = xq = xr = xs = yp = yq = yr = ys = np.int64(0)
    for u in range(units):
        v, w = x[u] & _LOW, y[u] & _LOW
        a, b, c, d = p[u] & _LOW, q[u] & _LOW, r[u] & _LOW, s[u] & _LOW
        xp += v * a
        xq += v * b
        xr += v * c
        xs += v * d
        yp += w * a
        yq += w * b
        yr += w * c
        ys += w * d
    return xp, xq, xr, xs, yp, yq, yr, ys


@compiled
def _add_facts(
    systems,
    order,
    groups,
    reference_counts,
    candidate_bytes,
    reference_bytes,
    signs,
    judged,
    facts,
):
    tokenized, candidate_returns, scripts, identical, given, reference_returns = signs
    for place in range(len(systems)):
        system = systems[place]
        for segment in order:
            count = reference_counts[segment]
            script = np.int64(scripts[system, segment])
            for item in range(groups.shape[0]):
                row = facts[groups[item, segment], place]
                row[CANDIDATE_BYTES] += candidate_bytes[system, segment]
                row[REFERENCE_BYTES] += reference_bytes[segment]
                if row[FEWEST] == 0 or count < row[FEWEST]:
                    row[FEWEST] = count
                row[MOST] = max(row[MOST], count)
                row[TOKENIZED] += tokenized[system, segment]
                row[CANDIDATE_RETURNS] += candidate_returns[system, segment]
                if script:
                    row[FIRST_SCRIPT + script - 1] += 1
                for k in range(judged):
                    of_reference = row[FIRST_REFERENCE + OF_REFERENCE * k :]
                    of_reference[GIVEN] += given[k, segment]
                    of_reference[RETURNS] += reference_returns[k, segment]
                    of_reference[IDENTICAL] += identical[system, k, segment]
