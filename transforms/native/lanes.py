"""Vectors for compiled code: 64 numbers compared at once, and a lane for each n-gram order.

numba has no vectors for Python source. So this module makes them from portable LLVM vectors, like
masks.py. A lane has the positions where n-grams of an order are in a text: a mask, or a set of
several words for longer texts.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from beam_bleu.transforms.native.compiling import Vectors, cgutils, ir, operation
from beam_bleu.transforms.native.memory import load, splat

_WORD = 64


def equal_numbers(count: int) -> Any:
    """Makes a function (address, number) that compares `count` uint32, at most 64, with a number.

    It returns the mask of those at the address that equal the low 32 bits of the number.
    """

    @operation("uint64", "int64", "uint64")
    def equal(builder, address, number):
        numbers = load(builder, ir.VectorType(ir.IntType(32), count), address)
        wanted = splat(builder, builder.trunc(number, ir.IntType(32)), count)
        mask = builder.bitcast(builder.icmp_unsigned("==", numbers, wanted), ir.IntType(count))
        return mask if count == _WORD else builder.zext(mask, ir.IntType(64))

    return equal


class Lanes(NamedTuple):
    """The operations on vectors with a lane for each n-gram order.

    Attributes:
      zeros: a function () that returns a vector of zeros.
      following: a function (grams, mask). From where the n-grams that end at a token occur in
        a reference, and from where the next token occurs, it returns where the n-grams that end
        at the next token occur.
      free: a function (grams, claimed) that returns the bits of the first without the second.
      claim: a function (claimed, free) that adds the lowest bit of each lane of the second.
      not_zero: a function (vector) that returns a word with a bit for each lane that is not 0.
      add: a function (counts, bits) that adds 1 to the lane of each bit of such a word.
      count_bits: a function (vector) that returns the number of bits of each lane.
      store: a function (address, vector, orders) that writes the first lanes of a vector.
    """

    zeros: Any
    following: Any
    free: Any
    claim: Any
    not_zero: Any
    add: Any
    count_bits: Any
    store: Any


def _lanes_of(count: int) -> Lanes:
    """The operations on vectors with `count` lanes, at most 64."""
    lanes = Vectors(count)

    def vector_of(bits: int) -> Any:
        return ir.VectorType(ir.IntType(bits), count)

    def same(value: int) -> Any:
        return ir.Constant(vector_of(64), [value] * count)

    @operation(lanes)
    def zeros(builder):
        return same(0)

    @operation(lanes, lanes, "uint64")
    def following(builder, grams, mask):
        shifted = builder.shl(grams, same(1))
        # The first order gets all bits, because no shorter n-gram limits it.
        one_down = ir.Constant(vector_of(32), [count, *range(count - 1)])
        shorter = builder.shuffle_vector(shifted, same(-1), one_down)
        return builder.and_(shorter, splat(builder, mask, count))

    @operation(lanes, lanes, lanes)
    def free(builder, grams, claimed):
        return builder.and_(grams, builder.not_(claimed))

    @operation(lanes, lanes, lanes)
    def claim(builder, claimed, free):
        return builder.or_(claimed, builder.and_(free, builder.neg(free)))

    @operation("uint64", lanes)
    def not_zero(builder, tested):
        is_set = builder.icmp_unsigned("!=", tested, same(0))
        return builder.zext(builder.bitcast(is_set, ir.IntType(count)), ir.IntType(64))

    @operation(lanes, lanes, "uint64")
    def add(builder, counts, bits):
        ones = builder.bitcast(builder.trunc(bits, ir.IntType(count)), vector_of(1))
        return builder.add(counts, builder.zext(ones, vector_of(64)))

    count_bits = operation(lanes, lanes)(lane_sizes)
    store = operation("void", "int64", lanes, "int64")(store_lanes)
    return Lanes(zeros, following, free, claim, not_zero, add, count_bits, store)


def lane_sizes(builder: Any, vector: Any) -> Any:
    """The number of bits of each lane. llvmlite's own function refuses vectors."""
    kind = ir.FunctionType(vector.type, [vector.type])
    name = f"llvm.ctpop.v{vector.type.count}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [vector])


