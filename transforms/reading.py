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

from beam_bleu.transforms.definition.allowed import ALLOWED, AllowedName
from beam_bleu.transforms.definition.choices import require_choice, require_flag
from beam_bleu.transforms.definition.slicing import CROSS, LENGTH
from beam_bleu.transforms.pairing.bad_records import ON_BAD_RECORD, OnBadRecord
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.corpus import LabelStream
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
from beam_bleu.transforms.pairing.records.row_groups.source import RowGroupRecords
from beam_bleu.transforms.pairing.records.text.source import LineRecords

__all__ = ["ReadJoinedRecords", "ReadLineParallel", "ReadLongRecords", "ReadPairedRecords"]

Value = str | int | float | bool
"""A value in a condition. It is compared as text, as JSON writes it."""


class _Read(beam.PTransform):
    """The root of a pipeline -> `Paired` segments of a source."""

    def __init__(self, source: Source, *, describe: bool) -> None:
        super().__init__()
        require_flag("describe", describe)
        self._source = source
        self._describe = describe

    def expand(self, root: beam.Pipeline) -> Paired:
        if isinstance(root, beam.PCollection):
            raise TypeError(
                f"{type(self).__name__} reads files: apply it to the pipeline, not to a PCollection"
            )
        paired: Paired = root | self._source.pair(threads=1, describe=self._describe)
        return dataclasses.replace(paired, source=self._source)


class ReadLineParallel(_Read):
    """Line i of each file belongs to segment i.

    Compressed files can be read before it is known that they have the same number of lines. The
    pipeline fails at their end if they do not.

    Args:
      candidates: for each system its name and its file, or a pattern of files.
      references: the file of each reference, or a pattern of files.
      labels: for each label its name and its file, with the value of a segment in each line.
      on_bad_record: "fail", or "reject": the segment of a line that is not UTF-8, or too long, is
        left out, and the line is in `Paired.rejected`. `CorpusBleu.PerSystem` limits how many.
      describe: whether digests of the texts are computed. `Evaluate` writes them into saved
        totals, so that nobody adds up the same texts twice.

    Raises:
      ValueError: there are no candidates or no references, or a value is impossible.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusBleu, ReadLineParallel
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | ReadLineParallel(
      ...             {"atlas": "examples/systems/atlas.txt"},
      ...             ["examples/references/a.txt", "examples/references/b.txt"],
      ...         )
      ...         | CorpusBleu.PerSystem()
      ...         | beam.MapTuple(lambda system, bleu: print(f"{system} {bleu.score:.1f}"))
      ...     )
      atlas 57.8
    """

    def __init__(
        self,
        candidates: Mapping[str, str],
        references: Sequence[str],
        *,
        labels: Mapping[str, str] | None = None,
        on_bad_record: OnBadRecord = "fail",
        describe: bool = False,
    ) -> None:
        _require_streams(candidates, references)
        require_choice("on_bad_record", on_bad_record, ON_BAD_RECORD)
        super().__init__(
            LineParallel(
                tuple(candidates),
                tuple(Stream(f"candidates {name}", path) for name, path in candidates.items()),
                _reference_streams(references),
                label_streams=_label_streams(labels),
                on_bad_record=on_bad_record,
            ),
            describe=describe,
        )


