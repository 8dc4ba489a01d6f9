"""Adds up the replicates of a corpus: sums in which each unit has a random weight.

The weights of a unit follow from its key, which depends on its number or the name of its document,
never on its text. Among a billion units, two have the same key of 64 bits with a probability of
3 %, and then the same weights, which changes no result noticeably.

Compiled code draws the weights of a few units for one tile of replicates at a time, so that they
stay in the fastest cache. Products of float32 are exact here: a float32 holds every integer up to
2^24, and larger integers are split into digits. Within a tile, replicates are in the order of the
generator's vectors (`replicate_order`): to reorder weights would cost more than to draw them.

The generator is Philox4x32 with 10 rounds (Salmon et al. 2011,
https://doi.org/10.1145/2063384.2063405), which enciphers a counter of four 32-bit words with a key
of two. Here the key is the seed, and the counter is (block, 0, unit key), the low words of 64-bit
numbers first. Each replicate takes 16 of a block's 128 bits for the bootstrap, 1 for randomization,
the lowest first (test_replicates.py).
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner, ir, operation
from beam_bleu.transforms.native.memory import address_of, splat
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.totals.group_totals import require_same_systems

GENERATOR = "philox4x32-10"  # the generator's name in results
BLOCK_BITS = 128
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
"""The golden ratio, and the square root of 3 minus 1, as fractions of 2^32."""

WEIGHT_BITS = 16

AT_LEAST = (41426, 17318, 5263, 1244, 240, 39, 5, 1)
"""AT_LEAST[k - 1] of the 2^16 values of 16 bits give a weight of k or more: the largest ones.

