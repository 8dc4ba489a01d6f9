"""Reads records from lines in memory, for tests of the formats."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.records.columns.column_paths import (
    parse_column_path,
)
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords
from beam_bleu.transforms.pairing.records.text.raw_lines import RawLines


def raw_lines(lines: Sequence[bytes], first: int = 0) -> RawLines:
    """Lines as a reader gives them."""
    column = pa.array(lines, pa.large_binary()).cast(pa.large_string())
    return RawLines(padded(column), first, "input", "records", first + 1)


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


def rows_of(read: ReadRecords) -> list[dict[str, object]]:
    """The values of each record that could be read, by column; None for a bad one."""
    columns = {path.text: column.to_pylist() for path, column in read.columns.items()}
    count = len(next(iter(columns.values())))
    rows = [{name: values[i] for name, values in columns.items()} for i in range(count)]
    for bad in read.bad:
        row = bad.number - read.first
        assert set(rows[row].values()) <= {None}
        rows[row] = None
    return rows
