"""Reads the text of a file part by part, into memory that is used again for the next part."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

import numpy as np

from beam_bleu.transforms.native.memory import READ_AHEAD
from beam_bleu.transforms.native.utf8 import LOOK_BACK
from beam_bleu.transforms.pairing.files.chunks import (
    BYTE_ORDER_MARK,
    Open,
    Unread,
    read_chunks,
    read_range,
)
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream, compression

PART = 1 << 19
"""The usual bytes of a part: few enough to stay in the processor's cache until they are used."""


class PartMemory:
    """Memory for one part at a time.

    It also has bytes before the part, which are the last ones of the part before it, and bytes
    after the part, so that compiled code can read whole blocks.

    Args:
      part_bytes: the largest size of a part, 3 or more.

    Attributes:
      text: the memory.
      array: the same memory, uint8.
      begin: where the next byte of the part is.
      end: where the part ends.
      unread: the text that comes after the part.
    """

    def __init__(self, part_bytes: int = PART) -> None:
        self.text = bytearray(LOOK_BACK + part_bytes + READ_AHEAD)
        self.array = np.frombuffer(self.text, np.uint8)
        self.begin = self.end = LOOK_BACK
        self._space = memoryview(self.text)[LOOK_BACK : LOOK_BACK + part_bytes]
        self.forget()

    def forget(self) -> None:
        """Ends the text. What follows does not belong to it."""
        self.unread = Unread(0, 0)
        self.begin = self.end = LOOK_BACK
        self.text[:LOOK_BACK] = b"\n" * LOOK_BACK

    def put(self, text: bytes | memoryview) -> None:
        """Makes a short text the next part."""
        self._keep_last()
        self._space[: len(text)] = text
        self.end = LOOK_BACK + len(text)

    def read(self, file: io.BufferedIOBase, most: int) -> int:
        """Reads the next part from a file. Returns its size: less than `most` at the file's end.

        Args:
          file: the file.
          most: the bytes to read, at most those of a part.
        """
        self._keep_last()
        size = 0
        # A single read may return less.
        while size < most and (more := file.readinto(self._space[size:most])):
            size += more
        self.end = LOOK_BACK + size
        return size

    @property
    def part_bytes(self) -> int:
        """The largest size of a part."""
        return len(self._space)

    def _keep_last(self) -> None:
        self.text[:LOOK_BACK] = self.text[self.end - LOOK_BACK : self.end]
        self.begin = LOOK_BACK


def put_parts(chunks: Iterable[bytes], memory: PartMemory) -> Iterator[None]:
    """Copies chunks of a text into the memory, part by part."""
    most = memory.part_bytes
    for chunk in chunks:
        for at in range(0, len(chunk), most):
            memory.put(memoryview(chunk)[at : at + most])
            yield


def read_parts(
    stream: Stream, found: FoundFile, start: int, stop: int, open_file: Open, memory: PartMemory
) -> Iterator[None]:
    """Reads the bytes start <= i < stop of a file into the memory, part by part.

    A byte order mark at the start of the file is left out. A compressed file is read as a whole,
    and the bytes that are read are added to the progress of the run. Of other files the caller
    must add the bytes that it uses.

    If the file is on this machine, the caller can read further parts itself, from the descriptor of
    `memory.unread`.

    Raises:
      InputError: the file cannot be read, is truncated, or has changed.
    """
    memory.forget()
    most = memory.part_bytes
    if compression(found.path):
        yield from put_parts(read_chunks(stream, found, most, open_file), memory)
        return

    def read(file: BinaryIO, size: int) -> int:
        return memory.read(cast(io.BufferedIOBase, file), size)

    memory.unread = Unread(start, stop)
    is_first = start == 0
    for _ in read_range(stream, found, memory.unread, most, open_file, read):
        if is_first and memory.text.startswith(BYTE_ORDER_MARK, memory.begin, memory.end):
            memory.begin += len(BYTE_ORDER_MARK)
        is_first = False
        if memory.begin < memory.end:
            yield
