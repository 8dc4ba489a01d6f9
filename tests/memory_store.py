"""obstore's store in memory, for tests in which several threads use it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import obstore
from obstore.store import MemoryStore


def store_in_memory(patch: Callable[[Any, str, Any], None]) -> MemoryStore:
    """A new store. Listings and changes of all such stores wait for each other.

    Without that, obstore can hang: `list` waits for the end of a change while it holds the lock of
    the Python interpreter, and the change needs that lock to free the bytes that it has replaced.
    No store on a server does this.

    Args:
      patch: replaces an attribute, like `setattr`.
    """
    lock = threading.RLock()
    for name in ("copy", "delete", "list", "put"):
        patch(obstore, name, _alone(lock, getattr(obstore, name)))
    return MemoryStore()


def _alone(lock: threading.RLock, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def alone(*arguments: Any, **more: Any) -> Any:
        with lock:
            return function(*arguments, **more)

    return alone
