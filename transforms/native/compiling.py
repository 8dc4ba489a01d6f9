"""Compiles functions that Python calls, with a cache that is never stale and never stops a run.

The name of a file with machine code depends on everything that the code depends on. The next
process loads the file (machine_code.py) without importing numba, which would take longer than
loading all code. So modules that use these decorators must not import numba or llvmlite: `ir` and
`cgutils` here stand for their modules.
"""

from __future__ import annotations

import dataclasses
import functools
import gc
import hashlib
import importlib
import importlib.metadata
import logging
import os
import pathlib
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from beam_bleu.transforms.native.machine_code import (
    Key,
    LoadedCode,
    cache_folder,
    keep,
    kept_code,
    key_and_words,
    processor,
)
from beam_bleu.transforms.progress import COMPILING, PROGRESS

_logger = logging.getLogger("beam_bleu")


FUNCTIONS = {"loaded": 0, "compiled": 0}
"""How many compiled functions this process has, by where they came from."""

_LOCK = threading.RLock()  # held while a function is loaded or compiled


class LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


ir: Any = LazyModule("llvmlite.ir")
cgutils: Any = LazyModule("numba.core.cgutils")


class CompiledFunction:
    """A function that is loaded from the cache, or compiled, when it is called with new types."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function = function
        self.loaded: dict[Key, LoadedCode] = {}
        self._options = options

    @functools.cached_property
    def compiler(self) -> Any:
        from beam_bleu.transforms.native.emitting import dispatcher

        return dispatcher(self.function, self._options)

    @property
    def _numba_type_(self) -> Any:
        # numba asks for it if a function that it compiles uses this object.
        return self.compiler._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        key, words = key_and_words(arguments)
        code = self.loaded.get(key) or self._code(key, arguments)
        try:
            return code(words)
        except ArithmeticError as error:
            raise ArithmeticError(f"{self.function.__qualname__}: {error}") from error

    def entry(self, *arguments: Any) -> int:
        """The address of its code for arguments of the types of these; see `call`."""
        return self._code(key_and_words(arguments)[0], arguments).address

    def _code(self, key: Key, arguments: Sequence[Any]) -> LoadedCode:
        with _LOCK:
            code = self.loaded.get(key)
            if code is None:
                code = self.loaded[key] = LoadedCode(self._kept_or_compiled(key, arguments))
            return code

    def _kept_or_compiled(self, key: Key, arguments: Sequence[Any]) -> bytes:
        folder = cache_folder()
        if folder is None or "<locals>" in self.function.__qualname__:
            # A function that another one makes is not kept, because several have its name.
            return self._compile(arguments)
        path = folder / self._file_name(key)
        code = kept_code(path)
        if code is None:
            code = self._compile(arguments)
            keep(path, code)
        else:
            FUNCTIONS["loaded"] += 1
        return code

    def _compile(self, arguments: Sequence[Any]) -> bytes:
        if not FUNCTIONS["compiled"]:
            _logger.info(COMPILING)  # the log of a worker, whose progress nobody reads
        PROGRESS.tell(COMPILING)
        collects = gc.isenabled()
        # Collecting garbage takes a tenth of the time, and a compiler frees hardly any objects.
        gc.disable()
        try:
            from beam_bleu.transforms.native.emitting import machine_code, register

            while _PLAIN:
                register(*_PLAIN.pop())
            code: bytes = machine_code(self.compiler, self.function.__qualname__, arguments)
        finally:
            if collects:
                gc.enable()
            PROGRESS.tell("")
        FUNCTIONS["compiled"] += 1
        return code

    def _file_name(self, key: Key) -> str:
        module, name = self.function.__module__, self.function.__qualname__
        depends = (module, name, source_digest(module), key, processor(), _compilers())
        digest = hashlib.sha256(repr(depends).encode()).hexdigest()[:32]
        return f"{self.function.__name__}-{digest}.nbc"


@dataclasses.dataclass(eq=False)
class Operation:
    """A function that is written with llvmlite's instructions. Only compiled code calls it."""

    code: Callable[..., Any]
    result: Any
    arguments: Sequence[Any]

    @functools.cached_property
    def _numba_type_(self) -> Any:
        from beam_bleu.transforms.native.emitting import type_of_operation

        return type_of_operation(self.code, self.result, self.arguments)


