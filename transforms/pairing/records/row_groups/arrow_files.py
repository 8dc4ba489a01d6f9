"""Arrow files (IPC, also called Feather): those that can be read in any order, and streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.arrow_messages import (
    MAGIC,
    arrow_groups,
    is_stream,
)
from beam_bleu.transforms.pairing.records.row_groups.group_file import (
    GroupFormat,
    GroupsChangedError,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPiece

_OLD_FEATHER = b"FEA1"
_PARQUET = b"PAR1"


class _ArrowFile:
    """An open Arrow file. A stream is one group, because it is read from its beginning."""

    def __init__(self, source: pa.NativeFile) -> None:
        self._source = source
        self._streamed = is_stream(source)
        self.schema: pa.Schema = self._reader(None).schema

    def groups(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of rows of the record batches, and their bytes as they are in the file."""
        found = arrow_groups(self._source)
        if not self._streamed:
            return found.rows, found.bytes
        return [sum(found.rows)], [sum(found.bytes)]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of record batches: only the columns that the paths begin with.

        A record batch is read as a whole, because it can be compressed.
        """
        fields = sorted({self.schema.names.index(path.steps[0]) for path in paths})
        read = 0
        for batch in self._whole_batches(piece, fields):
            for column in batch.columns:
                _require_sound(column)
            read += len(batch)
            if read > piece.rows:
                raise GroupsChangedError
            for first in range(0, len(batch), batch_rows):
                yield batch.slice(first, batch_rows)

    def _whole_batches(self, piece: GroupPiece, fields: Sequence[int]) -> Iterator[pa.RecordBatch]:
        reader = self._reader(fields)
        try:
            if self._streamed:
                yield from reader
                return
            if piece.groups.stop > reader.num_record_batches:
                raise GroupsChangedError
            for number, rows in zip(piece.groups, piece.group_rows, strict=True):
                batch = reader.get_batch(number)
                if len(batch) != rows:
                    raise GroupsChangedError
                yield batch
        except pa.ArrowMemoryError as error:
            raise pa.ArrowInvalid(
                f"{error}; the file is damaged, or its record batches are too large for the memory"
            ) from error

    def _reader(self, fields: Sequence[int] | None) -> pa.RecordBatchReader:
        self._source.seek(0)
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
        opened = pa.ipc.open_stream if self._streamed else pa.ipc.open_file
        return opened(self._source, options=options)


def _require_sound(column: pa.Array) -> None:
    """Checks that the places of all values are within the column. Texts may have any bytes.

    pyarrow trusts the places that a file has. Wrong ones would be outside of the memory.

    Raises:
      ArrowInvalid: they are not.
    """
    column.validate()
    column.view(_with_bytes(column.type)).validate(full=True)


def _with_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with bytes in place of strings."""
    of = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _with_bytes(kind.storage_type)
    for is_string, of_bytes in (
        (of.is_string, pa.binary()),
        (of.is_large_string, pa.large_binary()),
        (of.is_string_view, pa.binary_view()),
    ):
        if is_string(kind):
            return of_bytes
    if of.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _with_bytes(kind.value_type), kind.ordered)
    if of.is_map(kind):
        return pa.map_(_with_bytes(kind.key_type), _with_bytes(kind.item_type))
    if of.is_fixed_size_list(kind):
        return pa.list_(_with_bytes(kind.value_type), kind.list_size)
    for is_list, of_values in (
        (of.is_list, pa.list_),
        (of.is_large_list, pa.large_list),
        (of.is_list_view, pa.list_view),
        (of.is_large_list_view, pa.large_list_view),
    ):
        if is_list(kind):
            return of_values(_with_bytes(kind.value_type))
    if of.is_struct(kind):
        return pa.struct([field.with_type(_with_bytes(field.type)) for field in kind])
    return kind


def _open(source: pa.NativeFile, piece: GroupPiece | None) -> _ArrowFile:
    return _ArrowFile(source)


def _check(stream: Stream, path: str, source: pa.NativeFile, size: int) -> None:
    first = source.read_at(len(MAGIC), 0)
    if first.startswith(_PARQUET):
        raise InputError(stream.told("it is a Parquet file", path), "add --input_format parquet")
    if first.startswith(_OLD_FEATHER):
        raise InputError(
            stream.told("it is a Feather file of version 1, which is not Arrow", path),
            "write it again with pyarrow.feather.write_feather",
        )
    is_magic = first == MAGIC
    if not is_magic and first[:4] != b"\xff" * 4:
        raise InputError(
            stream.told("this is not an Arrow file", path),
            "check the path and --input_format; an Arrow file is not compressed as a whole",
        )
    if is_magic and source.read_at(len(MAGIC), max(size - len(MAGIC), 0)) != MAGIC:
        raise InputError(
            stream.told("the Arrow file is truncated: its footer is missing", path),
            "copy it again, or wait until it is written",
        )


def _explained(stream: Stream, path: str, said: str) -> None:
    return None


ARROW = GroupFormat(
    "Arrow", "an Arrow file", "record batch", "record batches", _check, _open, _explained
)
