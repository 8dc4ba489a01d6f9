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

    By default, glibc often gives the megabytes of a batch back to the system, and the next batch
    gets new pages, which the system must clear and tell other cores about. All threads share one
    arena, because the thread that frees a batch is often not the one that makes the next one.
    """
    _call("mallopt", _ARENA_MAX, 1)
    _call("mallopt", _MMAP_THRESHOLD, _LARGEST_KEPT)
    _call("mallopt", _TRIM_THRESHOLD, _MOST_KEPT)


def give_back_freed_memory() -> None:
    """Gives freed memory back to the system, for what needs much memory after all batches."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            getattr(ctypes.CDLL(None), name)(*arguments)