class ReadPairedRecords(_Read):
    """Each record of Parquet, Arrow, Avro, JSON lines or tab-separated text is a segment.

    Args:
      pattern: the file, or a pattern of files; or a table, such as "delta:PATH" or "iceberg:NAME",
        for which the workers need the extra `delta` or `iceberg`.
      input_format: parquet, arrow, avro, jsonl or tsv; by default the suffix of the pattern says
        it.
      candidate_columns: the column of each system's candidates: a name, a path such as
        `translation.de` or `choices[0]`, or NAME=COLUMN to name the system.
      reference_columns: the columns of the references, or one column of lists.
      where: columns and the values that records must have to be scored.
      where_not: columns and values; records that have one of them are left out.
      labels: columns that the batches carry along as `SegmentBatch.labels`.
      number_columns: columns of numbers, for metrics such as `mean:COLUMN` of
        `CorpusScores.PerSystem`. `{system}` in a column stands for the name of each system.
      kept: columns that `Evaluate` shows in examples and scores of segments. Joined and long
        records always have `id`.
      header: whether tab-separated text has a line with the names of the columns. By default it
        has one, unless all columns are given by their numbers.
      on_bad_record: "fail", or "reject": the bad records are in `Paired.rejected`, and not scored.
        `CorpusBleu.PerSystem` limits how many.
      describe: see `ReadLineParallel`.

    Raises:
      ValueError: the format is not known, or a column is not a path.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusBleu, ReadPairedRecords
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | ReadPairedRecords(
      ...             "examples/beam_yaml/records.jsonl",
      ...             candidate_columns=["atlas=candidate"],
      ...             reference_columns=["reference_a", "reference_b"],
      ...             where={"system": "atlas"},
      ...         )
      ...         | CorpusBleu.PerSystem()
      ...         | beam.MapTuple(lambda system, bleu: print(f"{system} {bleu.score:.1f}"))
      ...     )
      atlas 57.8
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
        kept: Sequence[str] = (),
        header: bool | None = None,
        on_bad_record: OnBadRecord = "fail",
        describe: bool = False,
    ) -> None:
        wanted = _wanted(
            candidate_columns, reference_columns, where, where_not, labels, number_columns, kept
        )
        stream = Stream("input", pattern)
        records = _records(stream, input_format, wanted, header, on_bad_record)
        super().__init__(records, describe=describe)


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

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusBleu, ReadLongRecords
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | ReadLongRecords(
      ...             "examples/records/long.jsonl",
      ...             id_column="id",
      ...             system_column="system",
      ...             candidate_column="hypothesis",
      ...             reference_columns=["reference"],
      ...         )
      ...         | CorpusBleu.PerSystem()
      ...         | beam.MapTuple(lambda system, bleu: print(f"{system} {bleu.score:.1f}"))
      ...     )
      atlas 46.3
      birch 25.2
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
        kept: Sequence[str] = (),
        header: bool | None = None,
        on_bad_record: OnBadRecord = "fail",
        describe: bool = False,
    ) -> None:
        require_choice("coverage", coverage, COVERAGE_NAMES)
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
                _kept_of_join(kept, id_column),
            ),
            ids=_id_columns("id_column", id_column),
            system=system_column,
        )
        stream = Stream("input", pattern)
        records = _records(stream, input_format, wanted, header, on_bad_record)
        long_records = LongRecords(records, coverage, on_bad_record=on_bad_record)
        super().__init__(long_records, describe=describe)


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
      allow: `other-documents` lets records with the same id be of different documents.
      input_format: see `ReadPairedRecords`, as for all other arguments. The labels are
        those of the first file of references. A condition is for all files that have its column.

    Raises:
      ValueError: the format, the coverage or a name in `allow` is not known, or a column is not
        a path.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusBleu, ReadJoinedRecords
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | ReadJoinedRecords(
      ...             {"atlas": "examples/records/outputs/atlas.jsonl"},
      ...             ["examples/records/references.jsonl"],
      ...             join_on="id",
      ...             candidate_column="hyp",
      ...             reference_columns=["ref"],
      ...         )
      ...         | CorpusBleu.PerSystem()
      ...         | beam.MapTuple(lambda system, bleu: print(f"{system} {bleu.score:.1f}"))
      ...     )
      atlas 46.3
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
        kept: Sequence[str] = (),
        header: bool | None = None,
        on_bad_record: OnBadRecord = "fail",
        allow: AllowedName | Sequence[AllowedName] = (),
        describe: bool = False,
    ) -> None:
        _require_streams(candidates, references)
        require_choice("coverage", coverage, COVERAGE_NAMES)
        allowed = (allow,) if isinstance(allow, str) else tuple(allow)
        for name in allowed:
            require_choice("allow", name, ALLOWED)
        _require_text("join_on", join_on)
        wanted = dataclasses.replace(
            _wanted(
                _only(candidate_column),
                reference_columns,
                where,
                where_not,
                labels,
                number_columns,
                _kept_of_join(kept, join_on),
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
                allow=allowed,
            ),
            describe=describe,
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


def _label_streams(labels: Mapping[str, str] | None) -> tuple[LabelStream, ...]:
    """The streams of labels.

    Raises:
      ValueError: they are no mapping of names and files, or a name is impossible.
    """
    if labels is not None and not isinstance(labels, Mapping):
        raise ValueError(f"labels must be a mapping of names and files, got {labels!r}")
    for name, path in (labels or {}).items():
        _require_text("the name of a label", name)
        _require_text(f"labels {name}", path)
        if not name or CROSS in name or name == LENGTH:
            raise ValueError(
                f"the name of a label must be a text without {CROSS}, and not {LENGTH}, got "
                f"{name!r}"
            )
    return tuple(
        LabelStream((name,), Stream(f"labels {name}", path))
        for name, path in (labels or {}).items()
    )


def _reference_streams(references: Sequence[str]) -> tuple[Stream, ...]:
    return tuple(
        Stream(f"references {number}" if len(references) > 1 else "references", path)
        for number, path in enumerate(references, 1)
    )


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


def _kept_of_join(kept: Sequence[str], ids: str | Sequence[str]) -> Sequence[str]:
    """The columns to keep of records with ids, which are kept in any case, as `id`.

    Raises:
      ValueError: another column has this name.
    """
    if KEPT_ID in kept and ids not in (KEPT_ID, [KEPT_ID], (KEPT_ID,)):
        raise ValueError(f"kept has {KEPT_ID}, but the ids of {ids} are kept under this name")
    return [column for column in kept if column != KEPT_ID] if _are_texts(kept) else kept


def _wanted(
    candidate_columns: Sequence[str],
    reference_columns: Sequence[str],
    where: Mapping[str, Value] | None,
    where_not: Mapping[str, Value] | None,
    labels: Sequence[str],
    number_columns: Sequence[str],
    kept: Sequence[str],
) -> Wanted:
    for name, columns in (
        ("candidate_columns", candidate_columns),
        ("reference_columns", reference_columns),
        ("labels", labels),
        ("number_columns", number_columns),
        ("kept", kept),
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
        kept=tuple((column, column) for column in kept),
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
    if record_format is None:
        raise ValueError(
            f"the suffix of {stream.pattern!r} does not say the format of its records: "
            f"give input_format, one of {', '.join(RECORD_FORMAT_NAMES)}"
        )
    require_choice("input_format", record_format, RECORD_FORMAT_NAMES)
    require_choice("on_bad_record", on_bad_record, ON_BAD_RECORD)
    if header is not None:
        require_flag("header", header)
        if record_format != "tsv":
            raise ValueError(f"header is for tsv, but the format is {record_format}")
    if record_format == "jsonl" or record_format == "tsv":
        return LineRecords(stream, wanted, record_format, header, on_bad_record=on_bad_record)
    return RowGroupRecords(stream, wanted, record_format, on_bad_record=on_bad_record)
