"""Memory that each thread uses again."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes

MOST_KEPT = 2**26
"""The most bytes that are kept for one name."""


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """Memory for compiled code. It is freed with the object.

    Attributes:
      data: uint8 (size,), with any content.
      address: its address. Compiled code gets a number in less time than an array.
    """

    data: Bytes
    address: int

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.data.size


class KeptMemory(threading.local):
    """Memory that each thread uses again: new pages can cost more time than the counting.

    The caller keeps a `Memory` as long as it uses it. The next call may give the same one.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], Memory] = {}

    def memory_for(self, name: str, size: int, *, zero: bool = False) -> Memory:
        """At least `size` bytes with any content."""
        memory = self._kept.get((name, zero))
        if memory is None or memory.size < size:
            new = np.zeros(size, np.uint8) if zero else np.empty(size, np.uint8)
            memory = Memory(new, new.ctypes.data)
            if size <= MOST_KEPT:
                self._kept[name, zero] = memory
        return memory

    def zeros_for(self, name: str, size: int) -> Memory:
        """At least `size` bytes, all 0. The caller sets those that it changes back to 0."""
        return self.memory_for(name, size, zero=True)
