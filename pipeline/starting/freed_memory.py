"""Keeps the memory that the command frees, so that it can use it again, or gives it back."""

from __future__ import annotations

import contextlib
import ctypes
import sys

# Parameters of mallopt, from glibc's malloc.h. musl and macOS have no such function.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8

_LARGEST_KEPT = 2**25
"""The largest value that each version of glibc accepts, in bytes."""

_MOST_KEPT = 2**28


def keep_freed_memory() -> None:
    """From now on, this process keeps freed memory, if its C library is glibc.

    Each batch has megabytes of columns and counts. By default, glibc often gives such memory back
    to the system, and the next batch gets new pages. The system must clear these, and on several
    threads it must tell the other cores of each change. All threads share one arena, because the
    thread that frees a batch is often not the one that makes the next one.
    """
    _call("mallopt", _ARENA_MAX, 1)
    _call("mallopt", _MMAP_THRESHOLD, _LARGEST_KEPT)
    _call("mallopt", _TRIM_THRESHOLD, _MOST_KEPT)


def give_back_freed_memory() -> None:
    """Gives freed memory back to the system, if the C library of this process is glibc.

    Call it when all batches are done, and before something else that needs much memory: a library
    with an allocator of its own cannot use what was kept for batches.
    """
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            getattr(ctypes.CDLL(None), name)(*arguments)
