"""Reads formats with groups of rows: Parquet, Arrow, Avro, and CSV, where a file is one group."""

from __future__ import annotations

import abc
import codecs
import csv
import dataclasses
import functools
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from beam_bleu.transforms.pairing.files.chunks import (
    BYTE_ORDER_MARK,
    UTF16_MARKS,
    decompressed,
)
from beam_bleu.transforms.pairing.files.streams import FoundFile, compression
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS
from beam_bleu.transforms.pairing.records.wanted import ColumnPath

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import RecordFiles


@dataclasses.dataclass(frozen=True)
class GroupPiece:
    """Neighbouring groups of one file. Rows are counted from 0; bytes are those of all columns."""

    file: FoundFile
    version: str | None
    groups: range
    first_row: int
    rows: int
    bytes: int
    bytes_before: int


class GroupFile(abc.ABC):
    """An open file of a format that begins with `mark`; without a piece, to look at its groups."""

    mark = b""
    remedy = "check the path and --input_format; if they are right, copy the file again"
    schema: pa.Schema

    @abc.abstractmethod
    def __init__(
        self, source: pa.NativeFile, piece: GroupPiece | None, files: RecordFiles, path: str
    ) -> None: ...

    @abc.abstractmethod
    def groups(self) -> list[tuple[int, int]]: ...

    @abc.abstractmethod
    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]: ...


_BUFFER_BYTES = 1 << 20
_REMOTE_BUFFER_BYTES = 1 << 23  # bytes of a column that are read at a time

# Row groups on other machines with at most this number of bytes are read in one request.
_MOST_PRE_BUFFERED = 1 << 27

# Local row groups with at most about this number of bytes are read without a buffer, which would
# cost one more copy.
_MOST_UNBUFFERED = 1 << 25


