"""Parquet files: their row groups, and the columns that are read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.types as pt

from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.group_file import GroupFile, GroupPiece

_BUFFER_BYTES = 1 << 20
_REMOTE_BUFFER_BYTES = 1 << 23
"""Bytes of a column that are read at a time."""

_MOST_PRE_BUFFERED = 1 << 27
"""The most bytes of row groups on another machine whose columns are read as a whole."""

_MOST_UNBUFFERED = 1 << 25
"""About the most bytes of a local row group whose columns are read without a buffer. A buffer costs
one more copy of the bytes."""


class ParquetFile(GroupFile):
    mark = b"PAR1"

    def __init__(self, source: pa.NativeFile, piece: GroupPiece | None, *_: object) -> None:
        import pyarrow.parquet as pq  # a run without Parquet does not load it

        is_local = isinstance(source, pa.OSFile)
        all_bytes = piece.bytes if piece else 0
        group_bytes = all_bytes // len(piece.groups) if piece else 0
        buffer_bytes = _BUFFER_BYTES if is_local else _REMOTE_BUFFER_BYTES
        if is_local and group_bytes <= _MOST_UNBUFFERED:
            buffer_bytes = 0  # none: pyarrow reads the columns of one row group at a time
        # Of a large row group, only the buffers are in memory. On other machines each read is a
        # request, so the bytes of small row groups are read at once.
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
        # Sizes of all columns: pyarrow ends the process if it is asked about one column, and this
        # column is encrypted.
        return [(group.num_rows, group.total_byte_size) for group in groups]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of row groups: only the fields that the paths lead to, up to the first list."""
        names = [".".join(map(str, itertools.takewhile(_is_name, path.steps))) for path in paths]
        # pyarrow reads a dictionary in a list or struct only within a row group.
        nested = filter(pt.is_nested, self.schema.types)
        one_by_one = any("dictionary<" in str(kind) for kind in nested)
        for part in [[group] for group in piece.groups] if one_by_one else [list(piece.groups)]:
            yield from self._file.iter_batches(
                batch_size=batch_rows, row_groups=part, columns=names, use_threads=False
            )


def _is_name(step: str | int) -> bool:
    return isinstance(step, str)
