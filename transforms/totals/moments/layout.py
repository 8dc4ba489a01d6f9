"""The layout of sums of products: which products of columns are added up, and to which integers."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.totals.moments.gram import HIGH, LIMB_BITS, LOW
from beam_bleu.transforms.totals.moments.moments import Pair
from beam_bleu.transforms.totals.unit_sums import product, products

_ONES, _ZEROS = -1, -2  # as in `gram.pack`


@dataclasses.dataclass(frozen=True)
class Row:
    """The integers of a group of units, one after the other: a row of an array.

    First comes the number of units, then the sums of each system, then its packed products, then
    W rows of W products for each pair.

    Attributes:
      systems: the number of systems.
      basis: the columns of the metric.
      pairs: the pairs of systems.
    """

    systems: int
    basis: Basis
    pairs: tuple[Pair, ...]

    @property
    def sums(self) -> int:
        """Where the sums begin."""
        return 1

    @property
    def products(self) -> int:
        """Where the products begin."""
        return 1 + self.systems * self.basis.width

    @property
    def crosses(self) -> int:
        """Where the products of pairs begin."""
        return self.products + self.systems * products(self.basis.width)

    @property
    def integers(self) -> int:
        """The number of integers."""
        return self.crosses + len(self.pairs) * self.basis.width**2


@dataclasses.dataclass(frozen=True)
class Targets:
    """Sums of products, and the integers to which they are added.

    Attributes:
      shift: the sums are multiplied by 2 to the power of this.
      sources: int64, places in the tiles' sums.
      targets: int64, places in a `Row`. Without a shift none of them is there twice.
    """

    shift: int
    sources: Integers
    targets: Integers


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the compiled code does with a batch.

    Attributes:
      sources: int64 (packed columns,), as for `gram.pack`.
      shifts: int64 (packed columns,), the same.
      tiles: int64 (tiles, 2), as for `gram.add_tiles`.
      usual: the sums of products of the lowest bits of integers: all, if they are short.
      long: the sums of other products.
    """

    sources: Integers
    shifts: Integers
    tiles: Integers
    usual: Targets
    long: tuple[Targets, ...]


@functools.lru_cache(maxsize=64)
def plan(row: Row, limbs: tuple[int, ...]) -> Plan:
    """The plan for a batch.

    Args:
      row: the integers of a group.
      limbs: for each column of a unit how many packed columns it needs: 0 if it is 0 in all
        units. Of SEGMENTS, 0 if it is 1 in all units.
    """
    width = row.basis.width
    # The packed columns: ones, those that all systems share, those of each system.
    packed = [(_ONES, 0)]
    shared: list[tuple[int, int, int]] = [] if limbs[SEGMENTS] else [(SEGMENTS, 0, 0)]
    for column in row.basis.shared:
        for shift in _shifts(limbs[column]):
            shared.append((column, shift, len(packed)))
            packed.append((column, shift))
    own = [
        (column, shift)
        for column in range(width)
        if column not in row.basis.shared
        for shift in _shifts(limbs[column])
    ]
    # The values of a system: (column, lowest bit), and (systems, values) with their packed columns.
    values = [(column, shift) for column, shift, _ in shared] + own
    places = np.empty((row.systems, len(values)), np.int64)
    places[:, : len(shared)] = [place for _, _, place in shared]
    for system in range(row.systems):
        places[system, len(shared) :] = np.arange(len(packed), len(packed) + len(own))
        packed += [(system * width + column, shift) for column, shift in own]
    column_of = np.array([column for column, _ in values], np.int64)
    shift_of = np.array([shift for _, shift in values], np.int64)
    needed = [_units(), *_products(row, column_of, shift_of, places)]
    one, other, shifts, targets = (np.concatenate(parts) for parts in zip(*needed, strict=True))
    high, low = np.maximum(one, other), np.minimum(one, other)
    tiles, tile_of = np.unique((high // HIGH) << 32 | low // LOW, return_inverse=True)
    sources = tile_of.reshape(-1) * (HIGH * LOW) + high % HIGH * LOW + low % LOW
    packed += [(_ZEROS, 0)] * (HIGH + LOW)  # so that the last tile has all of its columns
    by_shift = [
        Targets(shift, sources[shifts == shift], targets[shifts == shift])
        for shift in sorted(set(shifts.tolist()))
    ]
    return Plan(
        np.array([source for source, _ in packed], np.int64),
        np.array([shift for _, shift in packed], np.int64),
        np.stack([(tiles >> 32) * HIGH, (tiles & 0xFFFFFFFF) * LOW], axis=1),
        by_shift[0],
        tuple(by_shift[1:]),
    )


def _shifts(limbs: int) -> range:
    return range(0, limbs * LIMB_BITS, LIMB_BITS)


_Needed = tuple[Integers, Integers, Integers, Integers]
"""The packed columns of products, twice, then the shifts of the products, then their targets."""


def _units() -> _Needed:
    zero = np.zeros(1, np.int64)
    return zero, zero, zero, zero


def _products(row: Row, column_of: Integers, shift_of: Integers, places: Integers) -> list[_Needed]:
    """All products of a row but the number of units.

    Args:
      row: the integers of a group.
      column_of: int64 (values,), the column of each value.
      shift_of: int64 (values,), its lowest bit.
      places: int64 (systems, values), its packed column.
    """
    width = row.basis.width
    number = len(column_of)
    systems = np.arange(row.systems)[:, np.newaxis]
    sums = (
        places,
        np.zeros_like(places),
        _repeated(shift_of, row.systems),
        row.sums + systems * width + column_of,
    )
    high, low = np.indices((number, number)).reshape(2, -1)
    cross = (
        shift_of[high] + shift_of[low],
        column_of[high] * width + column_of[low],
    )
    # Both products of two different parts of the same column count.
    is_once = column_of[high] >= column_of[low]
    of_one = np.array([product(int(i), int(j)) for i, j in column_of[np.stack([high, low], 1)]])
    within = (
        places[:, high[is_once]],
        places[:, low[is_once]],
        _repeated(cross[0][is_once], row.systems),
        row.products + systems * products(row.basis.width) + of_one[is_once],
    )
    needed = [sums, within]
    if row.pairs:
        one, other = np.array(row.pairs, np.int64).T
        pairs = np.arange(len(row.pairs))[:, np.newaxis]
        needed.append(
            (
                places[one][:, high],
                places[other][:, low],
                _repeated(cross[0], len(row.pairs)),
                row.crosses + pairs * width**2 + cross[1],
            )
        )
    return [
        (one.ravel(), other.ravel(), shift.ravel(), to.ravel()) for one, other, shift, to in needed
    ]


def _repeated(values: NDArray[np.int64], times: int) -> Integers:
    return np.broadcast_to(values, (times, len(values)))
