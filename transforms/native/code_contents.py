"""What the machine code of a function depends on: its bytecode, and all that its names stand for.

A digest of this is part of the key under which code is kept (compiling.py). So a change of a
function, of a constant or of a function that it calls gives another key, wherever that is defined,
and a change of a comment, a docstring or of other functions does not.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

_COMPILERS = ("numpy", "numba", "llvmlite")
"""The packages whose functions are known by their names. Their versions are part of the key."""


class ForCompiledCode:
    """A function for compiled code.

    Args:
      function: what Python source defines.
      options: how it is compiled.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.function = function
        self.options = options


class LazyModule:
    """A module that is imported when one of its names is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)

    def __repr__(self) -> str:
        return self._name


def contents_digest(root: ForCompiledCode) -> str:
    """A digest of all that the machine code of a function depends on, but for the compilers.

    Raises:
      TypeError: one of its names stands for something that this module cannot describe.
    """
    waiting = [root.function]
    digests: dict[Callable[..., Any], str] = {}
    while waiting:
        function = waiting.pop()
        if function not in digests:
            own = _own(function)
            digests[function] = own.digest
            waiting += own.references
    described = repr((root.options, digests[root.function], sorted(digests.values())))
    return hashlib.sha256(described.encode()).hexdigest()


class _Own:
    """What a function is by itself, and the functions that it calls.

    Attributes:
      references: these functions.
      digest: of its bytecode and its constants, and of the names of `references`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.references: list[Callable[..., Any]] = []
        described = repr((_name(function), list(self._described_function(function))))
        self.digest = hashlib.sha256(described.encode()).hexdigest()

    def _described_function(self, function: Any) -> Iterator[object]:
        yield from self._described_code(function.__code__, function.__doc__)
        names = dict.fromkeys(_names(function.__code__))
        yield from self._described_names(names, function.__globals__)
        for cell in function.__closure__ or ():
            yield self._described(cell.cell_contents)
        yield self._described((function.__defaults__, function.__kwdefaults__))
        yield self._described(getattr(function, "instead", None))  # see `callable_by_compiled`

    def _described_names(self, names: Iterable[str], of: dict[str, Any]) -> Iterator[object]:
        for name in names:
            value = of.get(name)
            if isinstance(value, types.ModuleType) and value.__name__.startswith("beam_bleu."):
                yield name, list(self._described_names(names, vars(value)))
            elif name in of:
                yield name, self._described(value)

    def _described_code(self, code: types.CodeType, doc: object) -> Iterator[object]:
        yield code.co_code, code.co_flags, code.co_argcount, code.co_kwonlyargcount
        yield code.co_names, code.co_freevars, getattr(code, "co_exceptiontable", b"")
        for index, constant in enumerate(code.co_consts):
            if isinstance(constant, types.CodeType):
                yield list(self._described_code(constant, None))
            elif index or doc is None or constant != doc:
                yield self._described(constant)

    def _described(self, value: Any) -> object:
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return type(value).__name__, str(value)
        if isinstance(value, tuple | list):
            return type(value).__name__, [self._described(item) for item in value]
        if isinstance(value, set | frozenset):
            return "set", sorted(repr(self._described(item)) for item in value)
        if isinstance(value, dict):
            return "dict", [(self._described(k), self._described(v)) for k, v in value.items()]
        if isinstance(value, np.ndarray | np.generic):
            return value.dtype.str, value.shape, value.tobytes()
        if isinstance(value, LazyModule):
            return "module", repr(value)
        if isinstance(value, ForCompiledCode):
            return "compiled", sorted(value.options.items()), self._described(value.function)
        if isinstance(value, types.FunctionType) and not _is_of_compilers(value):
            if "<" in value.__qualname__:  # another function made it, and others of this name
                return "made", list(self._described_function(value))
            self.references.append(value)
            return "function", _name(value)
        if isinstance(value, types.ModuleType):
            return "module", value.__name__
        if isinstance(value, type | types.BuiltinFunctionType) or _is_of_compilers(value):
            return "known by its name", _name(value)
        raise TypeError(f"the key of compiled code cannot describe {value!r}")


@functools.cache
def _own(function: Callable[..., Any]) -> _Own:
    return _Own(function)


def _name(function: Any) -> tuple[str, str]:
    return str(getattr(function, "__module__", "")), function.__qualname__


def _is_of_compilers(value: Any) -> bool:
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0] in _COMPILERS


def _names(code: types.CodeType) -> Iterator[str]:
    """The names in code and in the functions that it makes: of globals, and of attributes."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
