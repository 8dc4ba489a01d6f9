"""Parquet files: their row groups, and the leaves of the columns that are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.group_file import (
    GroupFormat,
    GroupsChangedError,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPiece

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_BUFFER_BYTES = 1 << 20
_REMOTE_BUFFER_BYTES = 1 << 23
"""Bytes of a column that are read at a time."""

_MOST_PRE_BUFFERED = 1 << 27
"""The most bytes of row groups on another machine whose columns are read as a whole."""

_MOST_UNBUFFERED = 1 << 25
"""About the most bytes of a local row group whose columns are read without a buffer. A buffer costs
one more copy of the bytes."""

_FIXED_SIZE_LISTS = "Expected all lists to be of size"
"""Arrow's error for a row of a column of lists of a fixed size that is null."""

_MAGIC = b"PAR1"
_ENCRYPTED_MAGIC = b"PARE"
_ARROW = b"ARRO"


class _ParquetFile:
    """An open Parquet file."""

    def __init__(self, file: pq.ParquetFile) -> None:
        self._file = file
        self.schema: pa.Schema = file.schema_arrow

    def groups(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of rows of all row groups, and the bytes of all of their columns."""
        metadata = self._file.metadata
        groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
        # Sizes of all columns: pyarrow ends the process if it is asked about one column, and this
        # column is encrypted.
        return [group.num_rows for group in groups], [group.total_byte_size for group in groups]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of row groups: only the leaves that hold the values of the paths."""
        groups = piece.groups
        metadata = self._file.metadata
        if groups.stop > metadata.num_row_groups or piece.rows != sum(
            metadata.row_group(group).num_rows for group in groups
        ):
            raise GroupsChangedError
        leaves = _leaves(self.schema, metadata.num_columns, paths)
        yield from self._file.iter_batches(
            batch_size=batch_rows,
            row_groups=list(groups),
            columns=[metadata.schema.column(leaf).path for leaf in leaves],
            use_threads=False,
        )


def _open(source: pa.NativeFile, piece: GroupPiece | None) -> _ParquetFile:
    import pyarrow.parquet as pq  # a run without Parquet does not load it

    is_local = isinstance(source, pa.OSFile)
    all_bytes = piece.bytes if piece else 0
    group_bytes = all_bytes // len(piece.groups) if piece else 0
    buffer_bytes = _BUFFER_BYTES if is_local else _REMOTE_BUFFER_BYTES
    if is_local and group_bytes <= _MOST_UNBUFFERED:
        buffer_bytes = 0  # none: pyarrow reads the columns of one row group at a time
    return _ParquetFile(
        pq.ParquetFile(
            source,
            # Of a large row group, only the buffers are in memory. On other machines each read is a
            # request, so the bytes of small row groups are read at once.
            buffer_size=buffer_bytes,
            pre_buffer=not is_local and all_bytes <= _MOST_PRE_BUFFERED,
            page_checksum_verification=True,
        )
    )


def _check(stream: Stream, path: str, source: pa.NativeFile, size: int) -> None:
    first = source.read_at(len(_MAGIC), 0)
    last = source.read_at(len(_MAGIC), max(size - len(_MAGIC), 0))
    if _ENCRYPTED_MAGIC in (first, last):
        raise _encrypted(stream, path)
    if first == _ARROW:
        raise InputError(stream.told("it is an Arrow file", path), "add --input_format arrow")
    if first != _MAGIC:
        raise InputError(
            stream.told("this is not a Parquet file", path),
            "check the path and --input_format; a Parquet file is not compressed as a whole",
        )
    if last != _MAGIC or size < 3 * len(_MAGIC):
        raise InputError(
            stream.told("the Parquet file is truncated: its footer is missing", path),
            "copy it again, or wait until it is written",
        )


def _explained(stream: Stream, path: str, said: str) -> InputError | None:
    if "crypt" in said.lower():
        return _encrypted(stream, path)
    if _FIXED_SIZE_LISTS in said:
        return InputError(
            stream.told(
                f"pyarrow cannot read null in a column of lists of a fixed size: {said}", path
            ),
            "write the column with lists of any size: pa.list_(pa.string()) in pyarrow",
        )
    return None


def _encrypted(stream: Stream, path: str) -> InputError:
    return InputError(
        stream.told("the file is encrypted, and cannot be read", path), "decrypt it first"
    )


def _leaves(schema: pa.Schema, leaves: int, paths: Sequence[ColumnPath]) -> Sequence[int]:
    """The numbers of the leaves that hold the values of paths.

    Parquet stores a nested column as several columns, the leaves, in the order of the fields.
    """
    bounds = np.cumsum([0, *(_leaf_count(field.type) for field in schema)])
    if bounds[-1] != leaves:
        return range(leaves)  # a type that this file does not know: everything is read
    numbers: set[int] = set()
    for path in paths:
        number = schema.names.index(path.steps[0])
        first, kind = int(bounds[number]), schema.field(number).type
        for step in path.steps[1:]:
            kind = _stored(kind)
            if isinstance(step, int):
                kind = kind.value_type
                continue
            index = kind.get_field_index(step)
            first += sum(_leaf_count(kind.field(before).type) for before in range(index))
            kind = kind.field(index).type
        numbers.update(range(first, first + _leaf_count(kind)))
    return sorted(numbers)


def _leaf_count(kind: pa.DataType) -> int:
    kind = _stored(kind)
    if pa.types.is_map(kind):
        return _leaf_count(kind.key_type) + _leaf_count(kind.item_type)
    if pa.types.is_nested(kind):
        return sum(_leaf_count(kind.field(index).type) for index in range(kind.num_fields))
    return 1


def _stored(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _stored(kind.storage_type)
    return _stored(kind.value_type) if pa.types.is_dictionary(kind) else kind


PARQUET = GroupFormat(
    "Parquet", "a Parquet file", "row group", "row groups", _check, _open, _explained
)
