"""Calls of obstore that a signal can interrupt.

While obstore waits for a server, Python handles no signal in this thread: up to a minute. Only
calls that read are made like this, because a call that is interrupted goes on in the background.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

__all__ = ["interruptible"]


def interruptible(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The result of a call. In the main thread, which gets the signals, another thread makes it."""
    if threading.current_thread() is not threading.main_thread():
        return call(*arguments, **named)
    answer: Future[Any] = Future()

    def answering() -> None:
        try:
            answer.set_result(call(*arguments, **named))
        except BaseException as error:
            answer.set_exception(error)

    # Not a pool, for whose threads Python would wait at its end.
    threading.Thread(target=answering, name="beam-bleu object store", daemon=True).start()
    return answer.result()
