"""Reads segments from files in any Beam pipeline: one transform for each form of input.

Each transform starts at the root of a pipeline and gives `Paired` segments. `CorpusBleu.PerSystem`
scores them. Text goes from the files directly into batches of columns. Only `ReadLongRecords` and
`ReadJoinedRecords` shuffle text. The pipeline fails with an `InputError` that names the file and
the place if the input is missing, damaged or bad, or if it changes while the pipeline runs.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.pairing.bad_records import ON_BAD_RECORD, OnBadRecord
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.paired import Paired, Source
from beam_bleu.transforms.pairing.records.columns.column_paths import parse_column_path
from beam_bleu.transforms.pairing.records.columns.wanted import Condition, Wanted
from beam_bleu.transforms.pairing.records.formats import (
    RECORD_FORMAT_NAMES,
    RecordFormatName,
    format_of_name,
)
from beam_bleu.transforms.pairing.records.joins.coverage import COVERAGE_NAMES, CoverageName
from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords, LongRecords
from beam_bleu.transforms.pairing.records.parquet.source import ParquetRecords
from beam_bleu.transforms.pairing.records.text.source import LineRecords

__all__ = ["ReadJoinedRecords", "ReadLineParallel", "ReadLongRecords", "ReadPairedRecords"]

Value = str | int | float | bool
"""A value in a condition. It is compared as text, as JSON writes it."""


class _Read(beam.PTransform):
    """The root of a pipeline -> `Paired` segments of a source."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def expand(self, root: beam.Pipeline) -> Paired:
        paired: Paired = root | self._source.pair(threads=1)
        return paired


class ReadLineParallel(_Read):
    """Line i of each file belongs to segment i.

    Compressed files can be read before it is known that they have the same number of lines. The
    pipeline fails at their end if they do not.

    Args:
      candidates: for each system its name and its file, or a pattern of files.
      references: the file of each reference, or a pattern of files.
      on_bad_record: "fail", or "reject": the segment of a line that is not UTF-8, or too long, is
        left out, and the line is in `Paired.rejected`. `CorpusBleu.PerSystem` limits how many.

    Raises:
      ValueError: there are no candidates or no references, or `on_bad_record` is not known.
    """

    def __init__(
        self,
        candidates: Mapping[str, str],
        references: Sequence[str],
        *,
        on_bad_record: OnBadRecord = "fail",
    ) -> None:
        _require_streams(candidates, references)
        _require_action(on_bad_record)
        super().__init__(
            LineParallel(
                tuple(candidates),
                tuple(Stream(f"candidates {name}", path) for name, path in candidates.items()),
                _reference_streams(references),
                on_bad_record=on_bad_record,
            )
        )


class ReadPairedRecords(_Read):
    """Each record of Parquet, JSON lines or tab-separated text is a segment.

    Args:
      pattern: the file, or a pattern of files.
      input_format: parquet, jsonl or tsv; by default the suffix of the pattern says it.
      candidate_columns: the column of each system's candidates: a name, a path such as
        `translation.de` or `choices[0]`, or NAME=COLUMN to name the system.
      reference_columns: the columns of the references, or one column of lists.
      where: columns and the values that records must have to be scored.
      where_not: columns and values; records that have one of them are left out.
      labels: columns that the batches carry along as `SegmentBatch.labels`.
      number_columns: columns of numbers, for metrics such as `mean:COLUMN` of
        `CorpusScores.PerSystem`. `{system}` in a column stands for the name of each system.
      header: whether tab-separated text has a line with the names of the columns. By default it
        has one, unless all columns are given by their numbers.
      on_bad_record: "fail", or "reject": the bad records are in `Paired.rejected`, and not scored.
        `CorpusBleu.PerSystem` limits how many.

    Raises:
      ValueError: the format is not known, or a column is not a path.
    """

    def __init__(
        self,
        pattern: str,
        *,
        input_format: RecordFormatName | None = None,
        candidate_columns: Sequence[str] = (),
        reference_columns: Sequence[str] = (),
        where: Mapping[str, Value] | None = None,
        where_not: Mapping[str, Value] | None = None,
        labels: Sequence[str] = (),
        number_columns: Sequence[str] = (),
        header: bool | None = None,
        on_bad_record: OnBadRecord = "fail",
    ) -> None:
        wanted = _wanted(
            candidate_columns, reference_columns, where, where_not, labels, number_columns
        )
        stream = Stream("input", pattern)
        super().__init__(_records(stream, input_format, wanted, header, on_bad_record))


