"""`WholeFile` reads files that are parsed whole; what parsers share."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from beam_bleu.transforms.pairing.files.chunks import UTF16_MARKS
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS
from beam_bleu.transforms.pairing.records.group_files import (
    GroupFile,
    GroupPiece,
    decompressed_chunks,
    unread,
)
from beam_bleu.transforms.pairing.records.wanted import ColumnPath

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import RecordFiles


class WholeFile(GroupFile):
    """A file that the parser of its format makes into rows, all in one group.

    A parser gets the bytes of a file, decompressed, and returns rows as dicts, or a table. It
    raises `ArrowInvalid`, such as "line 3 has no id", for a file that is not of the format.
    """

    remedy = "check the path and --input_format; if they are right, correct the file"

    def __init__(
        self, source: pa.NativeFile, piece: GroupPiece | None, files: RecordFiles, path: str
    ) -> None:
        module, _, function = RECORD_FORMATS[files.format].parser.rpartition(".")
        parser = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        rows = parser(b"".join(decompressed_chunks(source, files, path)))
        self._bytes = source.size()
        self._table = rows if isinstance(rows, pa.Table) else _table_of(rows)
        self.schema = self._table.schema

    def groups(self) -> list[tuple[int, int]]:
        return [(len(self._table), self._bytes)]

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        yield from self._table.to_batches(max_chunksize=batch_rows)


def _table_of(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """A row without a column has null there. Nothing reads columns of values of several types."""
    listed = list(rows)
    if not listed:
        raise pa.ArrowInvalid("it has no rows")
    names = dict.fromkeys(itertools.chain.from_iterable(listed))
    try:
        return pa.table({name: _column([row.get(name) for row in listed]) for name in names})
    except UnicodeEncodeError as error:
        text = json.dumps(error.object)
        number = next(number for number, row in enumerate(listed, 1) if text in json.dumps(row))
        raise pa.ArrowInvalid(f"row {number} has half of a surrogate pair") from error


def _column(values: Sequence[Any]) -> pa.Array:
    for kind in (None, pa.uint64()):  # which pyarrow does not find by itself
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return pa.array(values, kind)
    return pa.nulls(len(values), unread("of several types"))


def decoded(data: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 if it begins with a byte order mark."""
    try:
        return data.decode("utf-16" if data.startswith(UTF16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise pa.ArrowInvalid(f"line {line} is not in {error.encoding}: {error.reason}") from error


def lines(data: bytes) -> Iterator[tuple[int, str]]:
    """The number from 1, and the text, of each line that is not blank."""
    for number, line in enumerate(decoded(data).split("\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\r")