class ParquetFile(GroupFile):
    mark = b"PAR1"

    def __init__(self, source: pa.NativeFile, piece: GroupPiece | None, *_: object) -> None:
        import pyarrow.parquet as pq  # a run without Parquet does not load it

        is_local = isinstance(source, pa.OSFile)
        all_bytes = piece.bytes if piece else 0
        group_bytes = all_bytes // len(piece.groups) if piece else 0
        buffer_bytes = _BUFFER_BYTES if is_local else _REMOTE_BUFFER_BYTES
        if is_local and group_bytes <= _MOST_UNBUFFERED:
            buffer_bytes = 0  # no buffer: pyarrow reads whole columns, one row group at a time
        # Of a large row group, only buffers are kept in memory. On other machines, each read is a
        # request, so small row groups are read at once.
        self._file = pq.ParquetFile(
            source,
            buffer_size=buffer_bytes,
            pre_buffer=not is_local and all_bytes <= _MOST_PRE_BUFFERED,
            page_checksum_verification=True,
        )
        self.schema = self._file.schema_arrow

    def groups(self) -> list[tuple[int, int]]:
        metadata = self._file.metadata
        groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
        # The size of all columns: asked about a single column that is encrypted, pyarrow would end
        # the process.
        return [(group.num_rows, group.total_byte_size) for group in groups]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Reads only the fields to which the paths lead, up to the first list or map."""
        names = [_name_of_leaf(self.schema, path.steps) for path in paths]
        # pyarrow cannot read dictionaries in lists or structs across row groups.
        nested = filter(pt.is_nested, self.schema.types)
        one_by_one = any("dictionary<" in str(kind) for kind in nested)
        for part in [[group] for group in piece.groups] if one_by_one else [list(piece.groups)]:
            yield from self._file.iter_batches(
                batch_size=batch_rows, row_groups=part, columns=names, use_threads=False
            )


def _name_of_leaf(schema: pa.Schema, steps: Sequence[Any]) -> str:
    names, kind = [steps[0]], schema.field(steps[0]).type
    for step in steps[1:]:
        if not pt.is_struct(kind):
            break
        names.append(step)
        kind = kind.field(step).type
    return ".".join(names)


_MAGIC = b"ARROW1"  # the first and last bytes of a file, but not of a stream

_START = 8  # where the stream in a file begins

_END = b"\xff\xff\xff\xff\0\0\0\0"  # marks the end of a stream


class ArrowFile(GroupFile):
    """An Arrow stream, which is one group because it can only be read from its beginning, or an
    Arrow file, a stream between two marks with a footer. pyarrow notices neither a truncated stream
    nor what follows its end, so each is first read to its end as a stream without columns.
    """

    def __init__(self, source: pa.NativeFile, piece: GroupPiece | None, *_: object) -> None:
        self._source = source
        self._streamed = source.read_at(len(_MAGIC), 0) != _MAGIC
        self._start, self._end = 0, source.size()
        if not self._streamed:
            if source.read_at(len(_MAGIC), max(self._end - len(_MAGIC), 0)) != _MAGIC:
                raise pa.ArrowInvalid("its footer is missing, so it is truncated")
            footer_end = self._end - len(_MAGIC) - 4
            footer_bytes = int.from_bytes(source.read_at(4, max(footer_end, 0)), "little")
            self._start, self._end = _START, footer_end - footer_bytes
        self.schema = self._stream(None).schema

    def groups(self) -> list[tuple[int, int]]:
        groups, end = [], self._start
        for batch in self._stream([]):
            begin, end = end, self._source.tell()
            groups.append((len(batch), end - begin))
        end = self._source.tell()
        if self._source.read_at(len(_END), max(end - len(_END), 0)) != _END:
            raise pa.ArrowInvalid("it has no mark of its end, so it is truncated")
        if end != self._end:
            raise pa.ArrowInvalid(f"{self._end - end} bytes follow its end at byte {end}")
        if not self._streamed:
            return groups
        return [(sum(rows for rows, _ in groups), end - self._start)]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Checks the offsets of values, because pyarrow would read beyond its memory."""
        fields = sorted({self.schema.names.index(path.steps[0]) for path in paths})
        batches: Iterator[pa.RecordBatch]
        if self._streamed:
            batches = iter(self._stream(fields))
        else:
            file = pa.ipc.open_file(self._source, options=_options(fields))
            batches = map(file.get_batch, piece.groups)
        for batch in batches:
            for column in batch.columns:
                column.view(_of_bytes(column.type)).validate(full=True)
            for first in range(0, len(batch), batch_rows):
                yield batch.slice(first, batch_rows)

    def _stream(self, fields: Sequence[int] | None) -> pa.RecordBatchReader:
        self._source.seek(self._start)
        return pa.ipc.open_stream(self._source, options=_options(fields))


def _options(fields: Sequence[int] | None) -> pa.ipc.IpcReadOptions:
    return pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)


def _of_bytes(kind: pa.DataType) -> pa.DataType:
    if pt.is_list(kind):
        return pa.list_(_of_bytes(kind.value_type))
    if pt.is_large_list(kind):
        return pa.large_list(_of_bytes(kind.value_type))
    return _BYTES.get(kind, kind)


_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


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
    # Logical types, whose values fastavro converts to Python's dates and times.
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
    """The Arrow type for the values of an Avro schema. Unions of several types, and types that
    contain themselves, become an Arrow union, which nothing reads. `named`: types by full names.
    """
    if isinstance(schema, list):
        others = [each for each in schema if each != "null"]
        if len(others) == 1:
            return _arrow_type(others[0], named)
        return unread(f"a union of {len(others)} types") if others else pa.null()
    if isinstance(schema, str):
        return _TYPES.get(schema) or named.get(schema) or unread(f"the type {schema}")
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


def unread(what: str) -> pa.DataType:
    return pa.dense_union([pa.field(what, pa.null())])


_CHUNK_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 24  # what pyarrow parses at a time; a row that is twice as long is an error

_QUOTE, _NEWLINE = ord('"'), ord("\n")


