"""Raw memory for the kernel: loads, stores, bit scans, 64-byte classification.

numba compiles loops well, but two things it cannot say in Python source. One is
"compare these 64 bytes at once and give me one bit per byte"; here it is said
in portable LLVM vectors, which LLVM lowers to what the machine has (AVX-512,
AVX2, SSE2, NEON). The other is an array access that costs one instruction:
passing numpy arrays between compiled functions counts references with atomic
operations (four fifths of the run time when it was measured), and indexing them
checks for negative indices, so the kernel's inner functions take addresses.

Addresses and small numbers are int64; words, hashes and masks are uint64; bit
i of a mask stands for byte i. Nothing here checks bounds.
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
"""Bytes classified at once: one bit each in a uint64."""

READ_AHEAD = BLOCK + 8
"""Bytes that must be readable from the start and from the end of any text."""

_I8, _I32, _I64, _I128 = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_BYTES = ir.VectorType(_I8, BLOCK)

_Builder = Any  # llvmlite is untyped
_Value = Any


def _load(builder: _Builder, llvm_type: Any, address: _Value) -> _Value:
    value = builder.load(builder.inttoptr(address, llvm_type.as_pointer()))
    value.align = 1  # texts start anywhere
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
    """The typing and code of an intrinsic that writes a value, or its low bits, to an address."""

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
    """Copies `size` bytes from `source` to `to`, which must not overlap."""

    def codegen(context, builder, signature, args):
        to, source = (builder.inttoptr(arg, _I8.as_pointer()) for arg in args[:2])
        cgutils.raw_memcpy(builder, to, source, args[2], ir.Constant(_I64, 1))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@njit
def address_of(array):
    """The address of an array's data.

    numba gives an unsigned number, and has unsigned + signed = float.
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


@njit
def letter_size(first):
    """The bytes of a letter in UTF-8, by its first byte, which is not ASCII."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@njit
def code_point(address, size):
    """The code point of the letter of two or more bytes that begins at an address."""
    code = load_byte(address) & (0x7F >> size)
    for i in range(1, size):
        code = (code << 6) | (load_byte(address + i) & 0x3F)
    return code


@intrinsic
def lowest_bit(typingctx, mask):
    """The index of the lowest set bit of a mask that is not zero, as an int64."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def count_bits(typingctx, mask):
    """How many bits of a mask are set, as an int64."""

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
def copy_lower_block(typingctx, to, source):
    """Copies a block with A-Z in lower case; the mask of its bytes that are not ASCII."""

    def codegen(context, builder, signature, args):
        vector = _load(builder, _BYTES, args[1])
        upper = _is(builder, vector, ("A", "Z"))
        lower = builder.select(upper, builder.or_(vector, _splat(0x20)), vector)
        store = builder.store(lower, builder.inttoptr(args[0], _BYTES.as_pointer()))
        store.align = 1
        return builder.bitcast(_is(builder, vector, ("\x80", "\xff")), _I64)

    return types.uint64(types.int64, types.int64), codegen


@intrinsic
def copy_block(typingctx, to, source):
    """Copies a block; it is read before it is written."""

    def codegen(context, builder, signature, args):
        vector = _load(builder, _BYTES, args[1])
        store = builder.store(vector, builder.inttoptr(args[0], _BYTES.as_pointer()))
        store.align = 1
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@njit
def clear_lowest_bit(mask):
    """The mask without its lowest set bit."""
    return mask & (mask - np.uint64(1))


def _splat(value: int) -> _Value:
    return ir.Constant(_BYTES, [value] * BLOCK)


def _is(builder: _Builder, vector: _Value, *choices: int | str | tuple[str, str]) -> _Value:
    """Where `vector` equals one of the bytes, or lies in one of the closed ranges."""
    found = None
    for choice in choices:
        if isinstance(choice, tuple):
            low, high = ord(choice[0]), ord(choice[1])
            # x - low wraps round below `low`, so one unsigned comparison serves both ends.
            moved = builder.sub(vector, _splat(low))
            here = builder.icmp_unsigned("<=", moved, _splat(high - low))
        else:
            value = choice if isinstance(choice, int) else ord(choice)
            here = builder.icmp_unsigned("==", vector, _splat(value))
        found = here if found is None else builder.or_(found, here)
    return found


def _masks(
    count: int, conditions: Callable[[_Builder, _Value], list[_Value]]
) -> Callable[[Any, Any], Any]:
    """The typing and code of an intrinsic from an address to `count` masks."""

    def typed(typingctx: Any, address: Any) -> Any:
        def codegen(context, builder, signature, args):
            masks = [builder.bitcast(found, _I64) for found in conditions(builder, args[0])]
            return context.make_tuple(builder, signature.return_type, masks)

        return types.UniTuple(types.uint64, count)(types.int64), codegen

    return typed


