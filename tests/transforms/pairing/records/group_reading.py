"""Reads files of Parquet, Arrow and Avro without Beam, for tests."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.streams import Stream, shards_in_order
from beam_bleu.transforms.pairing.records.formats import format_of_name
from beam_bleu.transforms.pairing.records.record_files import Portion
from beam_bleu.transforms.pairing.records.row_group_records import GROUP_FORMATS, RowGroupRecords
from beam_bleu.transforms.pairing.records.wanted import ReadRecords, Wanted

SUFFIXES = {"parquet": ".parquet", "file": ".arrow", "stream": ".arrow", "avro": ".avro"}
"""By its name each form of files: Arrow has files that can be read in any order, and streams."""

AVRO = {
    "type": "record",
    "name": "segment",
    "fields": [
        {"name": "hyp", "type": ["null", "string"]},
        {"name": "ref", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
    ],
}

TEXTS = ["", "a b c", "Käse", "\U0001f600", "tab\there", "new\nline", "x" * 300]


def table_of(rows: int) -> pa.Table:
    def column(name: str) -> list[str]:
        return [f"{name} {i} {TEXTS[i % len(TEXTS)]}" for i in range(rows)]

    references = [[text, None, "r"][: i % 3 + 1] for i, text in enumerate(column("ref"))]
    return pa.table({"hyp": column("hyp"), "ref": references})


def pairs_of(table: pa.Table) -> list[tuple[str, list[str]]]:
    return list(zip(table["hyp"].to_pylist(), table["ref"].to_pylist(), strict=True))


def write(path, table, form, rows=None, **options):
    """Writes a file in groups of so many rows; of Avro, in blocks of 20 bytes for each row."""
    if form == "parquet":
        pq.write_table(table, path, row_group_size=rows, **options)
    elif form == "avro":
        sizes = {"sync_interval": 20 * rows} if rows else {}
        with path.open("wb") as file:
            fastavro.writer(file, AVRO, table.to_pylist(), **sizes, **options)
    else:
        new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
        with new(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table, max_chunksize=rows)
    return path


def records(pattern: pathlib.Path | str, *, range_bytes: int | None = None, **wanted: Any) -> Any:
    """A source for tests: the columns are hyp and ref, if no others are given."""
    columns = {"candidates": ("hyp",), "references": ("ref",), **wanted}
    name = format_of_name(str(pattern))
    assert name in GROUP_FORMATS
    stream = Stream("input", str(pattern))
    return RowGroupRecords(stream, Wanted(**columns), name, range_bytes=range_bytes)


def portions_of(source: RowGroupRecords) -> list[Portion]:
    """The portions in order."""
    shards = shards_in_order(0, source.stream, find_files(source.stream))
    footers = [footer for shard in shards for footer in source.look_at(shard)]
    return sorted(source.planned(footers[::-1]).portions, key=lambda portion: portion.first)


def read_all(source: RowGroupRecords, digest: bool = False) -> Iterator[ReadRecords]:
    for portion in portions_of(source):
        yield from source.read(portion, digest)


def rows_of(source: RowGroupRecords) -> list[tuple[Any, ...]]:
    """The values of all columns, row by row."""
    rows: list[tuple[Any, ...]] = []
    for read in read_all(source):
        rows += zip(*(column.to_pylist() for column in read.columns.values()), strict=True)
    return rows


def digest_of(source: RowGroupRecords) -> int:
    digests = [read.digest for read in read_all(source, digest=True)]
    assert max(digests, default=0) < 1 << 128
    return sum(digests) % (1 << 128)


def outcome(path: pathlib.Path) -> list[tuple[Any, ...]] | str:
    """The rows; or the cause of the error, which must name the file."""
    try:
        return rows_of(records(path))
    except InputError as error:
        cause = error.cause
    assert str(path) in cause
    return cause