def store_lanes(builder: Any, address: Any, vector: Any, orders: Any) -> None:
    """Writes the first lanes of a vector."""
    count, whole = vector.type.count, ir.IntType(32)
    numbers = ir.Constant(vector.type, list(range(count)))
    written = builder.icmp_signed("<", numbers, splat(builder, orders, count))
    arguments = [vector.type, vector.type.as_pointer(), whole, written.type]
    kind = ir.FunctionType(ir.VoidType(), arguments)
    name = f"llvm.masked.store.v{count}i64.p0"
    masked = cgutils.get_or_insert_function(builder.module, kind, name)
    place = builder.inttoptr(address, vector.type.as_pointer())
    builder.call(masked, [vector, place, whole(1), written])


FOUR_LANES, SIXTEEN_LANES = _lanes_of(4), _lanes_of(16)


class PositionSets(NamedTuple):
    """The operations on sets of positions, one set for each n-gram order.

    Attributes:
      none: a function () that returns empty sets.
      following: a function (grams, address). From where the n-grams that end at a token occur in
        a text, and from the set at the address, where the next token occurs, it returns where the
        n-grams that end at the next token occur.
      claim: a function (claimed, grams) that adds to the first sets the first position of the
        second ones that they do not have, for each order for which there is one.
      store_sizes: a function (address, sets, orders) that writes the sizes of the first sets,
        int64 each.
    """

    none: Any
    following: Any
    claim: Any
    store_sizes: Any


def position_sets(orders: int, words: int) -> PositionSets:
    """The operations on sets of up to 64 * `words` positions, for at most `orders` orders."""
    sets = Vectors(orders, words)

    def vector() -> Any:
        return ir.VectorType(ir.IntType(64), orders)

    def same(value: int) -> Any:
        return ir.Constant(vector(), [value] * orders)

    def parts(builder: Any, value: Any) -> list[Any]:
        return [builder.extract_value(value, word) for word in range(words)]

    def joined(builder: Any, vectors: Sequence[Any]) -> Any:
        value = ir.Constant(ir.ArrayType(vector(), words), ir.Undefined)
        for word, part in enumerate(vectors):
            value = builder.insert_value(value, part, word)
        return value

    @operation(sets)
    def none(builder):
        return joined(builder, [same(0)] * words)

    @operation(sets, sets, "int64")
    def following(builder, grams, address):
        # The first order gets all positions, because no shorter n-gram limits it.
        everywhere = ir.Constant(vector(), [-1, *[0] * (orders - 1)])
        one_down = ir.Constant(ir.VectorType(ir.IntType(32), orders), [0, *range(orders - 1)])
        shorter = [builder.shuffle_vector(part, part, one_down) for part in parts(builder, grams)]
        found = []
        for word, part in enumerate(shorter):
            shifted = builder.or_(builder.shl(part, same(1)), everywhere)
            if word > 0:
                shifted = builder.or_(shifted, builder.lshr(shorter[word - 1], same(63)))
            place = builder.add(address, ir.Constant(ir.IntType(64), word * 8))
            here = load(builder, ir.IntType(64), place)
            found.append(builder.and_(shifted, splat(builder, here, orders)))
        return joined(builder, found)

    @operation(sets, sets, sets)
    def claim(builder, claimed, grams):
        after, is_claimed = [], None
        for old, part in zip(parts(builder, claimed), parts(builder, grams), strict=True):
            free = builder.and_(part, builder.not_(old))
            lowest = builder.and_(free, builder.neg(free))
            here = builder.icmp_unsigned("!=", free, same(0))
            if is_claimed is not None:
                lowest = builder.select(is_claimed, same(0), lowest)
                here = builder.or_(here, is_claimed)
            is_claimed = here
            after.append(builder.or_(old, lowest))
        return joined(builder, after)

    @operation("void", "int64", sets, "int64")
    def store_sizes(builder, address, stored, count):
        sizes = same(0)
        for part in parts(builder, stored):
            sizes = builder.add(sizes, lane_sizes(builder, part))
        store_lanes(builder, address, sizes, count)

    return PositionSets(none, following, claim, store_sizes)
