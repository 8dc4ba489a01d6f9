"""From records to the rows of a join: judges the records of one stream, and finds their ids."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.bad_records import BadReason, BadRecord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.missing_labels import without_blanks
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ColumnPath, ReadRecords
from beam_bleu.transforms.pairing.records.joins.record_ids import (
    IdKind,
    NotAnIdError,
    PartKind,
    hashes_of,
    id_texts,
    ids_of_columns,
)
from beam_bleu.transforms.pairing.records.joins.row_messages import (
    CANDIDATE,
    FILTERED_STATE,
    ID,
    KEPT,
    LABEL,
    NUMBER,
    PATH,
    PLACE,
    PLACE_KIND,
    REFERENCE,
    REJECTED_STATE,
    SCORED_STATE,
    STATE,
    SYSTEM,
    VALUE,
    WITNESS,
)
from beam_bleu.transforms.pairing.records.record_segments import (
    named_text,
    raw_record,
    to_segments,
)
from beam_bleu.transforms.pairing.tally import REJECTED, Tally
from beam_bleu.transforms.shown_names import can_be_shown


@dataclasses.dataclass(frozen=True)
class JoinRows:
    """The rows of neighbouring records of one stream.

    Attributes:
      rows: a table with the columns of `row_messages`, in any order.
      kind: the kind of their ids.
      bad: the records that cannot be scored, in order.
      read: the number of the records.
      lost: the bad records that are in no row, because their id, or the name of their system, could
        not be read. Each one counts as a segment, because it is not known which one it belongs to.
        And the number of all bad records, and how many records meet each condition.
    """

    rows: pa.Table
    kind: IdKind
    bad: tuple[BadRecord, ...]
    read: int
    lost: Tally


def join_rows(read: ReadRecords, chosen: Chosen, label: str) -> JoinRows:
    """The rows of records that have an id, and candidates, references or numbers, or several.

    A record that the conditions leave out, or that is bad, has a row without texts.

    Args:
      read: the records.
      chosen: the columns. There is at most one column of candidates.
      label: the stream in messages.

    Raises:
      InputError: the ids are neither strings nor integers, or a column of labels, conditions or
        names of systems has values that have no text.
    """
    assert chosen.ids
    segments = to_segments(read, chosen, label)
    kind, ids = ids_of_columns([_ids(read, path, label) for path in chosen.ids])
    systems = None if chosen.system is None else _names(read.columns[chosen.system], chosen.system)
    identified = known = _there(ids)
    if systems is not None:
        known = identified & _there(systems)
    state = np.full(len(ids), FILTERED_STATE)
    state[[record.number - read.first for record in segments.bad]] = REJECTED_STATE
    for batch in segments.batches:
        state[_rows(batch, read)] = SCORED_STATE
    unnamed = np.flatnonzero((state == SCORED_STATE) & ~known)
    bad = [*segments.bad, *(_without_id(read, chosen, label, row) for row in unnamed.tolist())]
    state[unnamed] = REJECTED_STATE
    if systems is not None:
        # A system whose records are all left out is not in the result.
        systems = pc.if_else(pa.array(state == FILTERED_STATE), None, systems)
        _check_names(systems, read, chosen, label)
    common = _CommonColumns(read, ids, state, systems)
    witnesses = {
        f"{WITNESS}{path}": hashes_of(read.columns[path])
        for path in chosen.witnesses
        if pa.types.is_large_string(read.columns[path].type)
    }
    tables = []
    for batch in segments.batches:
        rows = _rows(batch, read)
        texts = {
            **dict(zip([CANDIDATE], batch.candidates, strict=False)),
            **{f"{REFERENCE}{i}": column for i, column in enumerate(batch.references)},
            **{f"{LABEL}{i}": column for i, column in enumerate(batch.labels)},
            **{f"{VALUE}{i}": pa.array(of[0]) for i, of in enumerate(batch.values.values())},
            **{f"{KEPT}{i}": column for i, column in enumerate(batch.kept.values())},
            **{name: column.take(pa.array(rows)) for name, column in witnesses.items()},
        }
        table = common.of(rows, texts)
        tables.append(table if known[rows].all() else table.filter(pa.array(known[rows])))
    sent = np.where(state == FILTERED_STATE, identified, known & (state != SCORED_STATE))
    if sent.any() or not tables:
        tables.append(common.of(np.flatnonzero(sent), {}))
    rejected = (state == REJECTED_STATE) & ~known
    return JoinRows(
        pa.concat_tables(tables, promote_options="default"),
        kind,
        tuple(sorted(bad, key=lambda record: record.number)),
        len(ids),
        _tally_of_lost(int(rejected.sum()), len(bad), segments.tally),
    )


def _tally_of_lost(rejected: int, bad_records: int, of_records: Tally) -> Tally:
    return Tally(
        rejected,
        left_out={REJECTED: rejected} if rejected else {},
        bad_records=bad_records,
        judged=of_records.judged,
        met=of_records.met,
    )


def _ids(read: ReadRecords, path: ColumnPath, label: str) -> tuple[PartKind, pa.LargeStringArray]:
    column = read.columns[path]
    if pa.types.is_null(column.type):
        column = column.cast(pa.large_string())
    try:
        return id_texts(column, read.typed)
    except NotAnIdError as error:
        raise InputError(
            f"{label}: the column {path} has {error}, which cannot be ids: {read.path}",
            "name a column of strings or integers: each segment must have an id of its own",
        ) from error


def _names(column: pa.Array, path: ColumnPath) -> pa.LargeStringArray:
    """The names of systems."""
    return without_blanks(named_text(column, path).cast(pa.large_string()))


def _check_names(names: pa.LargeStringArray, read: ReadRecords, chosen: Chosen, label: str) -> None:
    """Checks the names of systems.

    Raises:
      InputError: a name cannot be shown, or has white space around it.
    """
    for name in pc.unique(names).drop_null().to_pylist():
        if can_be_shown(name) and name == name.strip():
            continue
        row = pc.index(names, pa.scalar(name, names.type)).as_py()
        is_shown = can_be_shown(name)
        fault = "begins or ends with white space" if is_shown else "cannot be shown"
        raise InputError(
            f"{label}: {read.place_kind} {read.first_place + row}: the column {chosen.system} has "
            f"the system name {name!a}, which {fault}: {read.path}",
            "remove the white space, so that each system has one name"
            if is_shown
            else "give each system a name of printable characters",
        )


def _there(column: pa.Array) -> np.ndarray:
    there: np.ndarray = column.is_valid().to_numpy(zero_copy_only=False).copy()
    return there


def _rows(batch: SegmentBatch, read: ReadRecords) -> Integers:
    assert batch.numbers is not None
    rows: Integers = batch.numbers - read.first
    return rows


@dataclasses.dataclass(frozen=True)
class _CommonColumns:
    """Makes the columns that all rows have."""

    read: ReadRecords
    ids: pa.LargeStringArray
    state: Integers
    systems: pa.LargeStringArray | None

    def of(self, rows: Integers, texts: dict[str, pa.Array]) -> pa.Table:
        taken = pa.array(rows)
        same = pa.array(np.zeros(len(rows), np.int32))
        columns = {
            ID: self.ids.take(taken),
            NUMBER: pa.array(self.read.first + rows),
            PLACE: pa.array(self.read.first_place + rows),
            PATH: pa.DictionaryArray.from_arrays(same, pa.array([self.read.path])),
            PLACE_KIND: pa.DictionaryArray.from_arrays(same, pa.array([self.read.place_kind])),
            STATE: pa.array(self.state[rows], pa.int8()),
        }
        if self.systems is not None:
            columns[SYSTEM] = pc.dictionary_encode(self.systems.take(taken).cast(pa.string()))
        return pa.table({**columns, **texts})


def _without_id(read: ReadRecords, chosen: Chosen, label: str, row: int) -> BadRecord:
    values = {path.text: column[row].as_py() for path, column in read.columns.items()}
    missing, remedies = [], []
    nulls = [path.text for path in chosen.ids if values[path.text] is None]
    if nulls:
        missing.append(f"no {' and no '.join(nulls)}: null")
        remedies.append("the id of the segment")
    name = chosen.system
    if name is not None and not _names(read.columns[name].slice(row, 1), name)[0].is_valid:
        missing.append(f"no name of a system in {name}: {json.dumps(values[name.text])}")
        remedies.append("the name of the system")
    reason: BadReason = "missing-id"
    return BadRecord(
        read.first + row,
        label,
        read.path,
        f"{read.place_kind} {read.first_place + row}",
        reason,
        f"has {' and '.join(missing)}",
        f"write {' and '.join(remedies)}",
        raw_record(read, row),
    )
