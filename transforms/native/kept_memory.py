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

    @classmethod
    def of(cls, size: int, *, zero: bool = False) -> Memory:
        """New memory of this number of bytes; if `zero`, all of them are 0."""
        new = np.zeros(size, np.uint8) if zero else np.empty(size, np.uint8)
        return cls(new, new.ctypes.data)


class KeptMemory(threading.local):
    """Memory that each thread uses again: new pages can cost more time than the counting."""

    def __init__(self) -> None:
        self._kept: dict[str, Memory] = {}
        self._zeros: dict[str, Memory] = {}

    def memory_for(self, name: str, size: int) -> Memory:
        """At least `size` bytes with any content. The next call with the name may give the same.

        The caller keeps the object as long as it uses the memory.
        """
        return _at_least(size, self._kept, name, zero=False)

    def zeros_for(self, name: str, size: int) -> Memory:
        """At least `size` bytes, all 0. The next call with the name may give the same.

        The caller keeps the object as long as it uses the memory, and sets all bytes back to 0. It
        knows which ones it has changed, so this takes less time than clearing all of them.
        """
        return _at_least(size, self._zeros, name, zero=True)


def _at_least(size: int, kept: dict[str, Memory], name: str, *, zero: bool) -> Memory:
    memory = kept.get(name)
    if memory is None or memory.size < size:
        memory = Memory.of(size, zero=zero)
        if size <= MOST_KEPT:
            kept[name] = memory
    return memory
