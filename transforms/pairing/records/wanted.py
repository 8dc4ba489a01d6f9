"""The types that say what to read of each record, and records before and after they are parsed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.pairing.files.path_labels import PathLabel
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.needs import Needs, ValueColumn, first_matching
from beam_bleu.transforms.pairing.paired import MAX_RAW_BYTES, BadReason, BadRecord

# In --keep, this word stands for the texts of candidates and references.
KEPT_TEXTS = "text"

INTEGER_ID = r"^(0|-?[1-9][0-9]*)$"  # ids that can be, and are shown as, numbers in JSON


EACH = -1  # in a path, all items of a list


@dataclasses.dataclass(frozen=True)
class ColumnPath:
    """The path to values: `steps` begins with the name of a column (in text with fields, its number
    from 0), then names of fields or keys of maps, and indexes of lists, or `EACH` for all items.
    They are empty for labels from paths of files, and for columns that a file need not have.
    """

    text: str
    steps: tuple[str | int, ...] = ()

    @property
    def of_items(self) -> tuple[tuple[str | int, ...], tuple[str | int, ...]]:
        """The steps to a list, and those in each of its items, which begin after the first EACH."""
        at = self.steps.index(EACH) if EACH in self.steps else len(self.steps)
        return self.steps[:at], self.steps[at + 1 :]

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition for the records to score: the value of a column, as JSON writes it, equals
    `value`, or does not. A null equals nothing. `can_hold_always`: all records may meet it.
    """

    column: ColumnPath
    value: str
    negated: bool = False
    can_hold_always: bool = False

    def __str__(self) -> str:
        return f"{self.column}{'!=' if self.negated else '='}{self.value}"


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The columns that a user asks for, before patterns and missing names are resolved (`Chosen`).

    Attributes:
      candidates: the columns of the systems, which name them, or patterns such as "hyp_*".
      where_if_there: whether conditions on columns that are not there are ignored.
      ids: the columns of the id; the values of several columns are the id together.
      system: for long records, the column with the name of the system.
      witnesses: regular expressions of columns that show to which document a record belongs.
      reference_of_each: see `Needs`.
      tasks, needs_of_tasks: the label from paths that names the task of a file, and, by patterns
        of tasks, what a file must have; without any, each file must have all.
    """

    candidates: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    system_name: str | None = None
    labels: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    ids: tuple[str, ...] = ()
    system: str | None = None
    where_if_there: bool = False
    path_labels: tuple[PathLabel, ...] = ()
    values: tuple[ValueColumn, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    keeps_texts: bool = False
    witnesses: tuple[str, ...] = ()
    reference_of_each: bool = True
    tasks: str | None = None
    needs_of_tasks: Mapping[str, Needs] = dataclasses.field(default_factory=dict)

    def needs_of(self, path: str) -> Needs | None:
        """What a file must have, by its task; None for all that is wanted."""
        if not self.needs_of_tasks:
            return None
        pattern = first_matching(self.needs_of_tasks, self.task_of(path) or "")
        return Needs() if pattern is None else self.needs_of_tasks[pattern]

    def task_of(self, path: str) -> str | None:
        label = self.path_label(self.tasks or "")
        return None if label is None else label.value_of(path)

    def check_files(self, stream: Stream, paths: Sequence[str]) -> None:
        for label in self.path_labels:
            label.check_files(stream.label, [stream.shown(path) for path in paths])

    def path_label(self, name: str) -> PathLabel | None:
        return next((label for label in self.path_labels if label.name == name), None)


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The columns to read of a file.

    Attributes:
      candidates: (name of the system, its column), in the order of the result.
      path_labels: (a path in `labels` or `ids`, the label from the paths of files it stands for).
      lacking: the columns of conditions that are not there, if that is allowed.
      unused_system: an unused column whose name suggests that it has names of systems.
    """

    candidates: tuple[tuple[str, ColumnPath], ...]
    references: tuple[ColumnPath, ...]
    labels: tuple[ColumnPath, ...] = ()
    where: tuple[Condition, ...] = ()
    ids: tuple[ColumnPath, ...] = ()
    system: ColumnPath | None = None
    lacking: tuple[str, ...] = ()
    path_labels: tuple[tuple[ColumnPath, PathLabel], ...] = ()
    unused_system: str | None = dataclasses.field(default=None, compare=False)
    values: tuple[tuple[ValueColumn, tuple[ColumnPath, ...]], ...] = ()
    systems_of_values: tuple[str, ...] = ()
    kept: tuple[tuple[str, ColumnPath], ...] = ()
    witnesses: tuple[ColumnPath, ...] = dataclasses.field(default=(), compare=False)
    fields: tuple[str, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.candidates) or self.systems_of_values

    @property
    def asked_for(self) -> tuple[object, ...]:
        """What must be equal in all files: what patterns and headers can make different."""
        paths = (*self.texts, *(path for _, paths in self.values for path in paths))
        return self.systems, self.fields, self.lacking, [path.text for path in paths]

    @property
    def texts(self) -> tuple[ColumnPath, ...]:
        return (*(path for _, path in self.candidates), *self.references)

    @property
    def names(self) -> tuple[ColumnPath, ...]:
        return tuple(path for path in (*self.ids, self.system) if path is not None and path.steps)

    @property
    def columns(self) -> tuple[ColumnPath, ...]:
        """All columns to read. Those of conditions come first, because their faults come first."""
        conditions = (condition.column for condition in self.where)
        kept = (path for _, path in self.kept)
        paths = (*conditions, *self.scored_columns, *kept, *self.witnesses)
        return tuple(dict.fromkeys(paths))

    @property
    def scored_columns(self) -> tuple[ColumnPath, ...]:
        """The columns on which the result depends. The others are only kept, or are witnesses."""
        paths = [
            *self.texts,
            *self.labels,
            *(condition.column for condition in self.where),
            *self.names,
            *(path for _, paths in self.values for path in paths),
        ]
        return tuple(path for path in dict.fromkeys(paths) if path.steps)


