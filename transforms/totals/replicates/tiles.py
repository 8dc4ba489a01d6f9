"""Adds up the integers of units with random weights, in compiled code: a product of two matrices.

A tile is `TILE` replicates. Its weights are in an order of their own: as the words that the
generator gives for several blocks lie in vectors, because to reorder them would cost more than
to draw them. `replicate_order` says which replicate is where.

The vectors are portable LLVM (as in native/masks.py). LLVM compiles them for the machine's
instructions (AVX-512, AVX2, NEON). Only integers are computed, and the weights become floats.

The weights are drawn for a few units and a tile of replicates at a time, into a buffer that fits
in the fastest cache. They are used at once for all columns. So nothing of size
units x replicates ever exists.

The product is of float32, because all machines multiply and add vectors of them fast. It is
exact: a float32 holds each integer up to 2^24, and the sums of `_EXACT_UNITS` units are smaller
if the integers have at most `DIGIT_BITS` bits. Larger integers are several digits.

Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"
(https://doi.org/10.1145/2063384.2063405): Philox4x32 with 10 rounds enciphers a counter of four
32-bit words with a key of two. Here the key is the seed, and the counter is (block, 0, unit key),
the low words of 64-bit numbers first. So each unit has its own random numbers for all replicates,
on each machine the same ones, and they can be drawn in any order.

A block is 128 bits. Their order is: the first word's lowest bit first. The bootstrap takes 16 of
them for the weight of a replicate, randomization takes 1. tests/philox.py says it one by one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner, ir, operation
from beam_bleu.transforms.native.memory import address_of

GENERATOR = "philox4x32-10"
"""The generator's name in results."""

BLOCK_BITS = 128
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
"""The golden ratio, and the square root of 3 minus 1, as fractions of 2^32."""

WEIGHT_BITS = 16

AT_LEAST = (41426, 17318, 5263, 1244, 240, 39, 5, 1)
"""AT_LEAST[k - 1] of the 2^16 values of 16 bits give a weight of k or more: the largest ones.

The sums of these numbers make the mean and the variance of a weight exactly 1, as those of
Poisson(1) are. Each probability is the one of Poisson(1) but for 2e-5. No weight is more than 8,
which a weight of Poisson(1) is once in a million times.
"""

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
    """int64 (TILE,), the place of each replicate in the order in which a tile's weights are drawn.

    A replicate takes this number of random bits.
    """
    # Drawn at once: the lower 64 bits of several blocks, then the upper 64 bits of them.
    blocks = _COIN_BLOCKS if bits == 1 else _WEIGHT_BLOCKS
    of_word = 64 // bits
    drawn = np.arange(TILE).reshape(-1, 2, blocks, of_word)
    order: Integers = drawn.transpose(0, 2, 1, 3).ravel()
    return order


def _splat(kind: Any, value: int) -> _Value:
    return ir.Constant(kind, [value] * kind.count)


