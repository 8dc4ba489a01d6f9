"""Reads segments from files in any Beam pipeline: one transform for each form of input.

Each transform gives `Paired` segments. Text goes from the files directly into batches of columns;
only joins by ids shuffle it. The pipeline fails with an `InputError` that names the file and the
place if the input is missing, damaged or bad, or if it changes while the pipeline runs.
"""

from __future__ import annotations

import abc
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.definition.choices import (
    ALLOWED,
    AllowedName,
    require_choice,
    require_flag,
    require_text,
    require_texts,
)
from beam_bleu.transforms.definition.slicing import CROSS, LENGTH
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.corpus import LabelStream
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.paired import (
    COVERAGES,
    ON_BAD_RECORD,
    CoverageName,
    OnBadRecord,
    Paired,
    Source,
)
from beam_bleu.transforms.pairing.records.column_paths import parse_column_path
from beam_bleu.transforms.pairing.records.formats import (
    RECORD_FORMAT_NAMES,
    RECORD_FORMATS,
    RecordFormatName,
    format_of_name,
)
from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords
from beam_bleu.transforms.pairing.records.record_files import record_files
from beam_bleu.transforms.pairing.records.wanted import Condition, Wanted

Value = str | int | float | bool
"""A value in a condition. It is compared as text, as JSON writes it."""


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class _Read(beam.PTransform, abc.ABC):
    on_bad_record: OnBadRecord = "fail"
    describe: bool = False

    def __post_init__(self) -> None:
        super().__init__()
        require_choice("on_bad_record", self.on_bad_record, ON_BAD_RECORD)
        require_flag("describe", self.describe)
        self._source = self._checked_source()

    @abc.abstractmethod
    def _checked_source(self) -> Source:
        """The source that the arguments describe; a `ValueError` if one is impossible."""

    def expand(self, root: beam.Pipeline) -> Paired:
        if isinstance(root, beam.PCollection):
            raise TypeError(
                f"{type(self).__name__} reads files: apply it to the pipeline, not to a PCollection"
            )
        paired: Paired = root | self._source.pair(threads=1, describe=self.describe)
        return dataclasses.replace(paired, source=self._source)


@dataclasses.dataclass(eq=False, repr=False)
class ReadLineParallel(_Read):
    """Line i of each file belongs to segment i. `CorpusBleu.PerSystem` scores the segments.

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
    """

    candidates: Mapping[str, str]
    references: Sequence[str]
    labels: Mapping[str, str] | None = dataclasses.field(default=None, kw_only=True)

    def _checked_source(self) -> Source:
        _require_paths("candidates", self.candidates)
        _require_paths("labels", self.labels or {}, may_be_empty=True)
        for name in self.labels or {}:
            if not name or CROSS in name or name == LENGTH:
                raise ValueError(
                    f"the name of a label must be a text without {CROSS}, and not {LENGTH}, got "
                    f"{name!r}"
                )
        return LineParallel(
            tuple(self.candidates),
            tuple(Stream(f"candidates {name}", path) for name, path in self.candidates.items()),
            _reference_streams(self.references),
            label_streams=tuple(
                LabelStream((name,), Stream(f"labels {name}", path))
                for name, path in (self.labels or {}).items()
            ),
            on_bad_record=self.on_bad_record,
        )


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class _ReadRecords(_Read):
    input_format: RecordFormatName | None = None
    reference_columns: Sequence[str] = ()
    where: Mapping[str, Value] | None = None
    where_not: Mapping[str, Value] | None = None
    labels: Sequence[str] = ()
    number_columns: Sequence[str] = ()
    kept: Sequence[str] = ()
    header: bool | None = None

    def _wanted(
        self, candidate_columns: Sequence[str], ids: tuple[str, ...] = (), system: str | None = None
    ) -> Wanted:
        """What is read of records. Ids, if there are any, are always kept, as `id`."""
        for name in ("reference_columns", "labels", "number_columns", "kept"):
            require_texts(name, getattr(self, name))
        if KEPT_ID in self.kept and ids and ids != (KEPT_ID,):
            raise ValueError(f"kept has {KEPT_ID}, but the ids are kept under this name")
        return Wanted(
            tuple(candidate_columns),
            tuple(self.reference_columns),
            labels=tuple(self.labels),
            where=(
                *_conditions("where", self.where, negated=False),
                *_conditions("where_not", self.where_not, negated=True),
            ),
            values=tuple(map(ValueColumn, self.number_columns)),
            kept=tuple((name, name) for name in self.kept if not ids or name != KEPT_ID),
            ids=ids,
            system=system,
        )

    def _records(self, stream: Stream, wanted: Wanted) -> Any:
        require_text(stream.label, stream.pattern)
        record_format = self.input_format or format_of_name(stream.pattern)
        if record_format is None:
            raise ValueError(
                f"the suffix of {stream.pattern!r} does not say the format of its records: "
                f"give input_format, one of {', '.join(RECORD_FORMAT_NAMES)}"
            )
        require_choice("input_format", record_format, RECORD_FORMAT_NAMES)
        if self.header is not None:
            require_flag("header", self.header)
            if not RECORD_FORMATS[record_format].delimiter:
                raise ValueError(f"header is for tsv and csv, but the format is {record_format}")
        return record_files(
            stream, wanted, record_format, header=self.header, on_bad_record=self.on_bad_record
        )


