"""Calls the machine code of a function from Python without numba, and keeps it in files.

A function has one entry, a C function `int32 ENTRY(int64 *words)`, with the words of its arguments,
and then those of its result. A number is one word. An array is the members of numba's model of it:
two that are not used here, its size, that of its items, its address, its shape and its strides. A
tuple is its items. The entry returns 0, or the status of an exception.

To load compiled code is to trust it. So a folder or a file is used only if it belongs to this user
or to root, and no other user can write to it. A file begins with the SHA-256 of its name and its
content, so a damaged or renamed one is never used.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import functools
import hashlib
import logging
import os
import pathlib
import stat
import struct
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import binding

from beam_bleu.transforms.errors import UsageError

ENTRY = "beam_bleu_entry"
_CALLED = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)  # it releases the GIL
_DATA = object.__basicsize__
"""Where a numpy array has the address of its data, by numpy's C interface (`PyArrayObject`). What
numpy offers in Python, such as `__array_interface__`, takes several times as long."""

_word_at = ctypes.c_int64.from_address
_DOUBLE = struct.Struct("=d")
_WORD = struct.Struct("=q")


class LoadedCode:
    """Machine code in the memory of this process, for any thread. `code` is a line with the format
    of the result's words, as for `struct`, and an object file with the C function.
    """

    def __init__(self, code: bytes) -> None:
        # One engine per function, because two object files can use one name for different things.
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
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


Key = tuple[Any, ...]  # The types of arguments. Arguments with equal keys use the same code.

# Of the flags of a numpy array: those that tell types apart, and whether it is contiguous in each
# order. One that is both counts as contiguous in the order of C.
_C_ORDER, _FORTRAN_ORDER = 0x1, 0x2
_TYPE_FLAGS = _C_ORDER | _FORTRAN_ORDER | 0x100 | 0x400  # aligned, writeable


def key_and_words(arguments: Sequence[Any]) -> tuple[Key, list[int]]:
    """The types of arguments, and their words; a TypeError if compiled code cannot take one."""
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
    """The system, the processor and its instructions: those of this machine, or, for an image whose
    code runs on many machines, those of NUMBA_CPU_NAME and NUMBA_CPU_FEATURES.
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
def cache_folder() -> pathlib.Path | None:
    """The first folder that can be written, or else read; None, with a warning, if none can."""
    readable: list[pathlib.Path] = []
    refused: list[str] = []
    for parent in _parents():
        folder = parent / "beam-bleu-kernel"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o755, exist_ok=True)
            _require_trusted(folder.stat(), folder)
        except OSError as error:
            refused.append(f"{parent}: {error.strerror or error}")
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        readable.append(folder)
    if not readable:
        _warn_once(
            "compiled code cannot be kept, so every start compiles, which takes a few seconds: "
            f"set NUMBA_CACHE_DIR to a folder that only you can write ({'; '.join(refused)})"
        )
    return readable[0] if readable else None


def _parents() -> Iterator[pathlib.Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield pathlib.Path(chosen)
        return
    yield pathlib.Path(__file__).parent.parent / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home, as in many containers
        yield pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


def _require_trusted(state: os.stat_result, path: str | os.PathLike[str]) -> None:
    if os.name != "posix":
        return  # other systems have no such owners and bits
    if state.st_uid not in (os.geteuid(), 0):
        raise PermissionError(f"{path} belongs to another user")
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"other users can write {path}")


_warnings: list[str] = []


def _warn_once(message: str) -> None:
    # Otherwise every function would give the same warning.
    if not _warnings:
        _warnings.append(message)
        logging.getLogger("beam_bleu").warning(message)


_DIGEST_BYTES = 32


def _digest(path: pathlib.Path, code: bytes) -> bytes:
    # With the name, because the code of another function could be loaded otherwise, and fail later.
    return hashlib.sha256(path.name.encode() + b"\0" + code).digest()


def keep(path: pathlib.Path, code: bytes) -> None:
    """Keeps code in a file if possible. Readers see either the whole file or no file."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_digest(path, code) + code)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        _warn_once(
            f"compiled code cannot be kept: {path}: {error.strerror or error}; "
            "the next start compiles again, which takes a few seconds"
        )


def kept_code(path: pathlib.Path) -> bytes | None:
    """The code in a file; None if it is missing, damaged or not to be trusted."""
    try:
        with path.open("rb") as file:
            _require_trusted(os.fstat(file.fileno()), "it")
            content = file.read()
        code = content[_DIGEST_BYTES:]
        if _digest(path, code) != content[:_DIGEST_BYTES]:
            raise OSError("it is damaged")
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(
            f"compiled code cannot be read: {path}: {error.strerror or error}; "
            "it is compiled again, which takes a few seconds"
        )
        return None
    return code
