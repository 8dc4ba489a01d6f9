"""Reads Parquet files without Beam, for tests."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from beam_bleu.transforms.pairing.files.found_files import find_files, open_for_arrow, version_of
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.records.columns.wanted import ReadRecords, Wanted
from beam_bleu.transforms.pairing.records.parquet.parquet_files import read_footer
from beam_bleu.transforms.pairing.records.parquet.parquet_plan import ParquetPlan, make_parquet_plan
from beam_bleu.transforms.pairing.records.parquet.source import ParquetRecords


def records(pattern: pathlib.Path | str, *, range_bytes: int | None = None, **wanted: Any) -> Any:
    """A source for tests: the columns are hyp and ref, if no others are given."""
    columns = {"candidates": ("hyp",), "references": ("ref",), **wanted}
    return ParquetRecords(Stream("input", str(pattern)), Wanted(**columns), range_bytes=range_bytes)


def plan_of(source: ParquetRecords) -> ParquetPlan:
    stream = source.stream
    footers = [
        read_footer(
            stream,
            shard,
            version_of(stream, shard.file.path),
            open_for_arrow,
            source.wanted,
            source.roles,
        )
        for shard in shards_in_order(0, stream, find_files(stream))
    ]
    return make_parquet_plan(stream, footers[::-1], source.range_bytes)


def read_all(source: ParquetRecords, digest: bool = False) -> Iterator[ReadRecords]:
    for portion in plan_of(source).portions():
        yield from source.read(portion, digest)


def rows_of(source: ParquetRecords) -> list[tuple[Any, ...]]:
    """The values of all columns, row by row."""
    return [
        row
        for read in read_all(source)
        for row in zip(*(column.to_pylist() for column in read.columns.values()), strict=True)
    ]


def digest_of(source: ParquetRecords) -> int:
    return sum(read.digest or 0 for read in read_all(source, digest=True)) % (1 << 128)
