"""Adds up the products of the columns of units, for groups of units of the same systems."""

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, ExactIntegers, Integers, exact
from beam_bleu.transforms.totals.moments.gram import (
    LIMB_BITS,
    MOST_UNITS,
    SAME_ORDER,
    RowsPlan,
    Scratch,
    add_rows,
    add_tiles,
    pack,
    scatter,
    scratch,
)
from beam_bleu.transforms.totals.moments.layout import Plan, Row, plan
from beam_bleu.transforms.totals.moments.moments import Pair
from beam_bleu.transforms.totals.products import by_column
from beam_bleu.transforms.totals.unit_sums import products


class GroupSums:
    """Sums of the units of groups, exact for integers of any size. Mutable.

    Args:
      systems: the number of systems. All of them have all units that are added.
      basis: the columns of the metric.
      pairs: the pairs of systems whose products are added up.
      order: int64 (systems,), the system at each place in the counts that `add_rows` gets; None if
        they are in the same order.
    """

    def __init__(
        self,
        systems: int,
        basis: Basis,
        pairs: tuple[Pair, ...],
        order: Integers | None = None,
    ) -> None:
        self._order = np.arange(systems) if order is None else order
        self._row = Row(systems, basis, pairs)
        self._totals = np.zeros((0, self._row.integers), np.int64)
        # No integer of `_totals` is larger than this.
        self._bound = 0
        self._memory: Scratch | None = None
        # What did not fit in `_totals`: unbounded integers of the same shape.
        self._above: ExactIntegers | None = None
        self._keep((0,) * basis.width)

    def add_rows(self, counts: Integers) -> None:
        """Adds segments as units of group 0.

        Args:
          counts: int64 (systems, segments, W), as in `BatchStatistics`.
        """
        self._make_room(1)
        segments = counts.shape[1]
        if self._memory is None or self._memory.packed.shape[1] < segments:
            self._memory = self._new_memory(segments)
        # Compiled code gets plain tuples.
        added = add_rows(
            counts,
            tuple(self._rows_plan),
            LARGEST_INTEGER - self._bound,
            self._totals,
            tuple(self._memory),
        )
        if added >= 0:
            self._bound += added
        else:
            # For example the first batch. The columns that it needs are expected in later ones.
            self.add(by_column(counts[self._order]))

    def _new_memory(self, segments: int) -> Scratch:
        usual, row = self._rows_plan, self._row
        return scratch(row.systems, row.basis.width, len(usual.sources), len(usual.tiles), segments)

    def add(self, columns: Integers, groups: Integers | None = None, number: int = 1) -> None:
        """Adds units.

        Args:
          columns: int64 (systems, W, units), the integers of the units, 0 or more. Each unit has
            1 segment or more.
          groups: int64 (units,), the number of each unit's group; None if all are in group 0.
          number: the number of groups; that of a later call may be larger.
        """
        self._make_room(number)
        units = columns.shape[2]
        if not units:
            return
        largest = columns.max(axis=(0, 2)).tolist()
        limbs = self._limbs_of(largest)
        usual = plan(self._row, limbs)
        if groups is None:
            order = SAME_ORDER
            bounds, of_ranges = _ranges(np.array([0, units]), np.zeros(1, np.int64))
        else:
            # Numbers of 16 bits are sorted much faster.
            order = np.argsort(
                groups.astype(np.uint16) if number < 2**16 else groups, kind="stable"
            )
            ordered = groups[order]
            starts = np.append(0, np.flatnonzero(np.diff(ordered)) + 1)
            bounds, of_ranges = _ranges(np.append(starts, units), ordered[starts])
        packed = np.empty((len(usual.sources), units), np.uint32)
        pack(columns.reshape(-1, units), usual.sources, usual.shifts, order, packed)
        added = np.empty((len(of_ranges), *usual.tiles.shape[:1], 8), np.int64)
        add_tiles(packed, bounds, usual.tiles, added)
        # The largest value of a packed column, squared.
        square = min(max(largest), 2**LIMB_BITS - 1) ** 2
        sums = added.reshape(len(of_ranges), -1)
        if units * square <= LARGEST_INTEGER:
            self._scatter(sums, of_ranges, usual, units * square)
            return
        for i, length in enumerate(np.diff(bounds).tolist()):
            one = slice(i, i + 1)
            self._scatter(sums[one], of_ranges[one], usual, length * square)

    def _limbs_of(self, largest: list[int]) -> tuple[int, ...]:
        """How many packed columns each column of a unit needs, as for `plan`.

        The columns that earlier batches needed are kept, so that there are few different plans.
        """
        needed = [-(-value.bit_length() // LIMB_BITS) for value in largest]
        if largest[SEGMENTS] == 1:
            needed[SEGMENTS] = 0
        limbs = tuple(map(max, needed, self._limbs))
        kept = tuple(min(number, 1) for number in limbs)
        if kept != self._limbs:
            self._keep(kept)
        return limbs

    def _keep(self, limbs: tuple[int, ...]) -> None:
        """Sets the columns that are packed even if a batch does not need them."""
        self._limbs = limbs
        masks = [2**LIMB_BITS - 1 if number else 0 for number in limbs]
        masks[SEGMENTS] = 1  # the plan can rely on that
        usual = plan(self._row, limbs)
        self._rows_plan = RowsPlan(
            self._order,
            usual.sources,
            usual.shifts,
            usual.tiles,
            np.array(masks, np.int64),
            usual.usual.sources,
            usual.usual.targets,
        )
        self._memory = None

    def _scatter(self, sums: Integers, of_ranges: Integers, usual: Plan, bound: int) -> None:
        """Adds sums of products, none of which is larger than `bound`."""
        if self._bound + bound > LARGEST_INTEGER:
            self._move_above()
        self._bound += bound
        scatter(sums, of_ranges, usual.usual.sources, usual.usual.targets, self._totals)
        if not usual.long:
            return
        self._move_above()
        assert self._above is not None
        for long in usual.long:
            values = sums[:, long.sources].astype(object) << long.shift
            np.add.at(self._above, (of_ranges[:, np.newaxis], long.targets), values)

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
        added = max(number, 2 * groups) - groups
        self._totals = np.concatenate(
            [self._totals, np.zeros((added, self._row.integers), np.int64)]
        )
        if self._above is not None:
            zeros = np.zeros((added, self._row.integers), object)
            self._above = np.concatenate([self._above, zeros])

    def sums(self, number: int) -> tuple[Integers, ExactIntegers, ExactIntegers, ExactIntegers]:
        """The sums of the first groups.

        Returns:
          int64 (groups,), the units; (groups, systems, W), their sums;
          (groups, systems, W (W + 1) / 2), their products; (groups, pairs, W, W), those of pairs.
        """
        self._make_room(number)
        row = self._row
        width = row.basis.width
        rows: ExactIntegers = self._totals[:number].copy()
        if self._above is not None:
            rows = self._above[:number] + rows

        def part(start: int, end: int | None, *shape: int) -> ExactIntegers:
            return exact(rows[:, start:end].reshape(number, *shape))

        return (
            rows[:, 0].astype(np.int64),
            part(row.sums, row.products, row.systems, width),
            part(row.products, row.crosses, row.systems, products(width)),
            part(row.crosses, None, len(row.pairs), width, width),
        )


def _ranges(bounds: Integers, groups: Integers) -> tuple[Integers, Integers]:
    """Ranges of at most `MOST_UNITS` units.

    Args:
      bounds: int64 (ranges + 1,), where each range of units begins; at last the end.
      groups: int64 (ranges,), the group of each range.

    Returns:
      The same of shorter ranges.
    """
    lengths = np.diff(bounds)
    if lengths.max() <= MOST_UNITS:
        return bounds, groups
    parts = -(-lengths // MOST_UNITS)
    first = np.repeat(np.cumsum(parts) - parts, parts)
    starts = np.repeat(bounds[:-1], parts) + (np.arange(len(first)) - first) * MOST_UNITS
    return np.append(starts, bounds[-1]), np.repeat(groups, parts)
