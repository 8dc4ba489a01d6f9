"""Reads the head of a file of JSON lines or tab-separated text, and chooses the columns by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.files.chunks import Open, read_chunks
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.correspondence import require_equal_line_counts
from beam_bleu.transforms.pairing.lines.line_columns import without_return
from beam_bleu.transforms.pairing.lines.line_counting import (
    count_bytes,
    line_too_long,
    refuse_compressed,
)
from beam_bleu.transforms.pairing.lines.line_warnings import require_text
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, LineCounts
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.records.columns.choosing import choose, is_usual_name
from beam_bleu.transforms.pairing.records.columns.column_paths import quoted_path
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ColumnPath, Wanted
from beam_bleu.transforms.pairing.records.text.json_schema import columns_of
from beam_bleu.transforms.pairing.records.text.tsv import field_number, fields_of, numbered

LineFormat = Literal["jsonl", "tsv"]
"""The formats in which each line is a record."""

HEAD_BYTES = 1 << 20
"""Bytes of text of each file whose records show which columns there are."""

_HEADER_BYTES = 1 << 16
_PARQUET = b"PAR1"
_AVRO = b"Obj\x01"
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")

_MOST_NAMES = 12
"""The largest number of names of columns in a message."""


@dataclasses.dataclass(frozen=True)
class Head:
    """What the first records of a file say about all of them.

    Attributes:
      path: the file.
      chosen: the columns that are read.
      names: the names of all columns of tab-separated text.
      integer_ids: the columns of ids that have integers.
    """

    path: str
    chosen: Chosen
    names: tuple[str, ...] = ()
    integer_ids: tuple[ColumnPath, ...] = ()


class NoRecordError(InputError):
    """The first lines of a file have no record."""


class NoColumnsError(InputError):
    """A file does not have the wanted columns."""


@dataclasses.dataclass(frozen=True)
class HeadReader:
    """Reads the heads of files, and chooses the columns by them.

    Attributes:
      stream: the files.
      format: their format.
      wanted: the columns that the user asks for.
      roles: the roles of the texts that the files have.
      has_header: whether the first line of tab-separated text has the names of the columns.
      header_is_open: whether the user did not say whether there is a header.
      skips_long_lines: whether a line that is too long is a bad record that is left out.
      open_file: opens a file.
      max_line_bytes: the largest number of bytes of a line.
    """

    stream: Stream
    format: LineFormat
    wanted: Wanted
    roles: Sequence[Role]
    has_header: bool
    header_is_open: bool
    skips_long_lines: bool
    open_file: Open
    max_line_bytes: int

    def first_head(self, shards: Sequence[Shard]) -> Head:
        """The head of the first file that is not empty.

        Raises:
          InputError: a file cannot be read, all files are empty, or a file is not text or does not
            have the columns.
        """
        for shard in shards:
            head = self.head(shard)
            if head is not None:
                return head
        require_equal_line_counts([self.stream], [0])
        raise AssertionError("an input without lines is an error")

    def head(self, shard: Shard) -> Head | None:
        """The head of a file; None if it is empty.

        Raises:
          NoRecordError: its first lines have no record.
          NoColumnsError: it does not have the columns.
          InputError: it cannot be read or is not text, or its first line is a header, and the user
            did not say so.
        """
        lines = first_lines(
            self.stream,
            shard,
            HEAD_BYTES,
            self.open_file,
            self.max_line_bytes,
            self.skips_long_lines and not self.has_header,
        )
        if not lines:
            return None
        path = shard.file.path
        return self._of_fields(path, lines[0]) if self.format == "tsv" else self._json(path, lines)

    def _of_fields(self, path: str, line: bytes) -> Head:
        fields = _fields(self.stream, path, line)
        names = fields if self.has_header else numbered(len(fields))
        schema = pa.schema([(name, pa.large_string()) for name in names])
        chosen = self._chosen(path, schema)
        if not self.has_header and self.header_is_open:
            self._require_no_names(path, fields, chosen)
        return Head(path, chosen, names)

    def _require_no_names(self, path: str, fields: Sequence[str], chosen: Chosen) -> None:
        for column in chosen.columns:
            field = fields[field_number(column, numbered(len(fields)))]
            if is_usual_name(field):
                raise InputError(
                    self.stream.told(
                        f"the first line looks like a header: its field {column} is {field!r}",
                        path,
                    ),
                    "say what it is: --header if it has the names of the columns, --no_header if "
                    "it is a record",
                )

        if len(fields) > 1 and sorted(fields) == sorted(numbered(len(fields))):
            raise InputError(
                self.stream.told(
                    "the first line looks like a header, because it has the numbers of all columns",
                    path,
                ),
                "say what it is: --header if it has the names of the columns, --no_header if it is "
                "a record",
            )

    def _json(self, path: str, lines: Sequence[bytes]) -> Head:
        try:
            columns = columns_of(lines, self.wanted)
        except ValueError as error:
            remedy = "each line must be a JSON object"
            if lines[0].lstrip().startswith(b"["):
                remedy += "; of a list of objects, jq -c '.[]' FILE makes such lines"
            raise NoRecordError(
                self.stream.told(f"none of the first lines is a record: line 1: {error}", path),
                remedy,
            ) from error
        chosen = self._chosen(path, columns.schema())
        return Head(path, chosen, (), tuple(filter(columns.has_integers, chosen.ids)))

    def _chosen(self, path: str, schema: pa.Schema) -> Chosen:
        stream, numbered_too = self.stream, self.format == "tsv"
        try:
            return choose(self.wanted, schema, stream.label, self.roles, numbered=numbered_too)
        except InputError as error:
            cause = f"{error.cause}: {stream.shown(path)}"
            raise NoColumnsError(cause, error.remedy) from error


@dataclasses.dataclass(frozen=True)
class OtherHead:
    """The columns that would be read of a file, if it were the only one.

    Attributes:
      shard: the file.
      chosen: the columns; None if there is an error.
      error: the cause of the error for a file that does not have the wanted columns.
    """

    shard: Shard
    chosen: Chosen | None
    error: str | None = None


def require_same_columns(stream: Stream, first: Head, others: Sequence[OtherHead]) -> None:
    """Checks that the same columns are read of all files.

    Args:
      stream: the stream.
      first: the head of the first file that is not empty.
      others: the columns of other files, in any order.

    Raises:
      InputError: a file has other columns. It names both files.
    """
    for other in sorted(others, key=lambda head: head.shard.number):
        if other.chosen == first.chosen:
            continue
        shown, shown_other = stream.shown(first.path), stream.shown(other.shard.file.path)
        if other.chosen is None:
            cause = f"{other.error}; the first records of another file have all columns: {shown}"
        else:
            said = _differences(first.chosen.columns, other.chosen.columns)
            cause = (
                f"{stream.label}: two files do not have the same columns of texts: {said}: "
                f"{shown}, {shown_other}"
            )
        raise InputError(
            cause,
            "name columns that all files have, and write null for a missing value; or use a "
            "pattern that matches only files with the same columns",
        )


def _differences(first: Sequence[ColumnPath], other: Sequence[ColumnPath]) -> str:
    said = []
    for place, columns, others in (("first", first, other), ("second", other, first)):
        only = [quoted_path(path.steps) for path in columns if path not in others]
        if only:
            said.append(f"only the {place} has {joined(only, _MOST_NAMES)}")
    return "; ".join(said) or "they have another order"


def first_lines(
    stream: Stream,
    shard: Shard,
    most: int,
    open_file: Open,
    max_line_bytes: int,
    skips_long_lines: bool = False,
) -> list[bytes]:
    """The first lines of a file, without their newlines: at least one if it has one.

    Args:
      stream: the stream.
      shard: the file.
      most: about how many bytes of text to read, more only for a longer first line.
      open_file: opens a file.
      max_line_bytes: the largest number of bytes of a line.
      skips_long_lines: whether to leave out longer lines.

    Raises:
      InputError: the file cannot be read or is not text, or its first line is too long.
    """
    file = shard.file
    text = b""
    is_whole = True
    is_in_long_line = False
    for chunk in read_chunks(stream, file, most, open_file):
        if is_in_long_line:
            _, newline, chunk = chunk.partition(b"\n")
            is_in_long_line = not newline
        text += chunk
        if skips_long_lines and len(text) > max_line_bytes:
            *ended, last = text.split(b"\n")
            is_in_long_line = len(last) > max_line_bytes
            short = [line for line in ended if len(line) <= max_line_bytes]
            text = b"\n".join([*short, b"" if is_in_long_line else last])
        if len(text) >= most:
            if b"\n" in text:
                is_whole = False
                break
            if len(text) > max_line_bytes:
                what, remedy = line_too_long(max_line_bytes)
                raise InputError(stream.told(f"line 1 {what}", file.path), remedy)
    _check_text(stream, shard, text)
    lines = text.split(b"\n")
    if not is_whole or not lines[-1]:
        lines.pop()
    return lines


def read_header(stream: Stream, shard: Shard, open_file: Open, max_line_bytes: int) -> bytes | None:
    """The first line of a file, without a carriage return at its end; None if the file is empty.

    Raises:
      InputError: see `first_lines`.
    """
    lines = first_lines(stream, shard, _HEADER_BYTES, open_file, max_line_bytes)
    return without_return(lines[0]) if lines else None


def require_same_headers(stream: Stream, headers: Sequence[tuple[Shard, bytes]]) -> None:
    """Checks that all files have the same header.

    Args:
      stream: the stream.
      headers: the files that are not empty, with their headers.

    Raises:
      InputError: two headers differ. It names both files.
    """
    ordered = sorted(headers, key=lambda file: file[0].number)
    for shard, header in ordered:
        first, expected = ordered[0]
        if header != expected:
            raise InputError(
                f"{stream.label}: the headers of two files are different: {_shown(expected)} in "
                f"{first.file.path}, {_shown(header)} in {shard.file.path}",
                "give all files the same columns; if the files have no headers, add --no_header",
            )


def _shown(header: bytes) -> str:
    shown = repr(header.decode(errors="replace"))
    return shown if len(shown) <= 100 else f"{shown[:100]}..."


def _fields(stream: Stream, path: str, line: bytes) -> tuple[str, ...]:
    try:
        return fields_of(line)
    except UnicodeDecodeError as error:
        raise InputError(
            stream.told(f"line 1: invalid UTF-8 at byte {error.start + 1} of the line", path),
            "convert the file to UTF-8 (iconv -f ... -t UTF-8), or repair it",
        ) from error


def _check_text(stream: Stream, shard: Shard, text: bytes) -> None:
    """Raises the errors that the counting of all lines would raise, but before it."""
    path = shard.file.path
    refuse_compressed(stream, path, text)
    if text.startswith(_PARQUET):
        raise InputError(stream.told("it is a Parquet file", path), "add --input_format parquet")
    if text.startswith(_ARROW):
        raise InputError(stream.told("it is an Arrow file", path), "add --input_format arrow")
    if text.startswith(_AVRO):
        raise InputError(stream.told("it is an Avro file", path), "add --input_format avro")
    newlines, nuls, controls = count_bytes(np.frombuffer(text, np.uint8))
    part = ByteRange(shard, 0, shard.file.size, shard.file.size)
    counts = LineCounts(
        part, np.array([newlines]), False, len(text), nul_bytes=nuls, control_bytes=controls
    )
    require_text(stream, [counts])
