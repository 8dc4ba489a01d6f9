"""Reads files whose rows lie in groups: their footers, and the records of groups."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import (
    BleuError,
    InputError,
    joined,
    lacks_open_files,
    open_file_limit,
)
from beam_bleu.transforms.native.text_columns import offsets_of
from beam_bleu.transforms.pairing.bad_records import MAX_RAW_BYTES, BadReason, BadRecord
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream, changed
from beam_bleu.transforms.pairing.records.columns.choosing import choose
from beam_bleu.transforms.pairing.records.columns.column_paths import (
    InvalidTextError,
    as_texts,
    is_text,
    is_texts,
    raw_value,
    value_of,
)
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    ReadRecords,
    Wanted,
)
from beam_bleu.transforms.pairing.records.record_segments import meeting_conditions
from beam_bleu.transforms.pairing.records.row_groups.group_file import (
    GroupFile,
    GroupFormat,
    GroupsChangedError,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import (
    Footer,
    GroupPiece,
    GroupPortion,
    OtherColumnsError,
)
from beam_bleu.transforms.pairing.records.row_groups.record_digest import sum_of_record_hashes
from beam_bleu.transforms.progress import PROGRESS

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.needs import Role

OpenForArrow = Callable[[str], pa.NativeFile]
"""Opens a file to read any of its bytes."""

VersionOf = Callable[[Stream, str], str | None]
"""The version of a file, or None (`found_files.version_of`)."""

_BATCH_BYTES = 1 << 23
"""About the largest number of bytes of a batch."""

_MOST_NAMES = 12
"""The largest number of names of columns in a message."""


def read_footer(
    form: GroupFormat,
    stream: Stream,
    shard: Shard,
    version: str | None,
    open_file: OpenForArrow,
    wanted: Wanted,
    roles: Sequence[Role],
) -> Footer:
    """Reads the footer of a file: its groups and columns.

    If the file does not have the wanted columns, the footer has the error.

    Raises:
      InputError: the file does not have the format, or cannot be read.
    """
    path = shard.file.path
    with _opened(form, stream, shard.file, open_file) as file:
        chosen, error = None, None
        try:
            chosen = choose(wanted, file.schema, stream.label, roles)
        except InputError as failed:
            error = InputError(f"{failed.cause}: {stream.shown(path)}", failed.remedy)
        except UnicodeDecodeError as failed:  # pyarrow decodes a name when it is asked for it
            raise _damaged(form, stream, path, f"the name of a column: {failed}") from failed
        with _errors_named(form, stream, path):
            rows, sizes = file.groups()
    return Footer(
        shard, version, np.array(rows, np.int64), np.array(sizes, np.int64), chosen, error
    )


def other_columns(
    form: GroupFormat, stream: Stream, footers: OtherColumnsError, open_file: OpenForArrow
) -> InputError:
    """The error for two files with different columns. It reads their footers again.

    Raises:
      InputError: a file cannot be read.
    """
    files = [footer.shard.file for footer in (footers.first, footers.other)]
    one, other = (read_schema(form, stream, file, open_file) for file in files)
    kinds = {
        name: str(one.field(name).type) for name in set(one.names) if one.names.count(name) == 1
    }
    differing = [
        f"{name} is {kinds[name]} in the first and {field.type} in the second"
        for name, field in zip(other.names, other, strict=True)
        if kinds.get(name, str(field.type)) != str(field.type)
    ]
    for place, names, others in (("first", one, other), ("second", other, one)):
        only = [name for name in names.names if name not in others.names]
        if only:
            differing.append(f"only the {place} has {joined(only, _MOST_NAMES)}")
    said = "; ".join(differing)
    if not said and footers.other.error is not None:
        said = footers.other.error.cause
    paths = ", ".join(stream.shown(file.path) for file in files)
    return InputError(
        f"{stream.label}: two files do not have the same columns: {said}: {paths}",
        "use a pattern that matches only files with the same columns, or name columns that all "
        "files have",
    )


def read_schema(
    form: GroupFormat, stream: Stream, file: FoundFile, open_file: OpenForArrow
) -> pa.Schema:
    """The columns of a file.

    Raises:
      InputError: the file does not have the format, or cannot be read.
    """
    with _opened(form, stream, file, open_file) as opened:
        return opened.schema


def read_portion(
    form: GroupFormat,
    stream: Stream,
    portion: GroupPortion,
    open_file: OpenForArrow,
    version_of: VersionOf,
    max_text_bytes: int,
    digest: bool = False,
) -> Iterator[ReadRecords]:
    """The records of a portion, in order.

    Raises:
      InputError: a file cannot be read, is damaged, or has changed since its footer was read.
    """
    first = portion.first_record
    for piece in portion.pieces:
        path = piece.file.path
        try:
            if piece.rows:
                for read in _read_piece(form, stream, piece, portion.chosen, first, open_file):
                    yield _checked(stream, read, piece, portion.chosen, max_text_bytes, digest)
        except InputError:
            # A file that was replaced looks as if it were damaged.
            if version_of(stream, path) != piece.version:
                raise _changed(stream, path) from None
            raise
        if version_of(stream, path) != piece.version:
            raise _changed(stream, path)
        first += piece.rows


def _changed(stream: Stream, path: str) -> InputError:
    return changed(stream, path, "was changed after its footer was read")


_Batch = tuple[pa.RecordBatch, int, int]
"""(rows, the number of the first one in the input, the same in the file from 0)."""


def _read_piece(
    form: GroupFormat,
    stream: Stream,
    piece: GroupPiece,
    chosen: Chosen,
    first: int,
    open_file: OpenForArrow,
) -> Iterator[_Batch]:
    path = piece.file.path
    read = 0
    with _opened(form, stream, piece.file, open_file, piece) as file:
        batches = file.batches(piece, chosen.columns, _batch_rows(piece, chosen))
        while True:
            with _errors_named(form, stream, path, piece.groups):
                try:
                    batch = next(batches, None)
                except GroupsChangedError:
                    raise _changed(stream, path) from None
            if batch is None:
                break
            yield batch, first + read, piece.first_row + read
            read += len(batch)
            PROGRESS.add(piece.bytes * len(batch) // piece.rows)
    if read != piece.rows:
        raise _damaged(form, stream, path, f"{read} of {piece.rows} rows could be read")


def _batch_rows(piece: GroupPiece, chosen: Chosen) -> int:
    row_bytes = piece.bytes // piece.rows + 1
    return max(min(usual_rows(len(chosen.columns)), _BATCH_BYTES // row_bytes), 1)


def _checked(
    stream: Stream,
    batch: _Batch,
    piece: GroupPiece,
    chosen: Chosen,
    max_text_bytes: int,
    digest: bool,
) -> ReadRecords:
    """Rows as records, with texts that are UTF-8, and not too long.

    Records that the conditions leave out are not judged, unless the conditions' columns are bad.
    """
    rows, first, first_row = batch
    columns: dict[ColumnPath, pa.Array] = {}
    wrong: dict[int, tuple[ColumnPath, BadReason, str, str]] = {}
    too_long: dict[ColumnPath, list[int]] = {}
    conditions = dict.fromkeys(condition.column for condition in chosen.where)
    for path in dict.fromkeys([*conditions, *chosen.columns]):
        column = value_of(rows, path)
        if is_text(column.type) or is_texts(column.type):
            try:
                column = as_texts(column)
            except InvalidTextError as error:
                column = error.rest
                for row, detail in zip(error.rows, error.details, strict=True):
                    what = f"column {path}: {detail}"
                    wrong.setdefault(
                        row, (path, "invalid-utf8", what, "convert the texts to UTF-8")
                    )
            too_long[path] = _too_long(column, max_text_bytes)
            for row in too_long[path]:
                what = f"column {path}: the text has more than {max_text_bytes} bytes"
                remedy = (
                    "check that this column is the right one; "
                    "if its texts are that long, raise --max_line_bytes"
                )
                wrong.setdefault(row, (path, "line-too-long", what, remedy))
        columns[path] = column
    if wrong and conditions:
        meeting = meeting_conditions(columns, chosen, len(rows))
        wrong = {
            row: fault for row, fault in wrong.items() if fault[0] in conditions or meeting[row]
        }
    if wrong:
        # A join needs the id and the name of the system of a bad record. If they are not UTF-8,
        # they are null already.
        columns = {
            path: _without(
                column,
                [row for row in too_long.get(path, ()) if row in wrong]
                if path in chosen.names
                else list(wrong),
            )
            for path, column in columns.items()
        }
    in_order = tuple(
        BadRecord(
            first + row,
            stream.label,
            piece.file.path,
            f"row {first_row + row + 1}",
            *wrong[row][1:],
            _raw(rows.slice(row, 1), chosen),
        )
        for row in sorted(wrong)
    )
    read = ReadRecords(columns, first, piece.file.path, first_row + 1, "row", in_order)
    if not digest:
        return read
    return dataclasses.replace(read, digest=sum_of_record_hashes(read, chosen))


def _raw(row: pa.RecordBatch, chosen: Chosen) -> bytes:
    """The values of a row as JSON. Bytes that are not UTF-8 stay as they are."""
    values = {path.text: raw_value(value_of(row, path)) for path in chosen.columns}
    text = json.dumps(values, ensure_ascii=False, default=str)
    return text.encode("utf-8", "surrogateescape")[:MAX_RAW_BYTES]


def _too_long(texts: pa.Array, max_bytes: int) -> list[int]:
    """The rows with a text that has more bytes."""
    if pa.types.is_large_list(texts.type):
        elements = _too_long(texts.values, max_bytes)
        lists = np.searchsorted(texts.offsets.to_numpy(), elements, side="right") - 1
        return [int(row) for row in np.unique(lists)]
    return [int(row) for row in np.flatnonzero(np.diff(offsets_of(texts)) > max_bytes)]


def _without(column: pa.Array, rows: Sequence[int]) -> pa.Array:
    """The column with null in these rows."""
    mask = np.zeros(len(column), bool)
    mask[rows] = True
    return column.take(pa.array(np.arange(len(column)), mask=mask))


@contextlib.contextmanager
def _opened(
    form: GroupFormat,
    stream: Stream,
    listed: FoundFile,
    open_file: OpenForArrow,
    piece: GroupPiece | None = None,
) -> Iterator[GroupFile]:
    """A file that is closed at the end.

    Args:
      form: its format.
      stream: its stream.
      listed: the file, as it was listed.
      open_file: opens it.
      piece: the groups that are read; None to read only the footer.

    Raises:
      InputError: it does not have the format, or cannot be read.
    """
    path = listed.path
    with contextlib.ExitStack() as stack:
        with _errors_named(form, stream, path):
            source = stack.enter_context(open_file(path))
            size = source.size()
        if size != listed.size:
            raise changed(stream, path, f"has {size} bytes, and had {listed.size} when listed")
        if not size:
            raise InputError(
                stream.told(f"the file is empty, so it is not {form.a_file}", path),
                f"check that it was written; {form.a_file} without rows has some bytes",
            )
        with _errors_named(form, stream, path):
            try:
                file = form.open(source, piece)
            except (pa.ArrowException, OSError):
                form.check(stream, path, source, size)
                raise
        yield file


@contextlib.contextmanager
def _errors_named(
    form: GroupFormat, stream: Stream, path: str, groups: range | None = None
) -> Iterator[None]:
    """Makes an `InputError` of each error inside."""
    try:
        yield
    except (BleuError, MemoryError):
        raise
    except Exception as error:  # Arrow and each filesystem have exceptions of their own
        if lacks_open_files(error):
            raise open_file_limit(stream.told("cannot be read", path)) from error
        if isinstance(error, FileNotFoundError):
            raise InputError(
                stream.told("the file was removed while the job ran", path),
                "start again when the file is complete, and do not remove it",
            ) from error
        said = str(error).strip().partition("\n")[0].rstrip(".")
        explained = form.explained(stream, path, said)
        if explained is not None:
            raise explained from error
        where = ""
        if groups is not None:
            only = len(groups) == 1
            where = (
                f"{form.group} {groups.start}"
                if only
                else f"{form.group_plural} {groups.start} to {groups[-1]}"
            )
            where += ": "
        raise _damaged(form, stream, path, f"{where}{said}") from error


def _damaged(form: GroupFormat, stream: Stream, path: str, what: str) -> InputError:
    return InputError(
        stream.told(f"the {form.label} file cannot be read: {what}", path),
        "check the file, for example copy it again",
    )
