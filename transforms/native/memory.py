"""The machine's operations on memory and words: loads, stores, copies, bit operations.

numba compiles loops well, but Python source has no way to access memory with one instruction.
If compiled functions pass numpy arrays to each other, numba counts the references to each array
with atomic operations (this took four fifths of the run time when we measured it). It also checks
whether each index is negative. So the kernel's inner functions take addresses.

Addresses and small numbers are int64; words, hashes and masks are uint64. Nothing here
checks bounds.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import cgutils, inner, intrinsic, ir, types

BLOCK = 64
"""The number of bytes that are copied or compared at once. A mask (uint64) has a bit for each."""

READ_AHEAD = BLOCK + 8
"""The number of bytes that must be readable after the start, and after the end, of any text."""

_Builder = Any  # llvmlite is untyped
_Value = Any


def _pointer(builder: _Builder, address: _Value, bits: int) -> _Value:
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


def _load(builder: _Builder, bits: int, address: _Value) -> _Value:
    value = builder.load(_pointer(builder, address, bits))
    value.align = 1  # a text can start at any address
    return value


def _store(builder: _Builder, bits: int, address: _Value, value: _Value) -> None:
    store = builder.store(value, _pointer(builder, address, bits))
    store.align = 1


def _loading(bits: int, is_signed: bool) -> Callable[[Any, Any], Any]:
    """The typing and code of an intrinsic that reads a value of 64 bits or less at an address."""

    def typed(typingctx: Any, address: Any) -> Any:
        def codegen(context, builder, signature, args):
            value = _load(builder, bits, args[0])
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return (types.int64 if is_signed else types.uint64)(types.int64), codegen

    return typed


def _storing(bits: int, is_signed: bool) -> Callable[[Any, Any, Any], Any]:
    """The typing and code of an intrinsic that writes the low bits of a value to an address."""

    def typed(typingctx: Any, address: Any, stored: Any) -> Any:
        def codegen(context, builder, signature, args):
            low = args[1] if bits == 64 else builder.trunc(args[1], ir.IntType(bits))
            _store(builder, bits, args[0], low)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64 if is_signed else types.uint64), codegen

    return typed


load_byte = intrinsic(_loading(8, is_signed=True))
"""The byte at an address, 0..255, as an int64."""

store_byte = intrinsic(_storing(8, is_signed=True))
"""Writes the low 8 bits of an int64 to an address."""

load_half = intrinsic(_loading(16, is_signed=False))
"""The uint16 at an address, as a uint64."""

store_half = intrinsic(_storing(16, is_signed=False))
"""Writes the low 16 bits of a uint64 to an address."""

load_word = intrinsic(_loading(64, is_signed=False))
"""The 8 bytes at an address as a uint64, the first byte lowest."""

store_word = intrinsic(_storing(64, is_signed=False))
"""Writes a uint64 to an address."""

load_count = intrinsic(_loading(32, is_signed=True))
"""The uint32 at an address, as an int64."""

store_count = intrinsic(_storing(32, is_signed=True))
"""Writes the low 32 bits of an int64 to an address."""


@intrinsic
def store_bytes_as_counts(typingctx, to, source, added):
    """Adds a number to the 8 bytes at `source`, and writes the sums to `to` as 8 uint32."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(32)
        byte_vector, vector = (ir.VectorType(of_lane, 8) for of_lane in (ir.IntType(8), number))
        loaded = builder.load(builder.inttoptr(args[1], byte_vector.as_pointer()))
        loaded.align = 1
        summand = ir.Constant(vector, ir.Undefined)
        for lane in range(8):
            summand = builder.insert_element(summand, builder.trunc(args[2], number), number(lane))
        sums = builder.add(builder.zext(loaded, vector), summand)
        store = builder.store(sums, builder.inttoptr(args[0], vector.as_pointer()))
        store.align = 1
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def clear(typingctx, address, size):
    """Writes `size` zero bytes to `address`."""

    def codegen(context, builder, signature, args):
        address = _pointer(builder, args[0], 8)
        cgutils.memset(builder, address, args[1], 0)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def prefetch(typingctx, address):
    """Brings the bytes at an address into the cache. The address may be any number."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(32)
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_write, in_all_caches, data = (number(value) for value in (1, 3, 1))
        place = builder.inttoptr(args[0], pointer)
        builder.call(fetch, [place, to_write, in_all_caches, data])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def copy(typingctx, to, source, size):
    """Copies `size` bytes from `source` to `to`. The two must not overlap."""

    def codegen(context, builder, signature, args):
        to, source = (_pointer(builder, arg, 8) for arg in args[:2])
        cgutils.raw_memcpy(builder, to, source, args[2], ir.Constant(ir.IntType(64), 1))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@inner
def address_of(array):
    """The address of an array's data.

    numba returns an unsigned number, and unsigned + signed is a float in numba.
    """
    return np.int64(array.ctypes.data)


@inner
def is_equal(one, other, size):
    """Whether the bytes at two addresses are the same."""
    at = 0
    while at + 8 <= size:
        if load_word(one + at) != load_word(other + at):
            return False
        at += 8
    while at < size:
        if load_byte(one + at) != load_byte(other + at):
            return False
        at += 1
    return True


@intrinsic
def load_int(typingctx, address, index):
    """Item `index` of the array of int64 at `address`."""

    def codegen(context, builder, signature, args):
        return _load(builder, 64, _item(builder, *args))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def store_int(typingctx, address, index, value):
    """Sets item `index` of the array of int64 at `address`."""

    def codegen(context, builder, signature, args):
        address, index, value = args
        _store(builder, 64, _item(builder, address, index), value)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _item(builder: _Builder, address: _Value, index: _Value) -> _Value:
    """The address of an item of an array of words."""
    return builder.add(address, builder.shl(index, ir.Constant(ir.IntType(64), 3)))


@intrinsic
def lowest_bit(typingctx, mask):
    """The index of the lowest set bit of a mask, as an int64; 64 if there is none."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def leading_zeros(typingctx, mask):
    """The number of bits above the highest set bit of a mask, as an int64; 64 if there is none."""

    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def count_bits(typingctx, mask):
    """The number of set bits of a mask, as an int64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def folded_product(typingctx, one, other):
    """The upper half of the 128-bit product of two words, xor its lower half."""

    def codegen(context, builder, signature, args):
        wide = ir.IntType(128)
        one, other = (builder.zext(arg, wide) for arg in args)
        product = builder.mul(one, other)
        upper = builder.lshr(product, ir.Constant(wide, 64))
        return builder.trunc(builder.xor(upper, product), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def copy_block(typingctx, to, source):
    """Copies a block. It reads the whole block before it writes."""

    def codegen(context, builder, signature, args):
        pointer = ir.VectorType(ir.IntType(8), BLOCK).as_pointer()
        block = builder.load(builder.inttoptr(args[1], pointer))
        block.align = 1
        store = builder.store(block, builder.inttoptr(args[0], pointer))
        store.align = 1
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def clear_lowest_bit(typingctx, mask):
    """The mask without its lowest set bit."""

    def codegen(context, builder, signature, args):
        return builder.and_(args[0], builder.sub(args[0], ir.Constant(ir.IntType(64), 1)))

    return types.uint64(types.uint64), codegen
