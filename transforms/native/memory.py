"""The machine's operations on memory and words: loads, stores, copies, bit operations.

numba compiles loops well, but Python source has no way to access memory with one instruction.
If compiled functions pass numpy arrays to each other, numba counts the references to each array
with atomic operations (this took four fifths of the run time when we measured it). It also checks
whether each index is negative. So the kernel's inner functions take addresses.

Addresses and small numbers are int64; words, hashes and masks are uint64. Nothing here
checks bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 64
"""The number of bytes that are copied or compared at once. A mask (uint64) has a bit for each."""

READ_AHEAD = BLOCK + 8
"""The number of bytes that must be readable after the start, and after the end, of any text."""

_I8, _I32, _I64, _I128 = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_BLOCK = ir.VectorType(_I8, BLOCK)

_Builder = Any  # llvmlite is untyped
_Value = Any


def _load(builder: _Builder, llvm_type: Any, address: _Value) -> _Value:
    value = builder.load(builder.inttoptr(address, llvm_type.as_pointer()))
    value.align = 1  # a text can start at any address
    return value


def _loading(llvm_type: Any, result: Any) -> Callable[[Any, Any], Any]:
    """The typing and code of an intrinsic that reads a value at an address."""

    def typed(typingctx: Any, address: Any) -> Any:
        def codegen(context, builder, signature, args):
            value = _load(builder, llvm_type, args[0])
            return value if llvm_type is _I64 else builder.zext(value, _I64)

        return result(types.int64), codegen

    return typed


def _storing(llvm_type: Any, value: Any) -> Callable[[Any, Any, Any], Any]:
    """The typing and code of an intrinsic that writes the low bits of a value to an address."""

    def typed(typingctx: Any, address: Any, stored: Any) -> Any:
        def codegen(context, builder, signature, args):
            low = args[1] if llvm_type is _I64 else builder.trunc(args[1], llvm_type)
            store = builder.store(low, builder.inttoptr(args[0], llvm_type.as_pointer()))
            store.align = 1
            return context.get_dummy_value()

        return types.void(types.int64, value), codegen

    return typed


load_byte = intrinsic(_loading(_I8, types.int64))
"""The byte at an address, 0..255, as an int64."""

store_byte = intrinsic(_storing(_I8, types.int64))
"""Writes the low 8 bits of an int64 to an address."""

load_word = intrinsic(_loading(_I64, types.uint64))
"""The 8 bytes at an address as a uint64, the first byte lowest."""

store_word = intrinsic(_storing(_I64, types.uint64))
"""Writes a uint64 to an address."""

load_count = intrinsic(_loading(_I32, types.int64))
"""The uint32 at an address, as an int64."""

store_count = intrinsic(_storing(_I32, types.int64))
"""Writes the low 32 bits of an int64 to an address."""


@intrinsic
def clear(typingctx, address, size):
    """Writes `size` zero bytes to `address`."""

    def codegen(context, builder, signature, args):
        address = builder.inttoptr(args[0], _I8.as_pointer())
        cgutils.memset(builder, address, args[1], 0)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def copy(typingctx, to, source, size):
    """Copies `size` bytes from `source` to `to`. The two must not overlap."""

    def codegen(context, builder, signature, args):
        to, source = (builder.inttoptr(arg, _I8.as_pointer()) for arg in args[:2])
        cgutils.raw_memcpy(builder, to, source, args[2], ir.Constant(_I64, 1))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@njit
def address_of(array):
    """The address of an array's data.

    numba returns an unsigned number, and unsigned + signed is a float in numba.
    """
    return np.int64(array.ctypes.data)


@njit
def load_int(address, index):
    """Item `index` of the array of int64 at `address`."""
    return np.int64(load_word(address + 8 * index))


@njit
def store_int(address, index, value):
    """Sets item `index` of the array of int64 at `address`."""
    store_word(address + 8 * index, np.uint64(value))


@intrinsic
def lowest_bit(typingctx, mask):
    """The index of the lowest set bit of a mask that is not zero, as an int64."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

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
        one, other = (builder.zext(arg, _I128) for arg in args)
        product = builder.mul(one, other)
        upper = builder.lshr(product, ir.Constant(_I128, 64))
        return builder.trunc(builder.xor(upper, product), _I64)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def copy_block(typingctx, to, source):
    """Copies a block. It reads the whole block before it writes."""

    def codegen(context, builder, signature, args):
        vector = _load(builder, _BLOCK, args[1])
        store = builder.store(vector, builder.inttoptr(args[0], _BLOCK.as_pointer()))
        store.align = 1
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@njit
def clear_lowest_bit(mask):
    """The mask without its lowest set bit."""
    return mask & (mask - np.uint64(1))