def compiled(function: Callable[..., Any]) -> CompiledFunction:
    """Compiles a function at its first call. The compiled function releases the GIL, takes arrays,
    numbers and tuples of them, and returns numbers. An exception becomes an ArithmeticError.
    """
    return CompiledFunction(function)


def inner(function: Callable[..., Any], **options: Any) -> Any:
    """Makes a function that compiled code calls, with options of numba's `njit`."""
    return CompiledFunction(function, **options)


def inlined(function: Callable[..., Any]) -> Any:
    """Makes a function like `inner` whose code is copied into each place that calls it."""
    return inner(function, forceinline=True)


@dataclasses.dataclass(frozen=True)
class Vectors:
    lanes: int
    count: int = 0
    """The number of vectors in an array; 0 for a vector alone."""


def operation(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function of compiled code from the instructions that a Python function writes. That
    function takes llvmlite's builder and values, and returns a value, None for "void", or a list
    for a tuple. Types are names of numba, `Vectors`, or tuples of equal names. For None, an
    argument can have any type, and the result has that of the first argument.
    """
    return lambda code: Operation(code, result, arguments)


_PLAIN: list[tuple[Any, Callable[..., Any]]] = []
"""Functions that numba does not know yet, and what compiled code calls in place of them."""


def callable_by_compiled(function: Any, instead: Callable[..., Any] | None = None) -> None:
    """Lets compiled code call a function that Python runs as before, or another one instead."""
    _PLAIN.append((function, instead or function))


_IMPORT = re.compile(r"^from (beam_bleu[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@functools.cache
def _source(module: str) -> tuple[str, tuple[str, ...]]:
    file = getattr(sys.modules[module], "__file__", None)
    source = pathlib.Path(file).read_text(encoding="utf-8") if file else ""
    imported = [
        name
        for package, names in _IMPORT.findall(source)
        for name in (package, *(f"{package}.{word}" for word in re.findall(r"\w+", names)))
    ]
    digest = hashlib.sha256(source.encode()).hexdigest()
    return digest, tuple(name for name in imported if name in sys.modules)


def source_digest(module: str) -> str:
    """A digest of the sources of a module and of all modules of beam-bleu that it needs."""
    waiting, digests = [module], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name not in digests:
            digests[name], imported = _source(name)
            waiting += imported
    return hashlib.sha256(repr(sorted(digests.items())).encode()).hexdigest()


@functools.cache
def _compilers() -> tuple[object, ...]:
    versions = tuple(importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy"))
    ours = pathlib.Path(__file__).with_name("emitting.py").read_bytes()
    settings = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR"
    )
    python = sys.implementation.cache_tag
    return (python, versions, hashlib.sha256(ours).hexdigest(), settings)


@operation("int64", "int64", None)
def call(builder: Any, entry: Any, arguments: Any) -> Any:
    """Calls a compiled function at the address from its `entry`, so that runs that do not need it
    neither load nor compile it. It takes a tuple of numbers of 64 bits and of such tuples, returns
    an int64, and raises nothing.
    """
    word = ir.IntType(64)
    words = list(_words(builder, arguments))
    memory = cgutils.alloca_once(builder, word, size=len(words) + 1)
    places = [builder.gep(memory, [word(index)]) for index in range(len(words) + 1)]
    for value, place in zip(words, places, strict=False):
        builder.store(value, place)
    function = ir.FunctionType(ir.IntType(32), [word.as_pointer()])
    builder.call(builder.inttoptr(entry, function.as_pointer()), [memory])
    return builder.load(places[-1])


def _words(builder: Any, value: Any) -> Iterator[Any]:
    if isinstance(value.type, ir.IntType):
        yield value
    else:
        for index in range(len(value.type)):
            yield from _words(builder, builder.extract_value(value, index))
