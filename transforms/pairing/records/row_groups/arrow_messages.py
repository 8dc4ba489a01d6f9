"""The messages of an Arrow file: which ones there are, and how many rows its record batches have.

pyarrow reads the content of messages. But it takes a stream that ends early for a whole one, and
ignores what follows the end of a stream, or two files that were put together. So this file reads
the heads of all messages, and every byte of a file must belong to one of them. The layout is that
of "IPC streaming format" in the specification of the Arrow columnar format. Heads are flatbuffers.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator

import pyarrow as pa

ReadAt = Callable[[int, int], bytes]
"""Reads some bytes, a number of them, from a place in a file."""

MAGIC = b"ARROW1"
"""The first and the last bytes of a file that can be read in any order. A stream has none."""

_START = 8
"""Where the messages of such a file begin."""

_CONTINUES = 0xFFFFFFFF
"""The first 4 bytes of each message, and of the mark of the end."""

_PREFIX = struct.Struct("<Ii")
_HEAD_BYTES = 1 << 12
"""Bytes that are read at once. The heads of most messages have fewer."""

_SCHEMA, _DICTIONARY, _RECORD_BATCH = 1, 2, 3
"""The types of messages with columns."""


@dataclasses.dataclass(frozen=True)
class ArrowGroups:
    """The record batches of a file.

    Attributes:
      rows: the number of rows of each record batch.
      bytes: the bytes of each message, as they are in the file.
    """

    rows: tuple[int, ...]
    bytes: tuple[int, ...]


def is_stream(source: pa.NativeFile) -> bool:
    """Whether an Arrow file is a stream: it can be read only from its beginning to its end.

    Raises:
      ArrowInvalid: it is no Arrow file.
    """
    first: bytes = source.read_at(len(MAGIC), 0)
    if first == MAGIC:
        return False
    if first[:4] != _PREFIX.pack(_CONTINUES, 0)[:4]:
        raise pa.ArrowInvalid("it does not begin like an Arrow file")
    return True


def arrow_groups(source: pa.NativeFile) -> ArrowGroups:
    """The record batches of a file.

    Raises:
      ArrowInvalid: it is truncated, or damaged, or has bytes that belong to no message.
    """
    size: int = source.size()

    def read_at(place: int, count: int) -> bytes:
        data: bytes = source.read_at(count, place)
        return data

    start, end = 0, size
    streamed = is_stream(source)
    if not streamed:
        tail = len(MAGIC) + 4
        if size < _START + tail or read_at(size - len(MAGIC), len(MAGIC)) != MAGIC:
            raise pa.ArrowInvalid("it is truncated: its footer is missing")
        (footer,) = struct.unpack("<i", read_at(size - tail, 4))
        start, end = _START, size - tail - footer
        if not start <= end < size - tail:
            raise pa.ArrowInvalid("the size of its footer is wrong")
    rows: list[int] = []
    sizes: list[int] = []
    for kind, count, message_bytes in _messages(read_at, start, end, ends_marked=streamed):
        if kind == _RECORD_BATCH:
            rows.append(count)
            sizes.append(message_bytes)
    return ArrowGroups(tuple(rows), tuple(sizes))


def _messages(
    read_at: ReadAt, start: int, end: int, *, ends_marked: bool
) -> Iterator[tuple[int, int, int]]:
    """(type, number of rows, size in bytes) of each message between two places.

    Args:
      read_at: reads the file.
      start: where the first one begins.
      end: where the mark of the end must end.
      ends_marked: whether the mark of the end is required.
    """
    place = start
    while place < end:
        data = read_at(place, min(_HEAD_BYTES, end - place))
        if len(data) < _PREFIX.size:
            raise pa.ArrowInvalid("it ends within a message, so it is truncated")
        mark, length = _PREFIX.unpack_from(data)
        if mark != _CONTINUES or length < 0:
            raise pa.ArrowInvalid(f"there is no message at byte {place}")
        body = place + _PREFIX.size + length
        if not length:
            if body != end:
                raise pa.ArrowInvalid(
                    f"{end - body} bytes follow its end at byte {body}, as if files were put "
                    "together"
                )
            return
        if body > end:
            raise pa.ArrowInvalid("it ends within a message, so it is truncated")
        head = data[_PREFIX.size :]
        if len(head) < length:
            head = read_at(place + _PREFIX.size, length)
        try:
            kind, rows, body_bytes = _head(head[:length])
        except struct.error:
            raise pa.ArrowInvalid(f"the message at byte {place} is damaged") from None
        if (
            (kind == _SCHEMA) != (place == start)
            or kind > _RECORD_BATCH
            or min(rows, body_bytes) < 0
        ):
            raise pa.ArrowInvalid(f"the message at byte {place} is damaged")
        if body + body_bytes > end:
            raise pa.ArrowInvalid("it ends within a message, so it is truncated")
        yield kind, rows, body + body_bytes - place
        place = body + body_bytes
    if ends_marked or place == start:
        raise pa.ArrowInvalid("it has no mark of its end, so it is truncated")


def _head(head: bytes) -> tuple[int, int, int]:
    """(type, number of rows, bytes of the body) of a message.

    Raises:
      struct.error: a number lies outside of the head.
    """
    message = _Table.root(head)
    kind = message.number(1, "<B")
    rows = message.table(2).number(0, "<q") if kind == _RECORD_BATCH else 0
    return kind, rows, message.number(3, "<q")


@dataclasses.dataclass(frozen=True)
class _Table:
    """A table of a flatbuffer: fields by their numbers, each one at a place or left out."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, _number(data, 0, "<I"))

    def number(self, field: int, form: str) -> int:
        """An integer; 0 if it is left out."""
        place = self._place(field)
        return 0 if place is None else _number(self.data, place, form)

    def table(self, field: int) -> _Table:
        place = self._place(field)
        if place is None:
            raise struct.error("a table is missing")
        return _Table(self.data, place + _number(self.data, place, "<I"))

    def _place(self, field: int) -> int | None:
        places = self.place - _number(self.data, self.place, "<i")
        at = 4 + 2 * field
        if at >= _number(self.data, places, "<H"):
            return None
        offset = _number(self.data, places + at, "<H")
        return self.place + offset if offset else None


def _number(data: bytes, place: int, form: str) -> int:
    if place < 0:  # struct would count from the end
        raise struct.error("a place before the beginning")
    number: int = struct.unpack_from(form, data, place)[0]
    return number
