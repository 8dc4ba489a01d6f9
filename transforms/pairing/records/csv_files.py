"""CSV files, as RFC 4180 describes them: a file is one group, because a field can have newlines."""

from __future__ import annotations

import csv
import functools
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.pairing.files.chunks import BYTE_ORDER_MARK
from beam_bleu.transforms.pairing.files.decompression import decompressed
from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS
from beam_bleu.transforms.pairing.records.group_files import GroupFile, GroupPiece

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import RecordFiles
    from beam_bleu.transforms.pairing.records.wanted import ColumnPath

_CHUNK_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 24  # what pyarrow parses at a time: a row that is twice as long is an error

_QUOTE, _NEWLINE = ord('"'), ord("\n")


class CsvFile(GroupFile):
    remedy = (
        "give all rows as many fields as the first one, and at most 16 MB; put fields that have "
        "quotes, newlines or delimiters in quotes, and write each quote in them twice"
    )

    def __init__(
        self, source: pa.NativeFile, piece: GroupPiece | None, files: RecordFiles, path: str
    ) -> None:
        self._bytes, self._header_rows = source.size(), int(files.has_header)
        self._delimiter = RECORD_FORMATS[files.format].delimiter
        suffix, read = compression(path), source.read
        if suffix:
            told = functools.partial(files.stream.told, path=path)
            read = io.BufferedReader(_Chunks(decompressed(source.read, suffix, told))).read
        first = read(_CHUNK_BYTES).removeprefix(BYTE_ORDER_MARK)
        text = io.StringIO(first.decode(errors="replace"), newline="")
        names = next(csv.reader(text, delimiter=self._delimiter), [])
        if not names:
            raise pa.ArrowInvalid("it is empty, or begins with an empty line")
        self.schema = pa.schema([(name, pa.large_binary()) for name in names])
        others = iter(lambda: read(_CHUNK_BYTES), b"")
        self._chunks: Iterable[bytes] = itertools.chain([first], others)
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
            # Bytes: whether they are UTF-8 is checked later, row by row.
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_binary())),
        )
        return rows


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
    """Checks that quotes are only around fields, and are closed: pyarrow takes others."""
    is_edge = np.zeros(256, bool)
    is_edge[[_QUOTE, _NEWLINE, ord("\r"), ord(delimiter)]] = True
    before, quotes_before, newlines, opened_line = b"\n", 0, 0, 0
    for chunk in chunks:
        text = np.frombuffer(before + chunk, np.uint8)
        quotes = np.flatnonzero(text == _QUOTE)
        is_opening = (quotes_before + np.arange(len(quotes))) % 2 == 0
        # A quote at the end of a chunk is its own neighbour here, and judged with the next chunk.
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
