"""Memory that each thread uses again."""

from __future__ import annotations

import threading

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes

MOST_KEPT = 2**26
"""The most bytes that are kept for one name."""


class KeptMemory(threading.local):
    """Memory that each thread uses again, because new pages can cost more than what is counted."""

    def __init__(self) -> None:
        self._kept: dict[str, Bytes] = {}

    def bytes_for(self, name: str, size: int) -> Bytes:
        """At least `size` bytes with any content. The next call with the name may give the same."""
        memory = self._kept.get(name)
        if memory is None or memory.size < size:
            memory = np.empty(size, np.uint8)
            if size <= MOST_KEPT:
                self._kept[name] = memory
        return memory
