"""Avro files: their blocks, and their schema as that of Arrow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.group_file import GroupFile, GroupPiece

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
    # logical types, whose values fastavro gives as Python's dates and times
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}


class AvroFile(GroupFile):
    mark = b"Obj\x01"

    def __init__(self, source: pa.NativeFile, piece: GroupPiece | None, *_: object) -> None:
        from fastavro import block_reader  # a run without Avro does not load it

        self._source = source
        self._blocks = block_reader(source)
        self._first: int = source.tell()
        schema = self._blocks.writer_schema
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise pa.ArrowInvalid("its schema is not one of records")
        self.schema = pa.schema(list(_arrow_type(schema, {})))

    def groups(self) -> list[tuple[int, int]]:
        groups, end = [], self._first
        try:
            for block in self._blocks:
                groups.append((block.num_records, block.size))
                end = block.offset + block.size
        except EOFError:
            raise pa.ArrowInvalid("it ends within a block, so it is truncated") from None
        if end != self._source.size() or any(rows < 0 for rows, _ in groups):
            raise pa.ArrowInvalid(f"there is no block at byte {end}")
        return groups

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        names = dict.fromkeys(str(path.steps[0]) for path in paths)
        schema = pa.schema([self.schema.field(name) for name in names])
        self._source.seek(self._first + piece.bytes_before)
        for block in itertools.islice(self._blocks, len(piece.groups)):
            records: list[Any] = list(block)
            for first in range(0, len(records), batch_rows):
                part = records[first : first + batch_rows]
                columns = [
                    pa.array([record[field.name] for record in part], field.type)
                    for field in schema
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _arrow_type(schema: Any, named: dict[str, Any]) -> pa.DataType:
    """The type of Arrow for the values of an Avro schema, as fastavro has parsed it.

    A union of several types has no such type, and neither has a type that contains itself. They are
    unions of Arrow, which nothing reads. `named` has the types with names that are complete.
    """
    if isinstance(schema, list):
        others = [each for each in schema if each != "null"]
        if len(others) == 1:
            return _arrow_type(others[0], named)
        return _unread(f"a union of {len(others)} types") if others else pa.null()
    if isinstance(schema, str):
        return _TYPES.get(schema) or named.get(schema) or _unread(f"the type {schema}")
    name, logical = schema["type"], schema.get("logicalType")
    if logical == "decimal":
        return pa.decimal256(schema["precision"], schema.get("scale", 0))
    if logical in _TYPES:
        return _TYPES[logical]
    if name == "array":
        return pa.list_(_arrow_type(schema["items"], named))
    if name in ("record", "error"):
        fields = [(field["name"], _arrow_type(field["type"], named)) for field in schema["fields"]]
        named[schema["name"]] = pa.struct(fields)
        return named[schema["name"]]
    kind = _arrow_type(name, named)
    if "name" in schema:
        named[schema["name"]] = kind
    return kind


def _unread(what: str) -> pa.DataType:
    return pa.dense_union([pa.field(what, pa.null())])
