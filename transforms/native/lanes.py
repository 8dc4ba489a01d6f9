"""Vectors for compiled code: 64 numbers compared at once, and a lane for each n-gram order.

numba has no vectors for Python source. A lane has the positions of a text where the n-grams of an
order are: as a mask, or for longer texts as a set of several words.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beam_bleu.transforms.native.compiling import Vectors, cgutils, ir, operation
from beam_bleu.transforms.native.memory import load, splat


def equal_numbers(count: int) -> Any:
    """Makes a function (address, number): the mask of up to 64 uint32 that equal its low half."""

    @operation("uint64", "int64", "uint64")
    def equal(builder, address, number):
        numbers = load(builder, ir.VectorType(ir.IntType(32), count), address)
        wanted = splat(builder, builder.trunc(number, ir.IntType(32)), count)
        mask = builder.bitcast(builder.icmp_unsigned("==", numbers, wanted), ir.IntType(count))
        return mask if count == 64 else builder.zext(mask, ir.IntType(64))

    return equal


# Lanes: a vector with the mask of an order in each lane.


def no_lanes(count: int) -> Any:
    @operation(Vectors(count))
    def zeros(builder):
        return _same(ir.VectorType(ir.IntType(64), count), 0)

    return zeros


@operation(None, None, "uint64")
def following(builder, grams, mask):
    """Where the n-grams that end at the next token occur, from those that end at this one."""
    count = grams.type.count
    shifted = builder.shl(grams, _same(grams.type, 1))
    # The first order gets all bits, because no shorter n-gram limits it.
    one_down = ir.Constant(ir.VectorType(ir.IntType(32), count), [count, *range(count - 1)])
    shorter = builder.shuffle_vector(shifted, _same(grams.type, -1), one_down)
    return builder.and_(shorter, splat(builder, mask, count))


@operation(None, None, None)
def without(builder, grams, claimed):
    return builder.and_(grams, builder.not_(claimed))


@operation(None, None, None)
def claim(builder, claimed, free):
    """The lanes of `claimed`, each with the lowest bit of that lane of `free`."""
    return builder.or_(claimed, builder.and_(free, builder.neg(free)))


@operation("uint64", None)
def not_zero(builder, tested):
    is_set = builder.icmp_unsigned("!=", tested, _same(tested.type, 0))
    return builder.zext(builder.bitcast(is_set, ir.IntType(tested.type.count)), ir.IntType(64))


@operation(None, None, "uint64")
def add_bits(builder, counts, bits):
    count = counts.type.count
    ones = builder.bitcast(
        builder.trunc(bits, ir.IntType(count)), ir.VectorType(ir.IntType(1), count)
    )
    return builder.add(counts, builder.zext(ones, counts.type))


@operation(None, None)
def lane_sizes(builder, lanes):
    return _sizes(builder, lanes)


@operation("void", "int64", None, "int64")
def store_lanes(builder, address, lanes, orders):
    _store(builder, address, lanes, orders)


def _same(vector: Any, value: int) -> Any:
    return ir.Constant(vector, [value] * vector.count)


def _sizes(builder: Any, vector: Any) -> Any:
    # llvmlite's own function refuses vectors.
    kind = ir.FunctionType(vector.type, [vector.type])
    name = f"llvm.ctpop.v{vector.type.count}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [vector])


def _store(builder: Any, address: Any, vector: Any, orders: Any) -> None:
    count, whole = vector.type.count, ir.IntType(32)
    numbers = ir.Constant(vector.type, list(range(count)))
    written = builder.icmp_signed("<", numbers, splat(builder, orders, count))
    arguments = [vector.type, vector.type.as_pointer(), whole, written.type]
    kind = ir.FunctionType(ir.VoidType(), arguments)
    name = f"llvm.masked.store.v{count}i64.p0"
    masked = cgutils.get_or_insert_function(builder.module, kind, name)
    place = builder.inttoptr(address, vector.type.as_pointer())
    builder.call(masked, [vector, place, whole(1), written])


# Sets of positions, one for each n-gram order: arrays of vectors, which have a lane for each order.


def no_positions(orders: int, words: int) -> Any:
    """Makes a function () that returns empty sets of up to 64 * `words` positions."""

    @operation(Vectors(orders, words))
    def none(builder):
        return _joined(builder, [_same(ir.VectorType(ir.IntType(64), orders), 0)] * words)

    return none


@operation(None, None, "int64")
def following_positions(builder, grams, address):
    """As `following`, with the positions of the next token in the set at an address."""
    vector = grams.type.element
    orders = vector.count
    # The first order gets all positions, because no shorter n-gram limits it.
    everywhere = ir.Constant(vector, [-1, *[0] * (orders - 1)])
    one_down = ir.Constant(ir.VectorType(ir.IntType(32), orders), [0, *range(orders - 1)])
    shorter = [builder.shuffle_vector(part, part, one_down) for part in _parts(builder, grams)]
    words = []
    for word, part in enumerate(shorter):
        shifted = builder.or_(builder.shl(part, _same(vector, 1)), everywhere)
        if word > 0:
            shifted = builder.or_(shifted, builder.lshr(shorter[word - 1], _same(vector, 63)))
        place = builder.add(address, ir.Constant(ir.IntType(64), word * 8))
        here = load(builder, ir.IntType(64), place)
        words.append(builder.and_(shifted, splat(builder, here, orders)))
    return _joined(builder, words)


@operation(None, None, None)
def claim_positions(builder, claimed, grams):
    """The sets of `claimed`, each with the first position of that set of `grams` that it lacks."""
    none = _same(claimed.type.element, 0)
    after, is_claimed = [], None
    for old, part in zip(_parts(builder, claimed), _parts(builder, grams), strict=True):
        free = builder.and_(part, builder.not_(old))
        lowest = builder.and_(free, builder.neg(free))
        here = builder.icmp_unsigned("!=", free, none)
        if is_claimed is not None:
            lowest = builder.select(is_claimed, none, lowest)
            here = builder.or_(here, is_claimed)
        is_claimed = here
        after.append(builder.or_(old, lowest))
    return _joined(builder, after)


@operation("void", "int64", None, "int64")
def store_sizes(builder, address, sets, orders):
    """Writes the sizes of the sets of the first orders, int64 each."""
    sizes = _same(sets.type.element, 0)
    for part in _parts(builder, sets):
        sizes = builder.add(sizes, _sizes(builder, part))
    _store(builder, address, sizes, orders)


def _parts(builder: Any, sets: Any) -> list[Any]:
    return [builder.extract_value(sets, word) for word in range(sets.type.count)]


def _joined(builder: Any, vectors: Sequence[Any]) -> Any:
    value = ir.Constant(ir.ArrayType(vectors[0].type, len(vectors)), ir.Undefined)
    for word, part in enumerate(vectors):
        value = builder.insert_value(value, part, word)
    return value
