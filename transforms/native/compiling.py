"""Compiling what Python calls, with a cache that is never stale, and never in the way.

numba's own cache of a function notices a change of the file that the function is in,
not of what it calls in other files; it believes what its files hold; and an error of
the disk is an error of the job. So this module has its own: a folder named after all
the sources (cache_folder.py), and in it a file for each function and its types. A file
begins with the SHA-256 of its name and the rest. One that is damaged, or was another
file, is not unpickled: the function is compiled again, and the file replaced. Where no
file can be kept, each process compiles for itself.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import pathlib
import pickle
import stat
import sysconfig
import uuid
from collections.abc import Callable
from typing import Any

import llvmlite
import numba
from numba import njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from beam_bleu.transforms.native.cache_folder import (
    CacheFolder,
    cache_folder,
    reason,
    require_trusted,
)

_logger = logging.getLogger("beam_bleu")

_DIGEST_BYTES = 32

# A link is not followed, and a pipe must not make it wait.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a function when it is first called; it holds no interpreter lock."""
    decorated: Any = njit(nogil=True)(function)
    decorated._cache = _Cache(function, cache_folder())  # as njit(cache=True) sets numba's own
    return decorated  # type: ignore[no-any-return]


class _Cache(NullCache):  # type: ignore[misc]  # numba is untyped
    """The cache of one function, as numba calls it."""

    _warned = False
    """Whether this process has warned: every function meets the same trouble."""

    _unwritable = False

    def __init__(self, function: Callable[..., Any], folder: CacheFolder) -> None:
        self._function = function
        self._folder = folder

    @property
    def cache_path(self) -> str | None:
        """Where numba says that the function is kept."""
        return None if self._folder.path is None else str(self._folder.path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for arguments of these types; None if it must be compiled."""
        target_context.refresh()  # as numba does before it loads
        if self._folder.warning:
            self._warn(self._folder.warning)
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        try:
            kept = _read(path)
            if kept is None:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(kept))
        except Exception as error:  # what was kept may raise any when it is rebuilt
            self._warn(
                f"compiled code cannot be read: {path}: {reason(error)}; "
                "it is compiled again, which takes a few seconds"
            )
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps the compiled function, if it can be kept."""
        path = self._path(sig, data.codegen)
        # What numba's own cache refuses: code that holds addresses of this process.
        if path is None or self._unwritable or data.lifted or data.library.has_dynamic_globals:
            return
        kept = dumps(data._reduce())
        try:
            _write(path, kept)
        except OSError as error:
            _Cache._unwritable = True  # by the other functions neither
            self._warn(
                f"compiled code cannot be kept: {path}: {reason(error)}; "
                "the next start compiles again, which takes a few seconds"
            )

    def _path(self, sig: Any, codegen: Any) -> pathlib.Path | None:
        if self._folder.path is None:
            return None
        # Machine code depends on the types, the processor and the compilers; what is
        # pickled beside it on Python.
        key = (
            self._function.__module__,
            self._function.__qualname__,
            self._function.__code__.co_code,
            sig,
            codegen.magic_tuple(),
            numba.__version__,
            llvmlite.__version__,
            sysconfig.get_config_var("SOABI"),
        )
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        return self._folder.path / f"{self._function.__name__.strip('<>')}-{digest}.nbc"

    @staticmethod
    def _warn(message: str) -> None:
        if not _Cache._warned:
            _Cache._warned = True
            _logger.warning(message)


def _read(path: pathlib.Path) -> bytes | None:
    """What a file keeps; None if it is missing.

    Raises:
      OSError: it cannot be read, it is damaged, or others can write it.
    """
    try:
        descriptor = os.open(path, _READING)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError("it is a link") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError("it is not a file")
        require_trusted(state, "it")
        content = file.read()
    digest, kept = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if _digest(path, kept) != digest:
        raise OSError("it is damaged")
    return kept


def _digest(path: pathlib.Path, kept: bytes) -> bytes:
    # With the name: the code of another function would be loaded, and fail when it is called.
    return hashlib.sha256(path.name.encode() + b"\0" + kept).digest()


def _write(path: pathlib.Path, kept: bytes) -> None:
    """Writes a file; readers see it as a whole or not at all.

    Raises:
      OSError: it cannot be written.
    """
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_digest(path, kept))
            file.write(kept)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
