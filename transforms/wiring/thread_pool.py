"""The threads of a worker: how many cores there are, and the pool that all steps share."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor


@functools.cache
def shared_pool(threads: int) -> ThreadPoolExecutor:
    """The pool of this process with this number of threads. Nothing that it runs may wait for it.

    It stays: without work its threads only wait.
    """
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_pool.cache_clear)  # a child has no such threads


def available_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
