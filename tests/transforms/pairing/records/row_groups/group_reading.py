"""Reads files of Parquet, Arrow and Avro without Beam, for tests."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.records.columns.wanted import ReadRecords, Wanted
from beam_bleu.transforms.pairing.records.formats import format_of_name
from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPlan, make_group_plan
from beam_bleu.transforms.pairing.records.row_groups.source import GROUP_FORMATS, RowGroupRecords

TEXTS = ["", "a b c", "Käse", "\U0001f600", "tab\there", "new\nline", "x" * 300]


def records(pattern: pathlib.Path | str, *, range_bytes: int | None = None, **wanted: Any) -> Any:
    """A source for tests: the columns are hyp and ref, if no others are given."""
    columns = {"candidates": ("hyp",), "references": ("ref",), **wanted}
    name = format_of_name(str(pattern))
    assert name in GROUP_FORMATS
    return RowGroupRecords(
        Stream("input", str(pattern)), Wanted(**columns), name, range_bytes=range_bytes
    )


def plan_of(source: RowGroupRecords) -> GroupPlan:
    stream = source.stream
    footers = [source.footer(shard) for shard in shards_in_order(0, stream, find_files(stream))]
    return make_group_plan(stream, footers[::-1], source.range_bytes)


def read_all(source: RowGroupRecords, digest: bool = False) -> Iterator[ReadRecords]:
    for portion in plan_of(source).portions():
        yield from source.read(portion, digest)


def rows_of(source: RowGroupRecords) -> list[tuple[Any, ...]]:
    """The values of all columns, row by row."""
    return [
        row
        for read in read_all(source)
        for row in zip(*(column.to_pylist() for column in read.columns.values()), strict=True)
    ]


def digest_of(source: RowGroupRecords) -> int:
    return sum(read.digest or 0 for read in read_all(source, digest=True)) % (1 << 128)


def outcome(path: pathlib.Path) -> list[tuple[Any, ...]] | str:
    """The rows; or the cause of the error, which must name the file."""
    try:
        return rows_of(records(path))
    except InputError as error:
        cause = error.cause
    assert str(path) in cause
    return cause