class ReadLongRecords(_Read):
    """Each record has the candidate of one system; the records of a segment have the same id.

    The records of a segment are brought together, so their text is shuffled.

    Args:
      pattern: the file, or a pattern of files.
      id_column: the column of the segment's id: strings or integers; or a list of the columns
        whose values together are the id.
      system_column: the column of the system's name.
      coverage: strict (default): each system must have each segment; common: the segments that
        all systems have are scored; each: each system is scored on the segments that it has.
      input_format: see `ReadPairedRecords`, as for all other arguments. There is one column of
        candidates.

    Raises:
      ValueError: the format or the coverage is not known, or a column is not a path.
    """

    def __init__(
        self,
        pattern: str,
        *,
        id_column: str | Sequence[str],
        system_column: str,
        coverage: CoverageName = COVERAGE_NAMES[0],
        input_format: RecordFormatName | None = None,
        candidate_column: str | None = None,
        reference_columns: Sequence[str] = (),
        where: Mapping[str, Value] | None = None,
        where_not: Mapping[str, Value] | None = None,
        labels: Sequence[str] = (),
        number_columns: Sequence[str] = (),
        header: bool | None = None,
        on_bad_record: OnBadRecord = "fail",
    ) -> None:
        _require_coverage(coverage)
        _require_text("id_column", id_column)
        _require_text("system_column", system_column)
        wanted = dataclasses.replace(
            _wanted(
                _only(candidate_column),
                reference_columns,
                where,
                where_not,
                labels,
                number_columns,
            ),
            ids=_id_columns("id_column", id_column),
            system=system_column,
        )
        stream = Stream("input", pattern)
        records = _records(stream, input_format, wanted, header, on_bad_record)
        super().__init__(LongRecords(records, coverage, on_bad_record=on_bad_record))


class ReadJoinedRecords(_Read):
    """Candidates and references are in different files, and are joined by an id.

    This shuffles the text.

    Args:
      candidates: for each system its name and its file, or a pattern of files.
      references: the file of each reference, or a pattern of files.
      join_on: the column of the id in all files: strings or integers; or a list of the columns
        whose values together are the id.
      candidate_column: the column of the text in the files of candidates.
      reference_columns: the columns of the texts in the files of references.
      coverage: see `ReadLongRecords`.
      input_format: see `ReadPairedRecords`, as for all other arguments. The labels are
        those of the first file of references. A condition is for all files that have its column.

    Raises:
      ValueError: the format or the coverage is not known, or a column is not a path.
    """

    def __init__(
        self,
        candidates: Mapping[str, str],
        references: Sequence[str],
        *,
        join_on: str | Sequence[str],
        coverage: CoverageName = COVERAGE_NAMES[0],
        input_format: RecordFormatName | None = None,
        candidate_column: str | None = None,
        reference_columns: Sequence[str] = (),
        where: Mapping[str, Value] | None = None,
        where_not: Mapping[str, Value] | None = None,
        labels: Sequence[str] = (),
        number_columns: Sequence[str] = (),
        header: bool | None = None,
        on_bad_record: OnBadRecord = "fail",
    ) -> None:
        _require_streams(candidates, references)
        _require_coverage(coverage)
        _require_text("join_on", join_on)
        wanted = dataclasses.replace(
            _wanted(
                _only(candidate_column),
                reference_columns,
                where,
                where_not,
                labels,
                number_columns,
            ),
            ids=_id_columns("join_on", join_on),
        )

        def reader(stream: Stream) -> Any:
            return _records(stream, input_format, wanted, header, on_bad_record)

        super().__init__(
            JoinedRecords(
                tuple(candidates),
                tuple(
                    reader(Stream(f"candidates {name}", path)) for name, path in candidates.items()
                ),
                tuple(map(reader, _reference_streams(references))),
                coverage,
                on_bad_record=on_bad_record,
            )
        )


