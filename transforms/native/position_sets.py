"""Sets of positions for compiled code: one for each n-gram order, with up to 512 positions each.

A set has a bit for each position, 64 in a word. The orders are the lanes of a vector, as in
lanes.py, and there is a vector for each word. So all orders take the same instructions.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from beam_bleu.transforms.native.compiling import Vectors, ir, operation
from beam_bleu.transforms.native.lanes import lane_sizes, splat, store_lanes

_WORD_BYTES = 8


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

    def constant(values: Sequence[int]) -> Any:
        return ir.Constant(vector(), list(values))

    def same(value: int) -> Any:
        return constant([value] * orders)

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
        everywhere = constant([-1, *[0] * (orders - 1)])
        one_down = ir.Constant(ir.VectorType(ir.IntType(32), orders), [0, *range(orders - 1)])
        shorter = [builder.shuffle_vector(part, part, one_down) for part in parts(builder, grams)]
        found = []
        for word, part in enumerate(shorter):
            shifted = builder.or_(builder.shl(part, same(1)), everywhere)
            if word > 0:
                shifted = builder.or_(shifted, builder.lshr(shorter[word - 1], same(63)))
            place = builder.add(address, ir.Constant(ir.IntType(64), word * _WORD_BYTES))
            here = builder.load(builder.inttoptr(place, ir.IntType(64).as_pointer()))
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