@dataclasses.dataclass(frozen=True)
class RawRecords:
    """Neighbouring records of one file before they are parsed: a padded column of lines, or a
    record batch. `first` is counted from 0 in the whole input, `first_place` from 1 in the file,
    including the header. Where a line is bad, `values` is arbitrary.
    """

    values: Any
    label: str
    path: str
    kind: str
    first: int
    first_place: int
    chosen: Chosen
    bad: tuple[BadRecord, ...] = ()

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)

    @property
    def bad_rows(self) -> list[int]:
        return [record.number - self.first for record in self.bad]

    def place(self, row: int) -> str:
        return f"{self.kind} {self.first_place + row}"


@dataclasses.dataclass(frozen=True)
class Fault:
    """Why a record is bad (see `BadRecord`). `path` is None if it could not be read at all."""

    path: ColumnPath | None
    reason: BadReason
    what: str
    remedy: str


Columns = dict[ColumnPath, pa.Array]  # the values of each column, a row for each record


@dataclasses.dataclass(frozen=True)
class ReadRecords:
    """Neighbouring records of one file, parsed: columns in valid UTF-8, not padded yet.

    `faults` has the first fault of each bad row. Wrong values are null, as are all values of a
    record that could not be read.
    """

    raw: RawRecords
    columns: Columns
    faults: Mapping[int, Fault] = dataclasses.field(default_factory=dict)
    digest: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def bad_record(self, row: int, fault: Fault) -> BadRecord:
        records = self.raw
        if records.kind == "line":
            raw = records.values[row].as_py()
        else:
            read = ((path, column) for path, column in self.columns.items() if path.steps)
            values = {path.text: column[row].as_py() for path, column in read}
            raw = json.dumps(values, ensure_ascii=False, default=str)
        return BadRecord(
            records.first + row,
            records.label,
            records.path,
            records.place(row),
            fault.reason,
            fault.what,
            fault.remedy,
            raw.encode()[:MAX_RAW_BYTES],
        )


def null_in(column: pa.Array, rows: Collection[int]) -> pa.Array:
    if not rows:
        return column
    mask = np.zeros(len(column), bool)
    mask[list(rows)] = True
    return column.take(pa.array(np.arange(len(column)), mask=mask))
