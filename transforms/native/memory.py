"""What compiled code does with memory, words and files; and memory that each thread uses again.

numba would count the references to arrays with atomic operations, which took four fifths of the run
time. So the kernel's inner functions take addresses. Addresses and small numbers are int64; words,
hashes and masks are uint64. Nothing here checks bounds. Files are read here, because Python would
release its lock for each part that fits into a cache: so often that threads would wait for it.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import ctypes
import dataclasses
import functools
import io
import threading
from typing import Any, BinaryIO

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.compiling import cgutils, inner, ir, operation

BLOCK = 64
"""The number of bytes that are copied or compared at once. A mask (uint64) has a bit for each."""

READ_AHEAD = BLOCK + 8
"""The number of bytes that must be readable after the start, and after the end, of any text."""

_Builder = Any  # llvmlite is untyped
_Value = Any


def load(builder: _Builder, kind: Any, address: _Value) -> _Value:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1  # a text can start at any address
    return value


def store(builder: _Builder, value: _Value, address: _Value) -> None:
    builder.store(value, builder.inttoptr(address, value.type.as_pointer())).align = 1


def splat(builder: _Builder, value: _Value, count: int) -> _Value:
    vector = ir.VectorType(value.type, count)
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    return builder.shuffle_vector(first, undefined, lanes)


def _loading(bits: int, kind: str) -> Any:
    @operation(kind, "int64")
    def loading(builder, address):
        value = load(builder, ir.IntType(bits), address)
        return value if bits == 64 else builder.zext(value, ir.IntType(64))

    return loading


def _storing(bits: int, kind: str) -> Any:
    @operation("void", "int64", kind)
    def storing(builder, address, value):
        low = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
        store(builder, low, address)

    return storing


# Each pair reads the unsigned number with this number of bits at an address, the first byte lowest,
# as an int64 or uint64, and writes the low bits of a number there.
load_byte, store_byte = _loading(8, "int64"), _storing(8, "int64")
load_half, store_half = _loading(16, "uint64"), _storing(16, "uint64")
load_count, store_count = _loading(32, "int64"), _storing(32, "int64")
load_word, store_word = _loading(64, "uint64"), _storing(64, "uint64")


@operation("void", "int64", "int64")
def clear(builder, address, size):
    cgutils.memset(builder, builder.inttoptr(address, _bytes()), size, 0)


@operation("void", "int64")
def prefetch(builder, address):
    """Brings the bytes at an address into the cache. The address may be any number."""
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [_bytes(), number, number, number])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    to_write, in_all_caches, data = (number(value) for value in (1, 3, 1))
    builder.call(fetch, [builder.inttoptr(address, _bytes()), to_write, in_all_caches, data])


@operation("void", "int64", "int64", "int64")
def copy(builder, to, source, size):
    """Copies `size` bytes from `source` to `to`. The two must not overlap."""
    to, source = (builder.inttoptr(address, _bytes()) for address in (to, source))
    cgutils.raw_memcpy(builder, to, source, size, ir.Constant(ir.IntType(64), 1))


def _bytes() -> Any:
    return ir.IntType(8).as_pointer()


@inner
def address_of(array):
    # The address is unsigned in numba, where unsigned + signed is a float.
    return np.int64(array.ctypes.data)


@inner
def is_equal(one, other, size):
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


@operation("int64", "int64", "int64")
def load_int(builder, address, index):
    return load(builder, ir.IntType(64), _item(builder, address, index))


@operation("void", "int64", "int64", "int64")
def store_int(builder, address, index, value):
    store(builder, value, _item(builder, address, index))


def _item(builder: _Builder, address: _Value, index: _Value) -> _Value:
    return builder.add(address, builder.shl(index, ir.Constant(ir.IntType(64), 3)))


@operation("int64", "uint64")
def lowest_bit(builder, mask):
    """The index of the lowest set bit of a mask, as an int64; 64 if there is none."""
    return builder.cttz(mask, ir.Constant(ir.IntType(1), 0))


@operation("int64", "uint64")
def leading_zeros(builder, mask):
    return builder.ctlz(mask, ir.Constant(ir.IntType(1), 0))


@operation("int64", "uint64")
def count_bits(builder, mask):
    return builder.ctpop(mask)


@operation("uint64", "uint64", "uint64")
def folded_product(builder, one, other):
    """The upper half of the 128-bit product of two words, xor its lower half."""
    wide = ir.IntType(128)
    product = builder.mul(builder.zext(one, wide), builder.zext(other, wide))
    upper = builder.lshr(product, ir.Constant(wide, 64))
    return builder.trunc(builder.xor(upper, product), ir.IntType(64))


@operation("void", "int64", "int64")
def copy_block(builder, to, source):
    store(builder, load(builder, ir.VectorType(ir.IntType(8), BLOCK), source), to)


@operation("uint64", "uint64")
def clear_lowest_bit(builder, mask):
    return builder.and_(mask, builder.sub(mask, ir.Constant(ir.IntType(64), 1)))


MOST_KEPT = 2**26  # the most bytes that a thread keeps under one name


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """Memory for compiled code, uint8, and its address, which is faster to pass than the array."""

    data: Bytes
    address: int

    @property
    def size(self) -> int:
        return self.data.size


class KeptMemory(threading.local):
    """Memory that each thread uses again, because new pages take long. The caller must keep a
    `Memory` as long as compiled code uses its address.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], Memory] = {}

    def memory_for(self, name: str, size: int, *, zero: bool = False) -> Memory:
        """At least `size` bytes with any content."""
        memory = self._kept.get((name, zero))
        if memory is None or memory.size < size:
            new = np.zeros(size, np.uint8) if zero else np.empty(size, np.uint8)
            memory = Memory(new, new.ctypes.data)
            if size <= MOST_KEPT:
                self._kept[name, zero] = memory
        return memory

    def zeros_for(self, name: str, size: int) -> Memory:
        """At least `size` bytes, all 0. The caller sets those that it changes back to 0."""
        return self.memory_for(name, size, zero=True)


def descriptor_of(file: BinaryIO) -> int | None:
    is_local = isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO)
    return file.fileno() if is_local else None


@functools.cache
def pread_function() -> int:
    address = ctypes.cast(ctypes.CDLL(None).pread, ctypes.c_void_p).value
    assert address is not None
    return address


@operation("int64", *["int64"] * 5)
def read_at(builder, function, descriptor, to, size, place):
    word, number = ir.IntType(64), ir.IntType(32)
    pointer = ir.IntType(8).as_pointer()
    pread = ir.FunctionType(word, [number, pointer, word, word]).as_pointer()
    called = builder.inttoptr(function, pread)
    to = builder.inttoptr(to, pointer)
    return builder.call(called, [builder.trunc(descriptor, number), to, size, place])


@inner
def read_fully(pread, descriptor, to, size, place):
    read = 0
    while read < size:
        more = read_at(pread, descriptor, to + read, size - read, place + read)
        if more <= 0:
            return False
        read += more
    return True
