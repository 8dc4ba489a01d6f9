"""Reads the head of a file of JSON lines or tab-separated text, and chooses the columns by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.files.chunks import Open, read_chunks
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import line_too_long, refuse_compressed
from beam_bleu.transforms.pairing.records.columns.choosing import (
    FileChoice,
    choose_of_file,
    is_usual_name,
)
from beam_bleu.transforms.pairing.records.text.jsonl import BadLineError, record_of
from beam_bleu.transforms.pairing.records.text.tsv import field_number, fields_of, numbered

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.text.source import LineRecords

LineFormat = Literal["jsonl", "tsv"]
"""The formats in which each line is a record."""

HEAD_BYTES = 1 << 20
"""Bytes of text of each file whose records show which columns there are."""

_DEEPEST_COLUMN = 50
"""The largest number of objects and lists around a value that can be a column."""

_MOST_NAMES = 12
"""The largest number of names of columns in a message."""


@dataclasses.dataclass(frozen=True)
class Head(FileChoice):
    """What the first records of a file say about all of them.

    Attributes:
      names: the names of all columns of tab-separated text.
      has_records: whether one of the first lines is a record.
    """

    names: tuple[str, ...] = ()
    has_records: bool = True


class HeadReader:
    """Reads the heads of the files of a source, and chooses the columns by them."""

    def __init__(self, source: LineRecords, open_file: Open) -> None:
        self._source = source
        self._open_file = open_file
        self._stream = source.stream

    def head(self, shard: Shard) -> Head | None:
        """The head of a file; None if it is empty.

        Raises:
          InputError: it cannot be read or is not text, or its first line is a header, and the user
            did not say so.
        """
        lines = self._first_lines(shard)
        if not lines:
            return None
        refuse_compressed(self._stream, shard.file.path, lines[0])
        return (
            self._of_fields(shard, lines[0])
            if self._source.format == "tsv"
            else self._json(shard, lines)
        )

    def _first_lines(self, shard: Shard) -> list[bytes]:
        """The first lines of a file, without their newlines: at least one if it has one."""
        path, limit = shard.file.path, self._source.expected.max_line_bytes
        skips_long = self._source.on_bad_record == "reject"
        lines: list[bytes] = []
        size, last = 0, b""
        for chunk in read_chunks(self._stream, shard.file, HEAD_BYTES, self._open_file):
            size += len(chunk)
            *ended, last = (last + chunk).split(b"\n")
            lines += (line for line in ended if len(line) <= limit or not skips_long)
            if lines and size >= HEAD_BYTES:
                return lines
            last = last[: limit + 1]
            if len(last) > limit and not lines and not skips_long:
                what, remedy = line_too_long(limit)
                raise InputError(self._stream.told(f"line 1 {what}", path), remedy)
        return [*lines, last] if last else lines

    def _of_fields(self, shard: Shard, line: bytes) -> Head:
        path = shard.file.path
        try:
            fields = fields_of(line)
        except UnicodeDecodeError as error:
            raise InputError(
                self._stream.told(
                    f"line 1: invalid UTF-8 at byte {error.start + 1} of the line", path
                ),
                "convert the file to UTF-8 (iconv -f ... -t UTF-8), or repair it",
            ) from error
        names = fields if self._source.has_header else numbered(len(fields))
        schema = pa.schema([(name, pa.large_string()) for name in names])
        of_file = choose_of_file(
            self._source.wanted, schema, self._stream, shard, self._source.roles, numbered=True
        )
        head = Head(shard, of_file.chosen, of_file.error, names)
        is_open = self._source.header_is_open and not self._source.has_header
        if head.chosen is not None and is_open:
            read = [fields[field_number(column, names)] for column in head.chosen.columns]
            if any(map(is_usual_name, read)) or (len(fields) > 1 and {*fields} == {*names}):
                raise InputError(
                    self._stream.told(
                        f"the first line looks like a header: {joined(fields, _MOST_NAMES)}", path
                    ),
                    "say what it is: --header if it has the names of the columns, --no_header if "
                    "it is a record",
                )
        return head

    def _json(self, shard: Shard, lines: Sequence[bytes]) -> Head:
        records, errors = [], []
        for line in lines:
            try:
                records.append(record_of(line))
            except BadLineError as error:
                errors.append(error)
        if not records:
            no_record = InputError(
                self._stream.told(
                    f"none of the first lines is a record: line 1: {errors[0]}", shard.file.path
                ),
                "each line must be a JSON object in UTF-8; jq -c '.[]' FILE makes such lines of a "
                "list",
            )
            return Head(shard, None, no_record, has_records=False)
        schema = schema_of(records)
        of_file = choose_of_file(
            self._source.wanted, schema, self._stream, shard, self._source.roles
        )
        return Head(shard, of_file.chosen, of_file.error)


def schema_of(records: Sequence[dict[str, Any]]) -> pa.Schema:
    """The columns of JSON records: the keys, and the types of most of their values."""
    return pa.schema(list(_type_of(records, 0)))


def _type_of(values: Sequence[Any], depth: int) -> pa.DataType:
    """The type of most values; each record is judged when it is read."""
    objects = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    kinds = {type(value) for value in values} - {dict, list, type(None)}
    scalars = sum(type(value) in kinds for value in values)
    if depth > _DEEPEST_COLUMN:
        return pa.null()
    if objects and len(objects) >= max(len(lists), scalars):
        fields: dict[str, list[Any]] = {}
        for record in objects:
            for key, value in record.items():
                # Arrow takes no halves of surrogate pairs.
                fields.setdefault(key.encode("utf-8", "replace").decode(), []).append(value)
        return pa.struct([(name, _type_of(of, depth + 1)) for name, of in fields.items()])
    if lists and len(lists) >= scalars:
        return pa.large_list(_type_of([item for items in lists for item in items], depth + 1))
    types = ((str, pa.large_string()), (float, pa.float64()), (int, pa.int64()), (bool, pa.bool_()))
    return next((arrow_type for of, arrow_type in types if of in kinds), pa.null())


def require_same_headers(stream: Stream, heads: Sequence[Head]) -> None:
    """Checks that all files have the same header.

    Raises:
      InputError: two headers differ. It names both files.
    """
    first = heads[0]
    for head in heads:
        if head.names != first.names:
            headers = " and ".join(joined(file.names, _MOST_NAMES) for file in (first, head))
            paths = ", ".join(stream.shown(file.shard.file.path) for file in (first, head))
            raise InputError(
                f"{stream.label}: the headers of two files are different: {headers}: {paths}",
                "give all files the same columns; if the files have no headers, add --no_header",
            )
