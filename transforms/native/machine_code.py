"""Machine code of a function: how it is called from Python, without numba.

A function has one entry, a C function `int32 ENTRY(int64 *words)`. The words are those of its
arguments, and then those of its result. A number is one word. An array is the members of numba's
model of it: two that are not used here, its size, that of its items, its address, its shape and its
strides. A tuple is its items. The entry returns 0, or the status of an exception.
"""

from __future__ import annotations

import array
import ctypes
import functools
import os
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import binding

from beam_bleu.transforms.errors import UsageError

ENTRY = "beam_bleu_entry"
_CALLED = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)  # it releases the GIL
_DATA = object.__basicsize__
"""Where a numpy array has the address of its data, by numpy's C interface (`PyArrayObject`).

What numpy offers in Python, such as `__array_interface__`, takes several times as long.
"""

_word_at = ctypes.c_int64.from_address
_DOUBLE = struct.Struct("=d")
_WORD = struct.Struct("=q")


class LoadedCode:
    """Machine code in the memory of this process. It can be called on several threads at once.

    Args:
      code: a line with the words of the result, as a format of `struct`, and an object file with
        the C function.
    """

    def __init__(self, code: bytes) -> None:
        # An engine for each function, because two object files can use one name for two things.
        _initialize()
        result, _, object_file = code.partition(b"\n")
        module = binding.parse_assembly("")
        machine = binding.Target.from_default_triple().create_target_machine()
        self._engine = binding.create_mcjit_compiler(module, machine)  # it owns the memory
        self._engine.add_object_file(binding.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(ENTRY)
        self._call = _CALLED(self.address)
        self._result = struct.Struct(result.decode())
        self._room = [0] * (self._result.size // 8)

    def __call__(self, words: Sequence[int]) -> Any:
        """Calls the function with the words of arguments, which must live until it returns."""
        memory = array.array("q", [*words, *self._room])
        status = self._call(memory.buffer_info()[0])
        if status:
            raise ArithmeticError(f"compiled code ended with the status {status}")
        values = self._result.unpack_from(memory, len(words) * 8)
        if len(values) > 1:
            return values
        return values[0] if values else None


Key = tuple[Any, ...]
"""The types of arguments. Arguments with equal keys use the same code."""

# Of the flags of a numpy array: those that tell types apart, and whether it is contiguous in each
# order. One that is both counts as contiguous in the order of C.
_C_ORDER, _FORTRAN_ORDER = 0x1, 0x2
_TYPE_FLAGS = _C_ORDER | _FORTRAN_ORDER | 0x100 | 0x400  # aligned, writeable


def key_and_words(arguments: Sequence[Any]) -> tuple[Key, list[int]]:
    """(the types of arguments, the words of the arguments).

    Raises:
      TypeError: compiled code cannot take an argument.
    """
    key: list[Any] = []
    words: list[int] = []
    for argument in arguments:
        if type(argument) is int and -(2**63) <= argument < 2**63:
            key.append(int)
            words.append(argument)
        elif isinstance(argument, np.ndarray):
            flags = argument.flags.num & _TYPE_FLAGS
            if flags & _C_ORDER:
                flags &= ~_FORTRAN_ORDER
            key.append((argument.dtype, argument.ndim, flags))
            data = _word_at(id(argument) + _DATA).value
            words += (0, 0, argument.size, argument.itemsize, data)
            words += argument.shape
            words += argument.strides
        elif isinstance(argument, tuple):
            of_items, items = key_and_words(argument)
            key.append(of_items)
            words += items
        elif isinstance(argument, float):  # also np.float64
            key.append(float)
            words += _WORD.unpack(_DOUBLE.pack(argument))
        elif isinstance(argument, bool | np.bool_ | np.integer):
            key.append(type(argument))
            words.append((int(argument) + 2**63) % 2**64 - 2**63)
        elif type(argument) is int and 0 <= argument < 2**64:
            key.append(np.uint64)
            words.append(argument - 2**64)
        else:
            raise TypeError(f"compiled code cannot be called with {type(argument).__name__}")
    return tuple(key), words


@functools.cache
def processor() -> tuple[str, str, str]:
    """The system, the processor and its instructions, on which machine code depends.

    They are those of this machine, unless numba's variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES
    are both set, as in an image whose code is to run on many kinds of machines.

    Raises:
      UsageError: this machine lacks an instruction that the variables allow.
    """
    here = binding.get_host_cpu_features()
    name, features = (os.environ.get(f"NUMBA_CPU_{word}") for word in ("NAME", "FEATURES"))
    if not name or not features:
        return (binding.get_process_triple(), binding.get_host_cpu_name(), here.flatten())
    allowed = [word[1:] for word in features.split(",") if word.startswith("+")]
    missing = [feature for feature in allowed if not here.get(feature)]
    if missing:
        # Running such code would end the process without a message.
        raise UsageError(
            f"the processor of this machine lacks {', '.join(missing)}, and NUMBA_CPU_FEATURES "
            "lets compiled code use it",
            "run on a newer machine, or unset NUMBA_CPU_NAME and NUMBA_CPU_FEATURES",
        )
    return (binding.get_process_triple(), name, features)


@functools.cache
def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
