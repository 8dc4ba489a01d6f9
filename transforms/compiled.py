"""Compiling what Python calls, with a cache that notices every change.

numba's cache of a function notices a change of the file that the function is
in, not of what it calls in other files, and it fails where neither the package
nor the user's home can be written, as on many a cluster's workers. So the cache
is kept in a folder named after all the sources, wherever one can be
written, and where none can, each process compiles for itself.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from numba import config, njit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a function when it is first called; it holds no interpreter lock."""
    folder = _cache_folder()
    if folder is None:
        decorated: Callable[..., Any] = njit(nogil=True)(function)
        return decorated
    # numba reads this setting when it decorates; it is put back for others.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        decorated = njit(nogil=True, cache=True)(function)
    finally:
        config.CACHE_DIR = before
    return decorated


@functools.cache
def _cache_folder() -> pathlib.Path | None:
    """A folder that can be written, for this version of the compiled sources."""
    package = pathlib.Path(__file__).parent
    name = f"beam-bleu-{_digest(package)}"
    for parent in _parents(package):
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def _parents(package: pathlib.Path) -> Iterator[pathlib.Path]:
    """Where the folder may be: as the user says, beside the source, in the user's cache."""
    if config.CACHE_DIR:
        yield pathlib.Path(config.CACHE_DIR)
    yield package / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home, as in many containers
        yield pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


def _digest(package: pathlib.Path) -> str:
    # All of them, because compiled code holds constants of any of them.
    sources = b"".join(path.read_bytes() for path in sorted(package.rglob("*.py")))
    return hashlib.sha256(sources).hexdigest()[:16]
