"""The threads of a worker: how many cores there are, and the pool that all steps share."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar


class SharedPool:
    """A pool of threads that several steps use. It ends with the last one of them.

    Attributes:
      pool: the pool. Nothing that it runs may wait for it.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _shared: ClassVar[dict[int, SharedPool]] = {}

    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads)
        self._threads = threads
        self._users = 0

    @classmethod
    def of(cls, threads: int) -> SharedPool:
        """The pool with this number of threads, for one more user."""
        with cls._lock:
            if threads not in cls._shared:
                cls._shared[threads] = cls(threads)
            pool = cls._shared[threads]
            pool._users += 1
            return pool

    def leave(self) -> None:
        """Ends the use, without waiting: a thread may be stuck in a filesystem."""
        with self._lock:
            self._users -= 1
            if not self._users:
                del self._shared[self._threads]
                self.pool.shutdown(wait=False, cancel_futures=True)


def available_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
