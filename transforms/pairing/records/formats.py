"""The formats of record files: each one is a row of a table."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.files.tables import table_kind

RecordFormatName = Literal["parquet", "arrow", "avro", "jsonl", "tsv"]
RECORD_FORMAT_NAMES: tuple[RecordFormatName, ...] = get_args(RecordFormatName)


@dataclasses.dataclass(frozen=True)
class RecordFormat:
    """A format of record files.

    Attributes:
      suffixes: the suffixes of its files, before a suffix of a compression.
      is_of_lines: whether each line is a record. Such files can be compressed as a whole (.gz,
        .bz2, .zst, .xz).
      label: its name in messages.
      column_names: where the names of columns are, for docs/inputs.md.
    """

    suffixes: tuple[str, ...]
    is_of_lines: bool
    label: str
    column_names: str


RECORD_FORMATS: dict[RecordFormatName, RecordFormat] = {
    "parquet": RecordFormat(
        (".parquet", ".pq"), is_of_lines=False, label="Parquet", column_names="those of the file"
    ),
    "arrow": RecordFormat(
        (".arrow", ".feather", ".ipc", ".arrows"),
        is_of_lines=False,
        label="Arrow",
        column_names="those of the file",
    ),
    "avro": RecordFormat(
        (".avro",), is_of_lines=False, label="Avro", column_names="the fields of its schema"
    ),
    "jsonl": RecordFormat(
        (".jsonl", ".ndjson"),
        is_of_lines=True,
        label="JSON lines",
        column_names="the keys of the objects",
    ),
    "tsv": RecordFormat(
        (".tsv",),
        is_of_lines=True,
        label="tab-separated text",
        column_names="the first line, or numbers",
    ),
}


def format_of_name(pattern: str) -> RecordFormatName | None:
    """The format that the suffix of a file's name says, or the table; or None."""
    if table_kind(pattern) is not None:
        return "parquet"
    end = pattern.lower().removesuffix(compression(pattern) or "")
    names = [name for name, row in RECORD_FORMATS.items() if end.endswith(row.suffixes)]
    return names[0] if names else None
