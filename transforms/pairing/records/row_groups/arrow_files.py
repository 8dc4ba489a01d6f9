"""Arrow files (IPC, also called Feather): those that can be read in any order, and streams.

pyarrow takes a stream that ends early for a whole one, and ignores what follows the end of a
stream, or of two files that were put together. A file that can be read in any order is a stream
between two marks, with a footer. So each file is read once as a stream, without its columns: that
must end with the mark of the end, where the stream has to end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.types as pt

from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
from beam_bleu.transforms.pairing.records.row_groups.group_file import GroupFile, GroupPiece

_MAGIC = b"ARROW1"
"""The first and the last bytes of a file that can be read in any order. A stream has none."""

_START = 8
"""Where the stream in such a file begins."""

_END = b"\xff\xff\xff\xff\0\0\0\0"
"""The mark of the end of a stream."""


class ArrowFile(GroupFile):
    """An open Arrow file. A stream is one group, because it is read from its beginning."""

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
        """The rows of record batches: only the columns that the paths begin with.

        A record batch is read as a whole, because it can be compressed. pyarrow trusts the places
        of values that a file has, and wrong ones would be outside of the memory, so they are
        checked first. Whether texts are UTF-8 is checked later, row by row.
        """
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
    """The type with bytes in place of texts, for texts and lists of them."""
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
