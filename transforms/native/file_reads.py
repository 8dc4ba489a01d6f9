"""Reads of files of this machine from compiled code, which does not hold the interpreter's lock.

Python would release the lock and take it again for each part that fits into a processor's cache, so
often that threads wait for each other.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import ctypes
import functools
import io
from typing import BinaryIO

from beam_bleu.transforms.native.compiling import inner, ir, operation


def descriptor_of(file: BinaryIO) -> int | None:
    """The descriptor of a file of this machine; None if it is anything else."""
    is_local = isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO)
    return file.fileno() if is_local else None


@functools.cache
def pread_function() -> int:
    """The address of the C function `pread`."""
    address = ctypes.cast(ctypes.CDLL(None).pread, ctypes.c_void_p).value
    assert address is not None
    return address


@operation("int64", *["int64"] * 5)
def read_at(builder, function, descriptor, to, size, place):
    """Calls the C function `pread` at the address `function`; see its manual page."""
    word, number = ir.IntType(64), ir.IntType(32)
    pointer = ir.IntType(8).as_pointer()
    pread = ir.FunctionType(word, [number, pointer, word, word]).as_pointer()
    called = builder.inttoptr(function, pread)
    to = builder.inttoptr(to, pointer)
    return builder.call(called, [builder.trunc(descriptor, number), to, size, place])


@inner
def read_fully(pread, descriptor, to, size, place):
    """Reads `size` bytes of a file, from the byte `place`; whether all of them could be read."""
    read = 0
    while read < size:
        more = read_at(pread, descriptor, to + read, size - read, place + read)
        if more <= 0:
            return False
        read += more
    return True
