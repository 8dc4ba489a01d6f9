"""Arrow files (IPC, also called Feather): those that can be read in any order, and streams.

pyarrow reads the content. But it takes a stream that ends early for a whole one, and ignores what
follows the end of a stream, or two files that were put together. So the heads of all messages are
read here, and every byte of a file must belong to a message. The layout is that of "IPC streaming
format" in the specification of the Arrow columnar format. Heads are flatbuffers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import pyarrow as pa

from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.group_file import (
    GroupFile,
    GroupsChangedError,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPiece

_MAGIC = b"ARROW1"
"""The first and the last bytes of a file that can be read in any order. A stream has none."""

_START = 8
"""Where the messages of such a file begin."""

_CONTINUES = 0xFFFFFFFF
"""The first 4 bytes of each message, and of the mark of the end."""

_PREFIX = struct.Struct("<Ii")
_HEAD_BYTES = 1 << 12
"""Bytes that are read at once. The heads of most messages have fewer."""

_SCHEMA, _RECORD_BATCH = 1, 3
"""The types of the first message and of those with rows. Between them are dictionaries."""

_TRUNCATED = "it ends within a message, so it is truncated"


class ArrowFile(GroupFile):
    """An open Arrow file. A stream is one group, because it is read from its beginning."""

    label, a_file, groups_name = "Arrow", "an Arrow file", "record batches"

    def __init__(self, source: pa.NativeFile, piece: GroupPiece | None) -> None:
        self._source = source
        self._streamed = source.read_at(len(_MAGIC), 0) != _MAGIC
        self.schema = self._reader(None).schema

    def groups(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of rows of the record batches, and their bytes as they are in the file."""
        rows, sizes = record_batches(self._source)
        return ([sum(rows)], [sum(sizes)]) if self._streamed else (rows, sizes)

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of record batches: only the columns that the paths begin with.

        A record batch is read as a whole, because it can be compressed. pyarrow trusts the places
        of values that a file has, and wrong ones would be outside of the memory, so they are
        checked first.
        """
        reader = self._reader(sorted({self.schema.names.index(path.steps[0]) for path in paths}))
        try:
            if self._streamed:
                batches = iter(reader)
            elif piece.groups.stop > reader.num_record_batches:
                raise GroupsChangedError
            else:
                batches = map(reader.get_batch, piece.groups)
            for batch in batches:
                batch.validate(full=True)
                for first in range(0, len(batch), batch_rows):
                    yield batch.slice(first, batch_rows)
        except pa.ArrowMemoryError as error:
            raise pa.ArrowInvalid(
                f"{error}; the file is damaged, or its record batches are too large for the memory"
            ) from error

    def _reader(self, fields: Sequence[int] | None) -> pa.RecordBatchReader:
        self._source.seek(0)
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
        opened = pa.ipc.open_stream if self._streamed else pa.ipc.open_file
        return opened(self._source, options=options)

    @staticmethod
    def why_not(source: pa.NativeFile, size: int) -> tuple[str, str] | None:
        """See `GroupFile`."""
        first = source.read_at(len(_MAGIC), 0)
        if first != _MAGIC and first[:4] != b"\xff" * 4:
            return (
                "this is not an Arrow file",
                "check the path and --input_format; an Arrow file is not compressed as a whole, "
                "and Feather files of version 1 must be written again",
            )
        if first == _MAGIC and source.read_at(len(_MAGIC), max(size - len(_MAGIC), 0)) != _MAGIC:
            return (
                "the Arrow file is truncated: its footer is missing",
                "copy it again, or wait until it is written",
            )
        return None


def record_batches(source: pa.NativeFile) -> tuple[list[int], list[int]]:
    """The number of rows of each record batch of a file, and the bytes of its message.

    Raises:
      ArrowInvalid: the file is truncated, or damaged, or has bytes that belong to no message.
    """
    size = end = source.size()
    place, streamed = 0, source.read_at(len(_MAGIC), 0) != _MAGIC
    if not streamed:
        tail = source.read_at(len(_MAGIC) + 4, max(size - len(_MAGIC) - 4, 0))
        if size < _START + 10 or not tail.endswith(_MAGIC):
            raise pa.ArrowInvalid("it is truncated: its footer is missing")
        place, end = _START, size - len(tail) - struct.unpack_from("<i", tail)[0]
        if not place <= end < size - len(tail):
            raise pa.ArrowInvalid("the size of its footer is wrong")
    first = place
    rows: list[int] = []
    sizes: list[int] = []
    while place < end:
        data = source.read_at(min(_HEAD_BYTES, end - place), place)
        if len(data) < _PREFIX.size:
            raise pa.ArrowInvalid(_TRUNCATED)
        mark, length = _PREFIX.unpack_from(data)
        body = place + _PREFIX.size + length
        if mark != _CONTINUES or length < 0:
            raise pa.ArrowInvalid(f"there is no message at byte {place}")
        if not length and place > first:  # the mark of the end
            if body != end:
                raise pa.ArrowInvalid(f"{end - body} bytes follow its end at byte {body}")
            return rows, sizes
        if body > end:
            raise pa.ArrowInvalid(_TRUNCATED)
        head = data[_PREFIX.size :][:length]
        if len(head) < length:
            head = source.read_at(length, place + _PREFIX.size)
        try:
            kind, count, body_bytes = _head(head)
        except struct.error:
            raise pa.ArrowInvalid(f"the message at byte {place} is damaged") from None
        if (kind == _SCHEMA) != (place == first) or kind > _RECORD_BATCH or count < 0:
            raise pa.ArrowInvalid(f"the message at byte {place} is damaged")
        if not body <= body + body_bytes <= end:
            raise pa.ArrowInvalid(_TRUNCATED)
        if kind == _RECORD_BATCH:
            rows.append(count)
            sizes.append(body + body_bytes - place)
        place = body + body_bytes
    if streamed or place == first:
        raise pa.ArrowInvalid("it has no mark of its end, so it is truncated")
    return rows, sizes


def _head(head: bytes) -> tuple[int, int, int]:
    """(type, number of rows, bytes of the body) of a message.

    Raises:
      struct.error: a number lies outside of the head.
    """
    message = _number(head, 0, "<I")
    kind = _field(head, message, 1, "<B")
    of_rows = 0
    if kind == _RECORD_BATCH:
        at = _place(head, message, 2)
        of_rows = _field(head, at + _number(head, at, "<I"), 0, "<q")
    return kind, of_rows, _field(head, message, 3, "<q")


def _field(data: bytes, table: int, field: int, form: str) -> int:
    """An integer of a table of a flatbuffer; 0 if it is left out."""
    place = _place(data, table, field)
    return _number(data, place, form) if place != table else 0


def _place(data: bytes, table: int, field: int) -> int:
    """Where a field of a table is; the table's own place if it is left out."""
    places = table - _number(data, table, "<i")
    at = 4 + 2 * field
    if at >= _number(data, places, "<H"):
        return table
    return table + _number(data, places + at, "<H")


def _number(data: bytes, place: int, form: str) -> int:
    if place < 0:  # struct would count from the end
        raise struct.error("a place before the beginning")
    number: int = struct.unpack_from(form, data, place)[0]
    return number
