"""Reads records from lines in memory, for tests of the formats."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.paired import BadRecord
from beam_bleu.transforms.pairing.records.column_paths import parse_column_path
from beam_bleu.transforms.pairing.records.formats import RecordFormatName
from beam_bleu.transforms.pairing.records.line_records import LineRecords
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    ColumnPath,
    RawRecords,
    ReadRecords,
    Wanted,
)


def read_lines(
    format_name: RecordFormatName,
    lines: Sequence[bytes],
    chosen: Chosen,
    first: int = 0,
    bad: tuple[BadRecord, ...] = (),
) -> tuple[ReadRecords, Sequence[BadRecord]]:
    """What is read of lines, and all bad records."""
    column = padded(pa.array(lines, pa.large_binary()).cast(pa.large_string()))
    source = LineRecords(Stream("input", "records"), Wanted(), format_name, header=False)
    raw = RawRecords(column, "input", "records", "line", first, first + 1, chosen, bad)
    read = source.parsed(raw, digest=False)
    return read, [*bad, *(read.bad_record(row, fault) for row, fault in read.faults.items())]


def chosen_columns(
    candidates: Sequence[str],
    references: Sequence[str],
    labels: Sequence[str] = (),
    id: str | None = None,
) -> Chosen:
    """The choice of these columns. Each system has the name of its column."""
    return Chosen(
        tuple((text, parse_column_path(text)) for text in candidates),
        tuple(parse_column_path(text) for text in references),
        tuple(parse_column_path(text) for text in labels),
        ids=() if id is None else (parse_column_path(id),),
    )


def numbered_columns(candidate: int, reference: int, fields: int) -> Chosen:
    """The choice of two columns of tab-separated text without a header."""
    hyp, ref = (ColumnPath(str(number), (number - 1,)) for number in (candidate, reference))
    names = tuple(str(number + 1) for number in range(fields))
    return Chosen((("hyp", hyp),), (ref,), fields=names)


def rows_of(read: ReadRecords) -> list[dict[str, object]]:
    """The values of each record that could be read, by column; None for a bad one."""
    columns = {path.text: column.to_pylist() for path, column in read.columns.items()}
    count = len(next(iter(columns.values())))
    rows = [{name: values[i] for name, values in columns.items()} for i in range(count)]
    for row in read.faults:
        rows[row] = None
    return rows