class CsvFile(GroupFile):
    """CSV by RFC 4180. A file is one group, because its fields can contain newlines."""

    remedy = (
        "give all rows as many fields as the first one, and at most 16 MB; put fields that have "
        "quotes, newlines or delimiters in quotes, and write each quote in them twice"
    )

    def __init__(
        self, source: pa.NativeFile, piece: GroupPiece | None, files: RecordFiles, path: str
    ) -> None:
        self._bytes, self._header_rows = source.size(), int(files.has_header)
        self._delimiter = RECORD_FORMATS[files.format].delimiter
        chunks = decompressed_chunks(source, files, path)
        first = next(chunks, b"")
        if first.startswith(UTF16_MARKS):
            decoded = codecs.iterdecode(itertools.chain([first], chunks), "utf-16")
            chunks = map(str.encode, decoded)
            first = next(chunks, b"")
        first = first.removeprefix(BYTE_ORDER_MARK)
        text = io.StringIO(first.decode(errors="replace"), newline="")
        names = next(csv.reader(text, delimiter=self._delimiter), [])
        if not names:
            raise pa.ArrowInvalid("it is empty, or begins with an empty line")
        self.schema = pa.schema([(name, pa.large_binary()) for name in names])
        self._chunks: Iterable[bytes] = itertools.chain([first], chunks)
        if piece is None:
            self._chunks = _with_right_quotes(self._chunks, self._delimiter)

    def groups(self) -> list[tuple[int, int]]:
        return [(sum(map(len, self._rows())), self._bytes)]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        for rows in self._rows():
            for first in range(0, len(rows), batch_rows):
                yield rows.slice(first, batch_rows)

    def _rows(self) -> Iterable[pa.RecordBatch]:
        from pyarrow import csv as arrow_csv  # a run without CSV does not load it

        names = [str(number) for number in range(len(self.schema))]
        rows: Iterable[pa.RecordBatch] = arrow_csv.open_csv(
            pa.PythonFile(io.BufferedReader(_Chunks(self._chunks)), "r"),
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK_BYTES,
                column_names=names,
                skip_rows_after_names=self._header_rows,
            ),
            arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            # As bytes, because UTF-8 is checked later, row by row.
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_binary())),
        )
        return rows


def decompressed_chunks(source: pa.NativeFile, files: RecordFiles, path: str) -> Iterator[bytes]:
    """The bytes of a file, decompressed, in chunks that all have the same size except the last."""
    suffix, read = compression(path), source.read
    if suffix:
        told = functools.partial(files.stream.told, path=path)
        read = io.BufferedReader(_Chunks(decompressed(source.read, suffix, told))).read
    return iter(lambda: read(_CHUNK_BYTES), b"")


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks, self._left = iter(chunks), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._left:
            self._left = memoryview(next(self._chunks, b""))
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _with_right_quotes(chunks: Iterable[bytes], delimiter: str) -> Iterator[bytes]:
    """Checks that quotes only surround fields, and are closed; pyarrow accepts other quotes."""
    is_edge = np.zeros(256, bool)
    is_edge[[_QUOTE, _NEWLINE, ord("\r"), ord(delimiter)]] = True
    before, quotes_before, newlines, opened_line = b"\n", 0, 0, 0
    for chunk in chunks:
        text = np.frombuffer(before + chunk, np.uint8)
        quotes = np.flatnonzero(text == _QUOTE)
        is_opening = (quotes_before + np.arange(len(quotes))) % 2 == 0
        # The last quote of a chunk is its own neighbour here; it is judged with the next chunk.
        beside = np.clip(np.where(is_opening, quotes - 1, quotes + 1), 0, len(text) - 1)
        wrong = quotes[~is_edge[text[beside]]]
        for place in [*wrong[:1], *quotes[is_opening][-1:]][:1]:
            opened_line = newlines + int((text[1 : place + 1] == _NEWLINE).sum()) + 1
        if len(wrong):
            raise pa.ArrowInvalid(f"line {opened_line} has a quote within a field")
        newlines += int((text[1:] == _NEWLINE).sum())
        before = chunk[-1:]
        quotes_before += len(quotes) - before.count(b'"')
        yield chunk
    if (quotes_before + before.count(b'"')) % 2:
        raise pa.ArrowInvalid(f"the quote in line {opened_line} is not closed")