def _spread(builder: _Builder, value: _Value, kind: Any) -> _Value:
    """A vector whose items all are this value."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, undefined, mask)


def _philox(
    builder: _Builder, blocks: int, block: _Value, unit: _Value, seed: _Value
) -> tuple[_Value, _Value]:
    """The lower and the upper 64 bits of neighbouring blocks of a unit, from a first block on.

    Each item of a vector holds a 32-bit word in 64 bits. The upper half is arbitrary.
    """
    kind = ir.VectorType(ir.IntType(64), blocks)
    low, half = _splat(kind, _LOW), _splat(kind, 32)
    low_1, half_1 = ir.Constant(ir.IntType(64), _LOW), ir.Constant(ir.IntType(64), 32)
    one = builder.add(_spread(builder, block, kind), ir.Constant(kind, list(range(blocks))))
    two = _splat(kind, 0)
    three = _spread(builder, unit, kind)
    four = _spread(builder, builder.lshr(unit, half_1), kind)
    first, second = builder.and_(seed, low_1), builder.lshr(seed, half_1)
    for _ in range(ROUNDS):
        lower = builder.mul(builder.and_(one, low), _splat(kind, MULTIPLIERS[0]))
        upper = builder.mul(builder.and_(three, low), _splat(kind, MULTIPLIERS[1]))
        one = builder.xor(builder.lshr(upper, half), two)
        one = builder.xor(one, _spread(builder, first, kind))
        three = builder.xor(builder.lshr(lower, half), four)
        three = builder.xor(three, _spread(builder, second, kind))
        two, four = upper, lower
        first = builder.add(first, ir.Constant(ir.IntType(64), KEY_STEPS[0]))
        second = builder.add(second, ir.Constant(ir.IntType(64), KEY_STEPS[1]))
    return (
        builder.or_(builder.and_(one, low), builder.shl(two, half)),
        builder.or_(builder.and_(three, low), builder.shl(four, half)),
    )


def _store_floats(builder: _Builder, floats: _Value, address: _Value, index: int) -> None:
    """Stores a vector of floats; `index` is the place of its first one after the address."""
    place = builder.add(address, ir.Constant(ir.IntType(64), index * _FLOAT_BYTES))
    store = builder.store(floats, builder.inttoptr(place, floats.type.as_pointer()))
    store.align = _FLOAT_BYTES


@operation("void", "uint64", "uint64", "uint64", "int64")
def _draw_weights(builder, block, unit, seed, address):
    """Writes the float32 weights of `_WEIGHTS_AT_ONCE` replicates of the bootstrap."""
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
    """Writes the coins of a tile as float32."""
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
    """Writes the weights of a unit in a tile.

    Args:
      tile: the number of the tile, int64.
      unit: the unit's key, uint64.
      seed: uint64.
      is_bootstrap: whether weights are drawn, or coins.
      address: where the float32 (TILE,) are written, in the tile's own order.
    """
    if is_bootstrap:
        for part in range(TILE // _WEIGHTS_AT_ONCE):
            block = tile * (TILE // _WEIGHTS_AT_ONCE) + part
            place = address + part * (_WEIGHTS_AT_ONCE * _FLOAT_BYTES)
            _draw_weights(np.uint64(block * _WEIGHT_BLOCKS), unit, seed, place)
    else:
        _draw_coins(np.uint64(tile * _COIN_BLOCKS), unit, seed, address)


DIGIT_BITS = 12
"""The number of bits of a digit."""

UNITS_AT_ONCE = 16
"""Units come in multiples of this number. Units whose integers are 0 fill it up."""

COLUMNS_AT_ONCE = 4
"""Columns come in multiples of this number. Columns of 0 fill it up."""

_EXACT_UNITS = 512
"""After this number of units, the sums of float32 go to the sums of int64.

With the largest weight, 8, they are at most 512 * 8 * (2^12 - 1) < 2^24.
"""


def scratch(columns: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The memory that `add_weighted` needs, for weights and for sums of the columns."""
    return np.empty((UNITS_AT_ONCE, TILE), np.float32), np.empty((columns, TILE), np.float32)


@compiled
def add_weighted(units, digits, places, shifts, seed, is_bootstrap, sums, weights, added):
    """Adds the units to the sums of all replicates.

    Args:
      units: uint64 (units,), their keys; a multiple of `UNITS_AT_ONCE`.
      digits: float32 (units, columns), integers below 2^DIGIT_BITS; the number of columns is a
        multiple of `COLUMNS_AT_ONCE`.
      places: int64 (used columns,), the row of `sums` to which each of the first columns belongs.
      shifts: int64 (used columns,), how many bits are below a column's digit in its integer.
      seed: uint64.
      is_bootstrap: whether the weights are those of the bootstrap, or coins.
      sums: int64 (tiles, rows, TILE), which is changed; in the tiles' own order.
      weights: float32 (UNITS_AT_ONCE, TILE), of `scratch`; it is overwritten.
      added: float32 (columns, TILE), of `scratch`; it is overwritten.
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


# To contract is to multiply and add in one instruction. It changes no result that is exact.
@functools.partial(inner, fastmath={"contract"})
def _add_products(weights, digits, added):
    """Adds digits times weights, 4 units and 4 columns at a time.

    Args:
      weights: float32 (units, TILE).
      digits: float32 (units, columns).
      added: float32 (columns, TILE), which is changed.
    """
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
