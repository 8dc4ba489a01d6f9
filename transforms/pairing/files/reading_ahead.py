"""Reads ahead: a thread makes the next pieces of a text while the caller uses those before."""

from __future__ import annotations

import collections
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor

_AHEAD = 2
"""How many pieces are made ahead."""


def read_ahead(pieces: Generator[bytes, None, None], threads: int) -> Generator[bytes, None, None]:
    """Gives the same pieces, and raises the same errors at the same place.

    If it is closed, so are the pieces. It does not wait for this, because the thread may be stuck
    in a filesystem when the job is stopped. The thread ends after the piece in work.

    Args:
      pieces: the pieces. They are made on a thread of their own.
      threads: how many threads a worker may use. If it is one, nothing is read ahead.
    """
    if threads == 1:
        yield from pieces
        return
    pool = ThreadPoolExecutor(1)
    waiting: collections.deque[Future[bytes | None]] = collections.deque()
    try:
        for _ in range(_AHEAD):
            waiting.append(pool.submit(next, pieces, None))
        while (piece := waiting.popleft().result()) is not None:
            waiting.append(pool.submit(next, pieces, None))
            yield piece
    finally:
        for each in waiting:
            each.cancel()
        pool.submit(pieces.close)
        pool.shutdown(wait=False)