def _mask(condition: Callable[[_Builder, _Value], _Value]) -> Callable[[Any, Any], Any]:
    """The typing and code of an intrinsic from an address to a mask."""

    def typed(typingctx: Any, address: Any) -> Any:
        def codegen(context, builder, signature, args):
            return builder.bitcast(condition(builder, args[0]), _I64)

        return types.uint64(types.int64), codegen

    return typed


def _white_space(builder: _Builder, address: _Value) -> list[_Value]:
    vector = _load(builder, _BYTES, address)
    return [
        _is(builder, vector, ("\t", "\r"), ("\x1c", " ")),
        _is(builder, vector, 0xC2, ("\xe1", "\xe3")),
    ]


def _ascii_white_space(builder: _Builder, address: _Value) -> _Value:
    return _is(builder, _load(builder, _BYTES, address), ("\t", "\r"), " ")


def _unicode_white_space(builder: _Builder, address: _Value) -> list[_Value]:
    first, second, third = (
        _load(builder, _BYTES, builder.add(address, ir.Constant(_I64, i))) for i in range(3)
    )

    def three(lead: int, middle: int, *last: int | str | tuple[str, str]) -> _Value:
        head = builder.and_(_is(builder, first, lead), _is(builder, second, middle))
        return builder.and_(head, _is(builder, third, *last))

    found = three(0xE1, 0x9A, 0x80)  # U+1680
    for more in (
        three(0xE2, 0x80, ("\x80", "\x8a"), 0xA8, 0xA9, 0xAF),  # U+2000-200A 2028 2029 202F
        three(0xE2, 0x81, 0x9F),  # U+205F
        three(0xE3, 0x80, 0x80),  # U+3000
    ):
        found = builder.or_(found, more)
    two = builder.and_(_is(builder, first, 0xC2), _is(builder, second, 0x85, 0xA0))
    return [two, found]  # two: U+0085 00A0


def _punctuation(builder: _Builder, address: _Value) -> list[_Value]:
    vector = _load(builder, _BYTES, address)
    return [
        _is(builder, vector, ("!", "&"), ("(", "+"), "/", (":", "@"), ("[", "`"), ("{", "~")),
        _is(builder, vector, ".", ","),
        _is(builder, vector, ("0", "9")),
        _is(builder, vector, "-"),
        _is(builder, vector, "&"),
    ]


def _code_points(builder: _Builder, address: _Value) -> list[_Value]:
    vector = _load(builder, _BYTES, address)
    return [
        _is(builder, vector, ("\x00", "\x7f"), ("\xc0", "\xff")),
        _is(builder, vector, " ", ("A", "Z"), ("a", "z")),
    ]


def _rewritten(builder: _Builder, address: _Value) -> _Value:
    return _is(builder, _load(builder, _BYTES, address), "<", "\n")


def _newlines(builder: _Builder, address: _Value) -> _Value:
    return _is(builder, _load(builder, _BYTES, address), "\n")


def _lines(builder: _Builder, address: _Value) -> list[_Value]:
    vector = _load(builder, _BYTES, address)
    return [
        _is(builder, vector, "\n"),
        _is(builder, vector, 0),
        _is(builder, vector, ("\x00", "\x08"), ("\x0e", "\x1b")),
    ]


white_space_masks = intrinsic(_masks(2, _white_space))
"""ASCII white space; bytes that may begin white space of 2 or 3 bytes."""

ascii_white_space_mask = intrinsic(_mask(_ascii_white_space))
"""White space as C and Perl have it: tab to carriage return, and space."""

unicode_white_space_masks = intrinsic(_masks(2, _unicode_white_space))
"""First bytes of white space of 2 bytes; first bytes of white space of 3 bytes."""

punctuation_masks = intrinsic(_masks(5, _punctuation))
"""Symbols; full stops and commas; digits; hyphens; ampersands.

Symbols are the ASCII punctuation that 13a always sets apart: all but the
apostrophe, the full stop, the comma and the hyphen.
"""

code_point_masks = intrinsic(_masks(2, _code_points))
"""First bytes of code points; of these, ASCII letters and spaces."""

rewritten_mask = intrinsic(_mask(_rewritten))
"""Bytes where text that 13a rewrites before it splits may begin or end: < and newline."""

newline_mask = intrinsic(_mask(_newlines))
"""Newlines."""

line_masks = intrinsic(_masks(3, _lines))
"""Newlines; NULs; control characters that are no white space, NULs included."""
