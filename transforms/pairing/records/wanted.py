"""What is read of each record: which columns hold which texts, and which records are left out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.pairing.files.path_labels import PathLabel
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.paired import MAX_RAW_BYTES, BadReason, BadRecord

# Stands for the texts of candidates and references among the columns that are kept.
KEPT_TEXTS = "text"

INTEGER_ID = r"^(0|-?[1-9][0-9]*)$"  # an id that can be a number of JSON, and is shown as one


@dataclasses.dataclass(frozen=True)
class ColumnPath:
    """The name of a column, or in text with fields its number from 0, and then names of fields and
    indexes of lists; nothing for a label from the path of the file.
    """

    text: str
    steps: tuple[str | int, ...]

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition for records that are scored: the value of a column, as JSON writes it, is a given
    one. A null equals nothing. It `can_hold_always` if a layout asks for it.
    """

    column: ColumnPath
    value: str
    negated: bool = False
    can_hold_always: bool = False

    def __str__(self) -> str:
        return f"{self.column}{'!=' if self.negated else '='}{self.value}"


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The columns that a user asks for. Patterns and names that are left out are still open.

    Attributes:
      candidates: the columns of the systems, which have their names, or patterns such as "hyp_*".
      where_if_there: whether conditions are left out whose column is not there.
      ids: with several columns, their values together are the id.
      system: the column of the system's name, for long records.
      witnesses: regular expressions of columns of texts that show which document a record is of.
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

    def check_files(self, stream: Stream, paths: Sequence[str]) -> None:
        for label in self.path_labels:
            label.check_files(stream.label, [stream.shown(path) for path in paths])

    def path_label(self, name: str) -> PathLabel | None:
        return next((label for label in self.path_labels if label.name == name), None)


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The columns that are read, found in the first file of the input. All files must have them.

    Attributes:
      candidates: (the system's name, its column), in the order of the result.
      path_labels: labels from paths of files, with those of `labels` or `ids` that they stand for.
      lacking: the columns of conditions that are not there, if this is allowed.
      unused_system: a column with a usual name of the system's name that nothing uses.
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
    def names(self) -> tuple[ColumnPath, ...]:
        return tuple(path for path in (*self.ids, self.system) if path is not None and path.steps)

    @property
    def columns(self) -> tuple[ColumnPath, ...]:
        """All columns that are read. Those of conditions come first: faults in them count more."""
        conditions = (condition.column for condition in self.where)
        kept = (path for _, path in self.kept)
        paths = (*conditions, *self.scored_columns, *kept, *self.witnesses)
        return tuple(dict.fromkeys(paths))

    @property
    def scored_columns(self) -> tuple[ColumnPath, ...]:
        """Those of `columns` on which the result depends. The others are kept, or witnesses."""
        paths = [
            *(path for _, path in self.candidates),
            *self.references,
            *self.labels,
            *(condition.column for condition in self.where),
            *self.names,
            *(path for _, paths in self.values for path in paths),
        ]
        return tuple(path for path in dict.fromkeys(paths) if path.steps)


@dataclasses.dataclass(frozen=True)
class RawRecords:
    """Neighbouring records of one file before they are parsed: lines in a padded column, or a
    record batch. `first` counts from 0 in the whole input, `first_place` from 1 in the file, with
    the header. For bad lines, `values` has something else.
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
    """Why a record is bad: see `BadRecord`. There is no path if it could not be read at all."""

    path: ColumnPath | None
    reason: BadReason
    what: str
    remedy: str


Columns = dict[ColumnPath, pa.Array]  # the values of columns, with a row for each record


@dataclasses.dataclass(frozen=True)
class ReadRecords:
    """Neighbouring records of one file, column by column, in valid UTF-8 that is not padded yet.

    `faults` are the first ones of each bad row. Wrong values are null, and so are all values of a
    record that could not be read.
    """

    raw: RawRecords
    columns: Columns
    faults: Mapping[int, Fault] = dataclasses.field(default_factory=dict)
    digest: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def bad_record(self, row: int, fault: Fault) -> BadRecord:
        there = self.raw
        if there.kind == "line":
            raw = there.values[row].as_py()
        else:
            values = {path.text: column[row].as_py() for path, column in self.columns.items()}
            raw = json.dumps(values, ensure_ascii=False, default=str)
        return BadRecord(
            there.first + row,
            there.label,
            there.path,
            there.place(row),
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