def _require_streams(candidates: Mapping[str, str], references: Sequence[str]) -> None:
    if not isinstance(candidates, Mapping) or not candidates:
        raise ValueError(f"candidates must be a mapping of names and files, got {candidates!r}")
    for name, path in candidates.items():
        _require_text("the name of a system", name)
        _require_text(f"candidates {name}", path)
    if not _are_texts(references) or not references:
        raise ValueError(f"references must be a list of files, got {references!r}")


def _are_texts(values: object) -> bool:
    return (
        isinstance(values, Sequence)
        and not isinstance(values, str)
        and all(isinstance(value, str) for value in values)
    )


def _require_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, got {value!r}")


def _reference_streams(references: Sequence[str]) -> tuple[Stream, ...]:
    return tuple(
        Stream(f"references {number}" if len(references) > 1 else "references", path)
        for number, path in enumerate(references, 1)
    )


def _require_coverage(coverage: str) -> None:
    if coverage not in COVERAGE_NAMES:
        raise ValueError(f"coverage must be one of {', '.join(COVERAGE_NAMES)}, got {coverage!r}")


def _require_action(on_bad_record: str) -> None:
    if on_bad_record not in ON_BAD_RECORD:
        choices = " or ".join(ON_BAD_RECORD)
        raise ValueError(f"on_bad_record must be {choices}, got {on_bad_record!r}")


def _only(column: str | None) -> tuple[str, ...]:
    if column is None:
        return ()
    _require_text("candidate_column", column)
    return (column,)


def _id_columns(name: str, columns: str | Sequence[str]) -> tuple[str, ...]:
    """The columns of ids.

    Raises:
      ValueError: there is none, or one is there twice.
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{name} must be a column, or a list of different columns: {columns!r}")
    return names


def _wanted(
    candidate_columns: Sequence[str],
    reference_columns: Sequence[str],
    where: Mapping[str, Value] | None,
    where_not: Mapping[str, Value] | None,
    labels: Sequence[str],
    number_columns: Sequence[str],
) -> Wanted:
    for name, columns in (
        ("candidate_columns", candidate_columns),
        ("reference_columns", reference_columns),
        ("labels", labels),
        ("number_columns", number_columns),
    ):
        if not _are_texts(columns):
            raise ValueError(f"{name} must be a list of columns, got {columns!r}")
    for name, conditions in (("where", where), ("where_not", where_not)):
        if not _are_conditions(conditions):
            raise ValueError(
                f"{name} must be a mapping of columns and values (strings, numbers, or True or "
                f"False), got {conditions!r}"
            )
    parsed = [
        Condition(parse_column_path(column, [column]), _text(value), negated)
        for conditions, negated in ((where, False), (where_not, True))
        for column, value in (conditions or {}).items()
    ]
    return Wanted(
        tuple(candidate_columns),
        tuple(reference_columns),
        labels=tuple(labels),
        where=tuple(parsed),
        values=tuple(map(ValueColumn, number_columns)),
    )


def _are_conditions(conditions: object) -> bool:
    return conditions is None or (
        isinstance(conditions, Mapping)
        and all(isinstance(column, str) for column in conditions)
        and all(isinstance(value, str | int | float) for value in conditions.values())
    )


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _records(
    stream: Stream,
    input_format: RecordFormatName | None,
    wanted: Wanted,
    header: bool | None,
    on_bad_record: OnBadRecord,
) -> Any:
    """The records of a stream: a source, which is also a reader for joins."""
    _require_text(stream.label, stream.pattern)
    record_format = input_format or format_of_name(stream.pattern)
    choices = ", ".join(RECORD_FORMAT_NAMES)
    if record_format is None:
        raise ValueError(
            f"the suffix of {stream.pattern!r} does not say the format of its records: "
            f"give input_format, one of {choices}"
        )
    if record_format not in RECORD_FORMAT_NAMES:
        raise ValueError(f"input_format must be one of {choices}, got {input_format!r}")
    _require_action(on_bad_record)
    if header is not None:
        require_flag("header", header)
        if record_format != "tsv":
            raise ValueError(f"header is for tsv, but the format is {record_format}")
    if record_format == "parquet":
        return ParquetRecords(stream, wanted, on_bad_record=on_bad_record)
    return LineRecords(stream, wanted, record_format, header, on_bad_record=on_bad_record)
