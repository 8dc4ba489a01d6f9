"""Avro files: their blocks, and their schema as that of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.group_file import (
    GroupFormat,
    GroupsChangedError,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPiece

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
"""The bytes at the end of the head of a file, and of each block. They are the same in a file."""

_MOST_NUMBER_BYTES = 10
"""The most bytes of an integer."""

_TYPES: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
    "fixed": pa.binary(),
}
_LOGICAL_TYPES: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}
"""The types of values that fastavro gives as Python's dates and times."""


class _AvroFile:
    """An open Avro file."""

    def __init__(self, source: pa.NativeFile) -> None:
        from fastavro import block_reader  # a run without Avro does not load it

        self._source = source
        self._blocks = block_reader(source)
        self._first: int = source.tell()
        schema = self._blocks.writer_schema
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise pa.ArrowInvalid("its schema is not one of records")
        kind = _arrow_type(schema, {})
        self.schema = pa.schema(list(kind))

    def groups(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of records of all blocks, and their bytes as they are in the file."""
        rows, sizes = [], []
        sync = self._source.read_at(_SYNC_BYTES, self._first - _SYNC_BYTES)
        place, end = self._first, self._source.size()
        while place < end:
            head = self._source.read_at(2 * _MOST_NUMBER_BYTES, place)
            count, read = _number(head, 0)
            size, read = _number(head, read)
            after = place + read + size + _SYNC_BYTES
            if count < 0 or size < 0:
                raise pa.ArrowInvalid(f"there is no block at byte {place}")
            if after > end:
                raise pa.ArrowInvalid("it ends within a block, so it is truncated")
            if self._source.read_at(_SYNC_BYTES, after - _SYNC_BYTES) != sync:
                raise pa.ArrowInvalid(f"the block at byte {place} does not end where it should")
            rows.append(count)
            sizes.append(after - place)
            place = after
        return rows, sizes

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The records of blocks: only the columns that the paths begin with."""
        names = dict.fromkeys(str(path.steps[0]) for path in paths)
        schema = pa.schema([self.schema.field(name) for name in names])
        self._source.seek(self._first + piece.bytes_before)
        for rows in piece.group_rows:
            block = next(self._blocks, None)
            if block is None or block.num_records != rows:
                raise GroupsChangedError
            records: list[Any] = list(block)
            if len(records) != rows:
                raise GroupsChangedError
            for first in range(0, rows, batch_rows):
                part = records[first : first + batch_rows]
                columns = [
                    pa.array([record[field.name] for record in part], field.type)
                    for field in schema
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _number(data: bytes, place: int) -> tuple[int, int]:
    """(an integer as Avro writes it, the place after it)."""
    value = shift = 0
    for byte in data[place : place + _MOST_NUMBER_BYTES]:
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), place
    raise pa.ArrowInvalid("it ends within a block, or is damaged")


def _arrow_type(schema: Any, named: dict[str, Any]) -> pa.DataType:
    """The type of Arrow for the values of an Avro schema.

    A union of several types has no such type, and neither has a type that contains itself. They are
    unions of Arrow, which nothing reads.

    Args:
      schema: the schema, as fastavro has parsed it.
      named: the types with names that are known so far; None for one that is not yet complete.
    """
    if isinstance(schema, list):
        others = [each for each in schema if each != "null"]
        if len(others) == 1:
            return _arrow_type(others[0], named)
        return _unread(f"a union of {len(others)} types") if others else pa.null()
    if isinstance(schema, str):
        if schema in _TYPES:
            return _TYPES[schema]
        kind: pa.DataType | None = named.get(schema)
        return _unread(f"the type {schema}") if kind is None else kind
    name = schema["type"]
    logical = schema.get("logicalType")
    if logical == "decimal":
        return pa.decimal256(schema["precision"], schema.get("scale", 0))
    if logical in _LOGICAL_TYPES:
        return _LOGICAL_TYPES[logical]
    if logical is not None and name in ("string", "bytes", "fixed"):
        return _unread(f"the logical type {logical}")
    if name == "array":
        return pa.list_(_arrow_type(schema["items"], named))
    if name == "map":
        return pa.map_(pa.string(), _arrow_type(schema["values"], named))
    if name in ("record", "error"):
        named[schema["name"]] = None
        fields = [(field["name"], _arrow_type(field["type"], named)) for field in schema["fields"]]
        named[schema["name"]] = pa.struct(fields)
        return named[schema["name"]]
    kind = _arrow_type(name, named)
    if name in ("enum", "fixed"):
        named[schema["name"]] = kind
    return kind


def _unread(what: str) -> pa.DataType:
    return pa.dense_union([pa.field(what, pa.null())])


def _open(source: pa.NativeFile, piece: GroupPiece | None) -> _AvroFile:
    if source.read_at(len(_MAGIC), 0) != _MAGIC:
        raise pa.ArrowInvalid("it does not begin like an Avro file")
    source.seek(0)  # pyarrow wants this after read_at
    try:
        return _AvroFile(source)
    except (pa.ArrowException, OSError, MemoryError):
        raise
    except Exception as error:  # fastavro raises those of Python for what it cannot read
        raise pa.ArrowInvalid(f"its head is truncated or damaged: {error}") from error


def _check(stream: Stream, path: str, source: pa.NativeFile, size: int) -> None:
    if source.read_at(len(_MAGIC), 0) != _MAGIC:
        raise InputError(
            stream.told("this is not an Avro file", path),
            "check the path and --input_format; an Avro file is not compressed as a whole",
        )


def _explained(stream: Stream, path: str, said: str) -> None:
    return None


AVRO = GroupFormat("Avro", "an Avro file", "block", "blocks", _check, _open, _explained)
