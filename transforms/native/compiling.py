"""Compiles functions that Python calls, with a cache that is never stale and never stops a run.

numba and LLVM compile a function to machine code that needs nothing of numba (front_end.py,
emitting.py). The code is kept in a file. The next process loads it from there (machine_code.py),
and does not import numba: that would take longer than loading all code. So the modules that use
these decorators must not import numba or llvmlite themselves: `types`, `ir` and `cgutils` here
stand for their modules.

The cache is a folder (cache_folder.py) with a file for each function and its types,
whose name depends on all that the code depends on (code_contents.py). If the code in a file cannot
be loaded, the function is compiled again, and the file is replaced. If no file can be written, each
process compiles for itself.
"""

from __future__ import annotations

import dataclasses
import functools
import gc
import hashlib
import importlib.metadata
import logging
import os
import pathlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from beam_bleu.transforms.native.cache_folder import (
    cache_folder,
    keep,
    kept_code,
    reason,
    warn_once,
)
from beam_bleu.transforms.native.code_contents import (
    ForCompiledCode,
    LazyModule,
    contents_digest,
)
from beam_bleu.transforms.native.machine_code import (
    LoadedCode,
    MachineCode,
    key_and_words,
    kind_of,
    processor,
)
from beam_bleu.transforms.progress import COMPILING, PROGRESS

_logger = logging.getLogger("beam_bleu")


@dataclasses.dataclass
class CompiledFunctions:
    """How many compiled functions this process has, and where they came from. Mutable.

    Attributes:
      loaded: those from the cache.
      compiled: those that this process compiled.
    """

    loaded: int = 0
    compiled: int = 0


FUNCTIONS = CompiledFunctions()
"""The functions of this process. They change on one thread at a time."""

_NATIVE = pathlib.Path(__file__).parent

_LOCK = threading.RLock()
"""Held while a function is loaded or compiled."""


types: Any = LazyModule("numba.types")
ir: Any = LazyModule("llvmlite.ir")
cgutils: Any = LazyModule("numba.core.cgutils")


class CompiledFunction(ForCompiledCode):
    """A function that Python or compiled code calls.

    Attributes:
      loaded: its code for each tuple of types with which Python called it (see `kind_of`).
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, options)
        self._folder = cache_folder()
        self.loaded: dict[tuple[str, ...], LoadedCode] = {}
        # The same code by keys that are quickly made (see `key_and_words`).
        self._codes: dict[tuple[Any, ...], LoadedCode] = {}

    @functools.cached_property
    def compiler(self) -> Any:
        """What numba compiles it with."""
        from beam_bleu.transforms.native.emitting import dispatcher

        return dispatcher(self.function, self.options)

    @property
    def _numba_type_(self) -> Any:
        """Numba asks for this attribute if a function that it compiles uses this object."""
        return self.compiler._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Runs the compiled code, without the GIL."""
        key, words = key_and_words(arguments)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = self._code(tuple(map(kind_of, arguments)), arguments)
        try:
            return code(words)
        except ArithmeticError as error:
            raise ArithmeticError(f"{self.function.__qualname__}: {error}") from error

    def entry(self, *arguments: Any) -> int:
        """The address of its code for arguments of the types of these; see `call`."""
        return self._code(tuple(map(kind_of, arguments)), arguments).address

    def _code(self, kinds: tuple[str, ...], arguments: Sequence[Any]) -> LoadedCode:
        with _LOCK:
            code = self.loaded.get(kinds)
            if code is None:
                code = self.loaded[kinds] = self.load(kinds, arguments)
            return code

    def load(self, kinds: tuple[str, ...], arguments: Sequence[Any]) -> LoadedCode:
        """The code for arguments of these types: from the cache, or compiled."""
        if self._folder.warning:
            warn_once(self._folder.warning)
        path = self._path(kinds)
        if path is not None:
            try:
                kept = kept_code(path)
                if kept is not None:
                    code = LoadedCode(MachineCode.from_bytes(kept))
                    FUNCTIONS.loaded += 1
                    return code
            except Exception as error:  # loading the code may raise any exception
                warn_once(
                    f"compiled code cannot be read: {path}: {reason(error)}; "
                    "it is compiled again, which takes a few seconds"
                )
        return self._compile(path, arguments)

    def _compile(self, path: pathlib.Path | None, arguments: Sequence[Any]) -> LoadedCode:
        """Compiles the function, and keeps its code if it can be kept."""
        if not FUNCTIONS.compiled:
            _logger.info(COMPILING)  # the log of a worker, whose progress nobody reads
        PROGRESS.tell(COMPILING)
        collects = gc.isenabled()
        # A tenth of the time: a compiler makes many objects, and they live until it is done.
        gc.disable()
        try:
            from beam_bleu.transforms.native.emitting import machine_code, register

            while _PLAIN:
                register(_PLAIN.pop())
            code = machine_code(self.compiler, self.function.__qualname__, arguments)
        finally:
            if collects:
                gc.enable()
            PROGRESS.tell("")
        FUNCTIONS.compiled += 1
        if path is not None:
            keep(path, code.to_bytes())
        return LoadedCode(code)

    def _path(self, kinds: tuple[str, ...]) -> pathlib.Path | None:
        if self._folder.path is None:
            return None
        # Machine code depends on the function and all that it uses, the types, the processor, the
        # compilers and their settings.
        key = (contents_digest(self), kinds, processor(), _compilers())
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        return self._folder.path / f"{self.function.__name__.strip('<>')}-{digest}.nbc"