@dataclasses.dataclass(eq=False, repr=False)
class ReadPairedRecords(_ReadRecords):
    """Each record of Parquet, Arrow, Avro, JSON lines, CSV or tab-separated text is a segment.

    Args:
      pattern: the file, or a pattern of files; or a table, such as "delta:PATH" or "iceberg:NAME",
        for which the workers need the extra `delta` or `iceberg`.
      input_format: such as parquet, jsonl or csv (docs/inputs.md has all); by default the suffix of
        the pattern says it.
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
      header: whether CSV or tab-separated text has a line with the names of the columns. By default
        it has one, unless all columns are given by their numbers.
      on_bad_record: "fail", or "reject": the bad records are in `Paired.rejected`, and not scored.
        `CorpusBleu.PerSystem` limits how many.
      describe: see `ReadLineParallel`.
    """

    pattern: str
    candidate_columns: Sequence[str] = dataclasses.field(default=(), kw_only=True)

    def _checked_source(self) -> Source:
        require_texts("candidate_columns", self.candidate_columns)
        wanted = self._wanted(self.candidate_columns)
        source: Source = self._records(Stream("input", self.pattern), wanted)
        return source


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class _ReadWithIds(_ReadRecords):
    candidate_column: str | None = None
    coverage: CoverageName = "strict"

    def _wanted_with_ids(
        self, name: str, columns: str | Sequence[str], system: str | None = None
    ) -> Wanted:
        require_choice("coverage", self.coverage, COVERAGES)
        ids = [columns] if isinstance(columns, str) else columns
        require_texts(name, ids)
        if not ids or len(set(ids)) < len(ids):
            raise ValueError(f"{name} must name one or more different columns, got {columns!r}")
        candidates = () if self.candidate_column is None else (self.candidate_column,)
        return self._wanted(candidates, tuple(ids), system)


@dataclasses.dataclass(eq=False, repr=False)
class ReadLongRecords(_ReadWithIds):
    """Each record has the candidate of one system; the records of a segment have the same id.

    The records of a segment are brought together, so their text is shuffled.

    Args:
      pattern: the file, or a pattern of files.
      id_column: the column of the segment's id: strings or integers; or a list of the columns
        whose values together are the id.
      system_column: the column of the system's name.
      coverage: strict (default): each system must have each segment; common: the segments that
        all systems have are scored; each: each system is scored on the segments that it has.
      input_format: see `ReadPairedRecords`, as for all arguments that are not listed here. There is
        only one column of candidates.
    """

    pattern: str
    id_column: str | Sequence[str] = dataclasses.field(kw_only=True)
    system_column: str = dataclasses.field(kw_only=True)

    def _checked_source(self) -> Source:
        require_text("system_column", self.system_column)
        wanted = self._wanted_with_ids("id_column", self.id_column, self.system_column)
        records = self._records(Stream("input", self.pattern), wanted)
        return JoinedRecords((), (), (records,), self.coverage, on_bad_record=self.on_bad_record)


@dataclasses.dataclass(eq=False, repr=False)
class ReadJoinedRecords(_ReadWithIds):
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
      input_format: see `ReadPairedRecords`, as for all arguments that are not listed here. Labels
        come from the first file of references. A condition is for all files that have its column.
    """

    candidates: Mapping[str, str]
    references: Sequence[str]
    join_on: str | Sequence[str] = dataclasses.field(kw_only=True)
    allow: AllowedName | Sequence[AllowedName] = dataclasses.field(default=(), kw_only=True)

    def _checked_source(self) -> Source:
        _require_paths("candidates", self.candidates)
        allowed = (self.allow,) if isinstance(self.allow, str) else tuple(self.allow)
        for name in allowed:
            require_choice("allow", name, ALLOWED)
        wanted = self._wanted_with_ids("join_on", self.join_on)
        return JoinedRecords(
            tuple(self.candidates),
            tuple(
                self._records(Stream(f"candidates {name}", path), wanted)
                for name, path in self.candidates.items()
            ),
            tuple(self._records(each, wanted) for each in _reference_streams(self.references)),
            self.coverage,
            on_bad_record=self.on_bad_record,
            allow=allowed,
        )


def _require_paths(name: str, paths: object, *, may_be_empty: bool = False) -> None:
    if not isinstance(paths, Mapping) or not (paths or may_be_empty):
        raise ValueError(f"{name} must be a mapping of names and files, got {paths!r}")
    for key, path in paths.items():
        require_text(f"a name in {name}", key)
        require_text(f"{name} {key}", path)


def _reference_streams(references: Sequence[str]) -> tuple[Stream, ...]:
    require_texts("references", references)
    if not references:
        raise ValueError("references must have one or more files, got none")
    return tuple(
        Stream(f"references {number}" if len(references) > 1 else "references", path)
        for number, path in enumerate(references, 1)
    )


def _conditions(
    name: str, conditions: Mapping[str, Value] | None, *, negated: bool
) -> list[Condition]:
    if conditions is not None and not (
        isinstance(conditions, Mapping)
        and all(isinstance(column, str) for column in conditions)
        and all(isinstance(value, str | int | float) for value in conditions.values())
    ):
        raise ValueError(
            f"{name} must be a mapping of columns and values (strings, numbers, or True or "
            f"False), got {conditions!r}"
        )
    return [
        Condition(
            parse_column_path(column, [column]),
            value if isinstance(value, str) else json.dumps(value),
            negated,
        )
        for column, value in (conditions or {}).items()
    ]
