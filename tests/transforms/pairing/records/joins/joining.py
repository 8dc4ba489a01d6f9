"""Makes the records of joins for tests, and reads the batches that a join gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.records.joins.buckets import join_bucket
from beam_bleu.transforms.pairing.records.joins.findings import Report
from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords
from beam_bleu.transforms.pairing.records.joins.rows import join_rows, messages_of
from beam_bleu.transforms.pairing.records.wanted import Chosen, ColumnPath, RawRecords, ReadRecords

Record = Mapping[str, Any]

ID, HYP, REF, SYSTEM, LABEL, SOURCE = (
    ColumnPath(name, (name,)) for name in ("id", "hyp", "ref", "s", "l", "source")
)


def read_records(
    records: Sequence[Record], chosen: Chosen, first: int = 0, path: str = "records.jsonl"
) -> ReadRecords:
    """Records as a reader gives them. The first one is in the line `first + 1` of its file."""
    columns = {}
    for column in chosen.columns:
        values = [record.get(column.text) for record in records]
        of_type = None
        if any(isinstance(value, list) for value in values):
            of_type = pa.large_list(pa.large_string())
        elif all(value is None or isinstance(value, str) for value in values):
            of_type = pa.large_string()
        columns[column] = pa.array(values, of_type)
    raw = RawRecords(None, "input", path, "line", first, first + 1, chosen)
    return ReadRecords(raw, columns)


def shuffled(streams: Mapping[int, Sequence[ReadRecords]], buckets: int) -> list[list[bytes]]:
    """What goes through a shuffle: the rows of all streams, as messages of each bucket."""
    found: list[list[bytes]] = [[] for _ in range(buckets)]
    for stream, parts in streams.items():
        for part in parts:
            rows, _, _ = join_rows(part)
            for bucket, message in messages_of(rows, stream, buckets):
                found[bucket].append(message)
    return found


@dataclasses.dataclass(frozen=True)
class Row:
    """A segment for the systems that are scored on it."""

    candidates: tuple[tuple[str, str], ...]
    references: tuple[str | None, ...]
    labels: tuple[str | None, ...] = ()
    kept: tuple[tuple[str, str | None], ...] = ()


def rows_in(batches: Iterable[SegmentBatch]) -> dict[int, Row]:
    """The segments in batches, by their numbers. No number is there twice."""
    found: dict[int, Row] = {}
    for batch in batches:
        assert batch.numbers is not None
        for row, number in enumerate(batch.numbers.tolist()):
            assert number not in found
            found[number] = Row(
                tuple(
                    (system, column[row].as_py())
                    for system, column in zip(batch.systems, batch.candidates, strict=True)
                ),
                tuple(
                    text
                    for text in (column[row].as_py() for column in batch.references)
                    if text is not None
                ),
                tuple(column[row].as_py() for column in batch.labels),
                tuple((name, column[row].as_py()) for name, column in batch.kept.items()),
            )
    return found


def join_all(
    source: JoinedRecords, systems: Sequence[str], buckets: Iterable[Sequence[bytes]]
) -> tuple[Report, dict[int, Row]]:
    """What is found in all buckets of a join, and its segments."""
    rows: dict[int, Row] = {}
    report = Report()
    for messages in buckets:
        of_bucket, batches = join_bucket(source, systems, messages)
        report += of_bucket
        found = rows_in(batches)
        assert not rows.keys() & found.keys()
        rows.update(found)
    return report, rows
