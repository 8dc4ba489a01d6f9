"""Adds up the products of the columns of units, for groups of units of the same systems.

A group is a row of integers: the number of units, the sums of each system, its packed products,
then W rows of W products for each pair. Compiled code adds a few units of a group at a time to
its row, so that their columns stay in the fastest cache.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, ExactIntegers, Integers, exact
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.totals.moments.moments import Pair
from beam_bleu.transforms.totals.unit_sums import products, unpacked

_BLOCK = 128
"""The units whose columns are copied at a time."""

_ZEROS = 4
"""The columns of zeros after those of a system: `_dots` multiplies 2 and 4 columns at a time."""

_MOST_UNITS = 2**13
"""The units between two checks that sums fit in an int64."""

_LOW = 2**32 - 1
"""The largest value that compiled code multiplies: processors have an instruction for 32 bits."""


class GroupSums:
    """Sums of the units of groups, exact for integers of any size. Mutable.

    Args:
      systems: int64 (systems,), the place of each system in the counts that are added. All systems
        have all units.
      basis: the columns of the metric.
      pairs: the pairs of systems whose products are added up.
    """

    def __init__(self, systems: Integers, basis: Basis, pairs: tuple[Pair, ...]) -> None:
        self._systems = systems
        self._pairs = np.array(pairs, np.int64).reshape(-1, 2)
        self._width = width = basis.width
        self._shared = np.array(basis.shared, np.int64)
        own = [column for column in range(width) if column not in basis.shared]
        # Those of single systems come first: pairs need only the products of these.
        self._columns = np.array([*own, *basis.shared], np.int64)
        self._starts = np.cumsum(
            [0, 1, len(systems) * width, len(systems) * products(width), len(pairs) * width**2]
        )
        self._totals = np.zeros((0, self._starts[-1]), np.int64)
        # No integer of `_totals` is larger than this.
        self._bound = 0
        # What did not fit in `_totals`: unbounded integers of the same shape.
        self._above: ExactIntegers | None = None
        self._block = np.empty((len(systems), width + _ZEROS, _BLOCK), np.int64)
        self._used = np.empty((len(systems), width + 2), np.int64)

    def add(self, counts: Integers, groups: Integers | None = None, number: int = 1) -> None:
        """Adds units.

        Args:
          counts: int64 (systems, units, W), the integers of the units, 0 or more.
          groups: int64 (units,), the number of each unit's group; None if all are in group 0.
          number: the number of groups; that of a later call may be larger.
        """
        self._make_room(number)
        units = counts.shape[1]
        if groups is None:
            order, ordered = np.arange(units), np.zeros(units, np.int64)
        else:
            # Numbers of 16 bits are sorted much faster.
            order = np.argsort(
                groups.astype(np.uint16) if number < 2**16 else groups, kind="stable"
            )
            ordered = groups[order]
        done = 0
        while done < units:
            end = min(done + _MOST_UNITS, units)
            done += self._add(counts, order[done:end], ordered[done:end])
            if done == end:
                continue
            if self._bound > LARGEST_INTEGER // 2:
                self._move_above()
                continue
            # A document of many segments has long integers, and most units beside it do not.
            end = min(done + _BLOCK, end)
            self._add_any(counts, order[done:end], ordered[done:end])
            done = end

    def _add(self, counts: Integers, order: Integers, groups: Integers) -> int:
        """Adds units until one does not fit; returns how many."""
        most = min(math.isqrt((LARGEST_INTEGER - self._bound) // len(order)), _LOW)
        state = np.zeros(2, np.int64)
        _add_units(
            counts,
            self._systems,
            self._columns,
            len(self._columns) - len(self._shared),
            order,
            groups,
            self._pairs,
            self._starts,
            most,
            self._block,
            self._used,
            self._totals,
            state,
        )
        added, bits = state.tolist()
        self._bound += added * bits**2
        return int(added)

    def _add_any(self, counts: Integers, order: Integers, groups: Integers) -> None:
        """Adds units with integers of any size."""
        if self._above is None:
            self._above = np.zeros(self._totals.shape, object)
        lower = np.tril_indices(self._width)
        for group in np.unique(groups):
            units = counts[self._systems][:, order[groups == group]].astype(object)
            crosses = (units[first].T @ units[second] for first, second in self._pairs)
            self._above[group] += np.concatenate(
                [
                    [units.shape[1]],
                    units.sum(axis=1).ravel(),
                    *((columns.T @ columns)[lower] for columns in units),
                    *map(np.ravel, crosses),
                ]
            )

    def _move_above(self) -> None:
        moved = self._totals.astype(object)
        self._above = moved if self._above is None else self._above + moved
        self._totals[:] = 0
        self._bound = 0

    def _make_room(self, number: int) -> None:
        groups = len(self._totals)
        if number <= groups:
            return
        # Room for as many groups again, so that the array is rarely copied.
        room = (max(number, 2 * groups) - groups, self._starts[-1])
        self._totals = np.concatenate([self._totals, np.zeros(room, np.int64)])
        if self._above is not None:
            self._above = np.concatenate([self._above, np.zeros(room, object)])

    def sums(self, number: int) -> tuple[Integers, ExactIntegers, ExactIntegers, ExactIntegers]:
        """The sums of the first groups.

        Returns:
          int64 (groups,), the units; (groups, systems, W), their sums;
          (groups, systems, W (W + 1) / 2), their products; (groups, pairs, W, W), those of pairs.
        """
        self._make_room(number)
        width = self._width
        rows: ExactIntegers = self._totals[:number].copy()
        if self._above is not None:
            rows = self._above[:number] + rows
        units, sums, packed, crosses = np.split(rows, self._starts[1:-1], axis=1)
        packed = packed.reshape(number, len(self._systems), products(width))
        crosses = crosses.reshape(number, len(self._pairs), width, width)
        # A shared column has the same integers for both systems of a pair.
        first, second = self._pairs.T[:, :, np.newaxis]
        for column in self._shared:
            places = unpacked(width)[column]
            crosses[:, :, column] = packed[:, second, places]
            crosses[:, :, :, column] = packed[:, first, places]
        return (
            units[:, 0].astype(np.int64),
            exact(sums.reshape(number, len(self._systems), width)),
            exact(packed),
            exact(crosses),
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
    starts,
    most,
    block,
    used,
    totals,
    state,
):
    """Adds the sums and products of units, until a value is larger than `most`.

    Args:
      counts: int64 (systems, units, W).
      systems: int64 (systems,), the place of each system in the counts.
      columns: int64 (W,), the columns: those of single systems, then the shared ones.
      own: how many are of single systems.
      order: int64 (units,), the units that are added.
      groups: int64 (units,), their groups, in ascending order.
      pairs: int64 (pairs, 2).
      starts: int64 (5,), where each kind of integers begins in a row of the totals.
      most: the largest value.
      block: int64 (systems, W + 4, units at a time), which is overwritten: the columns that are
        not 0.
      used: int64 (systems, W + 2), which is overwritten: how many columns of the system itself
        these are, and how many columns, then their numbers.
      totals: int64 (groups, integers), which is changed.
      state: int64 (2,), which is written: how many units were added, and the bits of their values.
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
        row = totals[group]
        row[0] += units
        for place in range(len(systems)):
            kept = used[place, 1]
            sums = row[starts[1] + place * width :]
            packed = row[starts[2] + place * width * (width + 1) // 2 :]
            for i in range(kept):
                total = np.int64(0)
                for u in range(units):
                    total += block[place, i, u]
                sums[used[place, 2 + i]] += total
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
            cross = row[starts[3] + pair * width * width :]
            for i in range(0, used[first, 0], 2):
                for j in range(0, used[second, 0], 4):
                    dots = _dots(block[first], i, block[second], j, units)
                    for k in range(8):
                        left, right = i + k // 4, j + k % 4
                        if left < used[first, 0] and right < used[second, 0]:
                            cross[used[first, 2 + left] * width + used[second, 2 + right]] += dots[
                                k
                            ]
        start = end
        state[0], state[1] = end, bits


@compiled
def _dots(left, i, right, j, units):
    """The sums of the products of each of 2 columns, from i, and each of 4 columns, from j.

    Their vectors fit in the registers of a processor, and each value that is loaded is used
    several times.
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