class Intrinsic(ForCompiledCode):
    """A function whose code is made with llvmlite. Only compiled code calls it."""

    def __init__(self, definition: Callable[..., Any]) -> None:
        super().__init__(definition, {})

    @functools.cached_property
    def _numba_type_(self) -> Any:
        from beam_bleu.transforms.native.emitting import type_of_intrinsic

        return type_of_intrinsic(self.function)


def compiled(function: Callable[..., Any]) -> CompiledFunction:
    """Compiles a function at its first call. The compiled function releases the GIL.

    Its arguments are arrays, numbers and tuples of them; it returns nothing, a number or a tuple
    of numbers. The function cannot make arrays. If it raises an exception, the caller gets an
    ArithmeticError.
    """
    return CompiledFunction(function)


def inner(function: Callable[..., Any], **options: Any) -> Any:
    """Makes a function that compiled code calls. Tests can call it from Python, too.

    Args:
      function: the function.
      options: of numba's `njit`.
    """
    return CompiledFunction(function, **options)


def inlined(function: Callable[..., Any]) -> Any:
    """Makes a function like `inner` whose code is copied into each place that calls it."""
    return inner(function, forceinline=True)


def intrinsic(definition: Callable[..., Any]) -> Any:
    """Makes a function from its types and its code, like numba's `intrinsic`."""
    return Intrinsic(definition)


_PLAIN: list[Any] = []
"""Functions that numba does not know yet."""


def callable_by_compiled(function: Any, instead: Callable[..., Any] | None = None) -> None:
    """Lets compiled code call a function that Python runs as before.

    Args:
      function: the function.
      instead: what compiled code calls in its place. None for the function itself.
    """
    function.instead = instead
    _PLAIN.append(function)


@functools.cache
def _compilers() -> tuple[object, ...]:
    """The compilers, ours among them, and what the user has set for them."""
    versions = tuple(importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy"))
    ours = [
        (_NATIVE / f"{name}.py").read_bytes() for name in ("emitting", "front_end", "machine_code")
    ]
    settings = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR"
    )
    return (versions, hashlib.sha256(b"".join(ours)).hexdigest(), settings)


@intrinsic
def call(typingctx: Any, entry: Any, arguments: Any) -> Any:
    """Compiled code that calls a compiled function by the address of its entry.

    A function that others call by name is a part of their code, and is compiled with them. A large
    one that most runs do not need can have an entry of its own instead: Python loads or compiles it
    when a run first needs it (`CompiledFunction.entry`), and gives its address to the code that
    calls it.

    The function returns an int64, and must not raise an exception. The arguments are a tuple of
    numbers of 64 bits and of such tuples.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        words = list(_words(builder, signature.args[1], args[1]))
        memory = cgutils.alloca_once(builder, word, size=len(words) + 1)
        places = [builder.gep(memory, [word(index)]) for index in range(len(words) + 1)]
        for value, place in zip(words, places, strict=False):
            builder.store(value, place)
        function = ir.FunctionType(ir.IntType(32), [word.as_pointer()])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), [memory])
        return builder.load(places[-1])

    return types.int64(types.int64, arguments), codegen


def _words(builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """The words of an argument (see machine_code.py)."""
    if isinstance(kind, types.BaseTuple):
        for index, item in enumerate(kind):
            yield from _words(builder, item, builder.extract_value(value, index))
    elif isinstance(kind, types.Integer) and kind.bitwidth == 64:
        yield value
    else:
        raise TypeError(f"compiled code cannot call an entry with {kind}")