They are chosen so that the mean and the variance of a weight are exactly 1, as those of Poisson(1)
are. Each probability differs by at most 2e-5 from that of Poisson(1). No weight is larger than 8;
one from Poisson(1) would be about once in a million times."""

TILE = 512
"""The number of replicates of a tile. The floats of a few units fit in the fastest cache."""

_FLOAT_BYTES = 4
_WEIGHT_BLOCKS = 16
_WEIGHTS_AT_ONCE = _WEIGHT_BLOCKS * BLOCK_BITS // WEIGHT_BITS
_COIN_BLOCKS = TILE // BLOCK_BITS
_WEIGHTS_OF_WORD = 64 // WEIGHT_BITS

_LOW = 0xFFFFFFFF

_Builder = Any  # llvmlite is untyped
_Value = Any


def replicate_order(bits: int) -> Integers:
    """The place of each replicate in a tile if a weight takes this many bits, int64 (TILE,)."""
    # A call draws the lower 64 bits of several blocks, then their upper 64 bits.
    blocks = _COIN_BLOCKS if bits == 1 else _WEIGHT_BLOCKS
    of_word = 64 // bits
    drawn = np.arange(TILE).reshape(-1, 2, blocks, of_word)
    order: Integers = drawn.transpose(0, 2, 1, 3).ravel()
    return order


def _splat(kind: Any, value: int) -> _Value:
    return ir.Constant(kind, [value] * kind.count)


def _philox(
    builder: _Builder, blocks: int, block: _Value, unit: _Value, seed: _Value
) -> tuple[_Value, _Value]:
    """The lower and the upper 64 bits of neighbouring blocks of a unit, beginning with `block`.

    Each item of a vector holds a 32-bit word in 64 bits. The upper half is arbitrary.
    """
    kind = ir.VectorType(ir.IntType(64), blocks)
    low, half = _splat(kind, _LOW), _splat(kind, 32)
    low_1, half_1 = ir.Constant(ir.IntType(64), _LOW), ir.Constant(ir.IntType(64), 32)
    one = builder.add(splat(builder, block, blocks), ir.Constant(kind, list(range(blocks))))
    two = _splat(kind, 0)
    three = splat(builder, unit, blocks)
    four = splat(builder, builder.lshr(unit, half_1), blocks)
    first, second = builder.and_(seed, low_1), builder.lshr(seed, half_1)
    for _ in range(ROUNDS):
        lower = builder.mul(builder.and_(one, low), _splat(kind, MULTIPLIERS[0]))
        upper = builder.mul(builder.and_(three, low), _splat(kind, MULTIPLIERS[1]))
        one = builder.xor(builder.lshr(upper, half), two)
        one = builder.xor(one, splat(builder, first, blocks))
        three = builder.xor(builder.lshr(lower, half), four)
        three = builder.xor(three, splat(builder, second, blocks))
        two, four = upper, lower
        first = builder.add(first, ir.Constant(ir.IntType(64), KEY_STEPS[0]))
        second = builder.add(second, ir.Constant(ir.IntType(64), KEY_STEPS[1]))
    return (
        builder.or_(builder.and_(one, low), builder.shl(two, half)),
        builder.or_(builder.and_(three, low), builder.shl(four, half)),
    )


def _store_floats(builder: _Builder, floats: _Value, address: _Value, index: int) -> None:
    place = builder.add(address, ir.Constant(ir.IntType(64), index * _FLOAT_BYTES))
    store = builder.store(floats, builder.inttoptr(place, floats.type.as_pointer()))
    store.align = _FLOAT_BYTES


@operation("void", "uint64", "uint64", "uint64", "int64")
def _draw_weights(builder, block, unit, seed, address):
    number = _WEIGHT_BLOCKS * _WEIGHTS_OF_WORD
    drawn = ir.VectorType(ir.IntType(WEIGHT_BITS), number)
    for half, words in enumerate(_philox(builder, _WEIGHT_BLOCKS, block, unit, seed)):
        bits = builder.bitcast(words, drawn)
        weights = _splat(drawn, 0)
        for values in AT_LEAST:
            smallest = _splat(drawn, (1 << WEIGHT_BITS) - values)
            is_larger = builder.icmp_unsigned(">=", bits, smallest)
            weights = builder.add(weights, builder.zext(is_larger, drawn))
        wide = builder.zext(weights, ir.VectorType(ir.IntType(32), number))
        floats = builder.sitofp(wide, ir.VectorType(ir.FloatType(), number))
        _store_floats(builder, floats, address, half * number)


@operation("void", "uint64", "uint64", "uint64", "int64")
def _draw_coins(builder, block, unit, seed, address):
    bits = ir.VectorType(ir.IntType(1), 64)
    floats = ir.VectorType(ir.FloatType(), 64)
    index = 0
    for words in _philox(builder, _COIN_BLOCKS, block, unit, seed):
        for place in range(_COIN_BLOCKS):
            word = builder.extract_element(words, ir.Constant(ir.IntType(32), place))
            coins = builder.uitofp(builder.bitcast(word, bits), floats)
            _store_floats(builder, coins, address, index)
            index += 64


@inner
def draw_tile(tile, unit, seed, is_bootstrap, address):
    """Writes the weights of a unit in a tile, or its coins, as float32 (TILE,)."""
    if is_bootstrap:
        for part in range(TILE // _WEIGHTS_AT_ONCE):
            block = tile * (TILE // _WEIGHTS_AT_ONCE) + part
            place = address + part * (_WEIGHTS_AT_ONCE * _FLOAT_BYTES)
            _draw_weights(np.uint64(block * _WEIGHT_BLOCKS), unit, seed, place)
    else:
        _draw_coins(np.uint64(tile * _COIN_BLOCKS), unit, seed, address)


DIGIT_BITS = 12  # the number of bits of a digit
UNITS_AT_ONCE = 16  # units are padded with units of zeros to a multiple of this number
COLUMNS_AT_ONCE = 4  # columns are padded with columns of zeros to a multiple of this number
_EXACT_UNITS = 512
"""After this number of units, the sums in float32 are added to those in int64: with the largest
weight, 8, they are at most 512 * 8 * (2^12 - 1) < 2^24."""


@compiled
def add_weighted(units, digits, places, shifts, seed, is_bootstrap, sums, weights, added):
    """Adds the units to the sums of all replicates.

    Args:
      units: uint64 (units,), their keys; a multiple of `UNITS_AT_ONCE`.
      digits: float32 (units, columns), integers of `DIGIT_BITS`, for a multiple of 4 columns.
      places, shifts: int64 (used columns,), the rows of `sums`, and the bits below each digit.
      sums: int64 (tiles, rows, TILE), which is changed; in the tiles' own order.
      weights, added: float32 (UNITS_AT_ONCE, TILE) and (columns, TILE), overwritten.
    """
    for tile in range(sums.shape[0]):
        for start in range(0, len(units), _EXACT_UNITS):
            added[:] = 0
            for first in range(start, min(start + _EXACT_UNITS, len(units)), UNITS_AT_ONCE):
                for number in range(UNITS_AT_ONCE):
                    address = address_of(weights) + number * (TILE * 4)
                    draw_tile(tile, units[first + number], seed, is_bootstrap, address)
                _add_products(weights, digits[first : first + UNITS_AT_ONCE], added)
            for column in range(len(places)):
                of_place = sums[tile, places[column]]
                shift = shifts[column]
                of_column = added[column]
                for number in range(TILE):
                    of_place[number] += np.int64(np.int32(of_column[number])) << shift


# "contract" lets one instruction multiply and add, which changes no result that is exact.
@functools.partial(inner, fastmath={"contract"})
def _add_products(weights, digits, added):
    """Adds digits (units, columns) times weights (units, TILE), 4 units and 4 columns at a time."""
    for unit in range(0, weights.shape[0], 4):
        a, b, c, d = weights[unit], weights[unit + 1], weights[unit + 2], weights[unit + 3]
        of_a, of_b, of_c, of_d = digits[unit], digits[unit + 1], digits[unit + 2], digits[unit + 3]
        for column in range(0, digits.shape[1], 4):
            a0, a1, a2, a3 = of_a[column], of_a[column + 1], of_a[column + 2], of_a[column + 3]
            b0, b1, b2, b3 = of_b[column], of_b[column + 1], of_b[column + 2], of_b[column + 3]
            c0, c1, c2, c3 = of_c[column], of_c[column + 1], of_c[column + 2], of_c[column + 3]
            d0, d1, d2, d3 = of_d[column], of_d[column + 1], of_d[column + 2], of_d[column + 3]
            to_0, to_1 = added[column], added[column + 1]
            to_2, to_3 = added[column + 2], added[column + 3]
            for i in range(TILE):
                to_0[i] += a[i] * a0 + b[i] * b0 + c[i] * c0 + d[i] * d0
                to_1[i] += a[i] * a1 + b[i] * b1 + c[i] * c1 + d[i] * d1
                to_2[i] += a[i] * a2 + b[i] * b2 + c[i] * c2 + d[i] * d2
                to_3[i] += a[i] * a3 + b[i] * b3 + c[i] * c3 + d[i] * d3


_FOR_ALL = 0  # in place of a system's number in the rows of the columns that all systems share


class ReplicateAdder:
    """Adds up the replicates of batches. Columns that all systems share are added only once."""

    def __init__(
        self,
        resampling: Resampling,
        labels: Sequence[str],
        basis: Basis,
        documents: str | None = None,
    ) -> None:
        self._resampling = resampling
        self._basis = basis
        self._place = None if documents is None else list(labels).index(documents)
        tiles = -(-resampling.number // TILE)
        self._systems: tuple[str, ...] = ()
        self._rows: dict[tuple[int, int], int] = {}
        self._sums = np.zeros((tiles, 0, TILE), np.int64)

    def add(self, statistics: BatchStatistics, metric: int = 0) -> None:
        self._systems = self._systems or statistics.systems
        require_same_systems(self._systems, statistics.systems)
        columns = np.ascontiguousarray(statistics.counts[metric].transpose(0, 2, 1))
        place = self._place
        documents = None if place is None else statistics.labels[place]
        units = unit_keys(self._resampling.partition, statistics.numbers, documents)
        if documents is not None:
            # Neighbouring segments of a document have the same weights: they are added as one unit.
            starts = np.flatnonzero(np.append(True, units[1:] != units[:-1]))
            units, columns = units[starts], np.add.reduceat(columns, starts, axis=2)
        self._add(units, columns)

    def sums(self) -> Integers:
        total = np.zeros((len(self._systems), self._resampling.number, self._basis.width), np.int64)
        bits = WEIGHT_BITS if self._resampling.method == "bootstrap" else 1
        order = replicate_order(bits)
        for (system, column), row in self._rows.items():
            drawn = self._sums[:, row]
            of_column = drawn[:, order].ravel()[: self._resampling.number]
            systems = slice(None) if column in self._basis.shared else system
            total[systems, :, column] = of_column
        return total[sorted(range(len(total)), key=self._systems.__getitem__)]

    def _add(self, units: UnitKeys, columns: Integers) -> None:
        digits: list[Integers] = []
        rows: list[int] = []
        shifts: list[int] = []
        largest = columns.max(axis=2)
        for system, column in np.argwhere(largest).tolist():
            if column in self._basis.shared and system != _FOR_ALL:
                continue
            row = self._rows.setdefault((system, column), len(self._rows))
            values = columns[system, column]
            for shift in range(0, int(largest[system, column]).bit_length(), DIGIT_BITS):
                digits.append(values >> shift & ((1 << DIGIT_BITS) - 1))
                rows.append(row)
                shifts.append(shift)
        new = len(self._rows) - self._sums.shape[1]
        if new:
            self._sums = np.pad(self._sums, ((0, 0), (0, new), (0, 0)))
        padded = -len(units) % UNITS_AT_ONCE, -len(digits) % COLUMNS_AT_ONCE
        filled = np.pad(np.stack(digits, axis=1), ((0, padded[0]), (0, padded[1])))
        add_weighted(
            np.pad(units, (0, padded[0])),
            filled.astype(np.float32),
            np.array(rows, np.int64),
            np.array(shifts, np.int64),
            np.uint64(self._resampling.seed),
            self._resampling.method == "bootstrap",
            self._sums,
            np.empty((UNITS_AT_ONCE, TILE), np.float32),
            np.empty((filled.shape[1], TILE), np.float32),
        )


UnitKeys = NDArray[np.uint64]


def unit_keys(
    partition: str, numbers: Integers | None, documents: pa.DictionaryArray | None = None
) -> UnitKeys:
    """The key of each segment's unit, uint64 (segments,): the hash of the partition, plus the
    segment's number, modulo 2^64; or the hash of partition, zero byte and document name together.
    """
    if documents is None:
        if numbers is None:
            raise JobError(
                "segments without numbers cannot be resampled: their random weights are drawn from "
                "their numbers",
                "give each batch its segments' numbers, or resample by document",
            )
        first = np.uint64(_hash(partition.encode()))
        return cast(UnitKeys, numbers.astype(np.uint64) + first)  # arrays wrap around
    encoded = documents.dictionary_decode().dictionary_encode()  # only the names that occur
    if encoded.null_count:
        raise JobError(
            "a segment has no document, so it cannot be resampled by document",
            "give each segment the name of its document",
        )
    prefix = partition.encode() + b"\0"
    names = encoded.dictionary.to_pylist()
    keys = np.array([_hash(prefix + name.encode()) for name in names], np.uint64)
    return cast(UnitKeys, keys[encoded.indices.to_numpy()])


def _hash(name: bytes) -> int:
    """64 bits of BLAKE2b (RFC 7693), the first byte lowest. Another hash would change results."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
