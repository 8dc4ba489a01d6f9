"""Decides which of the records that were read are scored, bad or left out, and makes batches."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import Places, SegmentBatch
from beam_bleu.transforms.pairing.canonical import (
    Rows,
    as_texts,
    label_column,
    lengths,
    named_text,
    nulls,
    reference_counts,
    row_parts,
    spread,
)
from beam_bleu.transforms.pairing.needs import VALUE_PARTS, ValueColumn, ValuePart
from beam_bleu.transforms.pairing.paired import FILTERED, REJECTED, BadRecord, Tally
from beam_bleu.transforms.pairing.records.number_columns import Numbers, numbers_of
from beam_bleu.transforms.pairing.records.wanted import ColumnPath, Fault, ReadRecords

_SHOWN = 40  # how many characters of a value a message shows


@dataclasses.dataclass(frozen=True)
class Judged:
    """The rows to score, in order, and, for each column of numbers, the numbers of each system."""

    scored: Integers
    numbers: Mapping[ValueColumn, Sequence[Numbers]]
    bad: tuple[BadRecord, ...]
    tally: Tally


def judge(read: ReadRecords) -> Judged:
    """Decides which records are scored, which are bad, and which the conditions leave out.

    Conditions come first: a record that they leave out is never bad, whatever else it contains. But
    a line that cannot be read as a record always is. A null is a missing reference, which is not a
    fault if the record has others. An empty string is a text.
    """
    raw, chosen, count = read.raw, read.raw.chosen, len(read)
    meeting, meets_all = {}, np.ones(count, bool)
    for condition in chosen.where:
        texts = as_texts(read.columns[condition.column], condition.column)
        equal = pc.fill_null(pc.equal(texts, condition.value), False)  # a null equals nothing
        meeting[condition] = equal.to_numpy(zero_copy_only=False) != condition.negated
        meets_all &= meeting[condition]
    conditions = {None, *(condition.column for condition in chosen.where)}
    faults = {
        row: fault
        for row, fault in read.faults.items()
        if fault.path in conditions or meets_all[row]
    }
    unread = np.zeros(count, bool)
    unread[[*(record.number - raw.first for record in raw.bad), *faults]] = True
    usable = ~unread & meets_all

    def fail(rows: Rows, fault: Fault | Callable[[int], Fault]) -> None:
        for row in np.flatnonzero(usable & rows).tolist():
            faults[row] = fault if isinstance(fault, Fault) else fault(row)
        np.logical_and(usable, ~rows, out=usable)

    for _, path in chosen.candidates:
        remedy = "write the candidate, or an empty string if the system gave no text"
        what = f"has no candidate in the column {path}"
        fail(nulls(read.columns[path]), Fault(path, "missing-candidate", what, remedy))
    if chosen.references:
        counts = [reference_counts(read.columns[path]) for path in chosen.references]
        named = joined([path.text for path in chosen.references])
        what = f"has no reference in the column{'s'[: len(counts) > 1]} {named}"
        remedy = "write a reference, or leave the record out with --where"
        fault = Fault(chosen.references[0], "missing-reference", what, remedy)
        fail(np.sum(counts, axis=0) == 0, fault)
    numbers: dict[ValueColumn, list[Numbers]] = {}
    for column, paths in chosen.values:
        for path in paths:
            if path.steps:
                part, found = VALUE_PARTS[column.part], numbers_of(read.columns[path], column.part)
                of_row = functools.partial(_without_number, read.columns[path], path, part, found)
                fail(found.missing | found.wrong, of_row)
            else:  # the file need not have it
                no_row = np.zeros(count, bool)
                found = Numbers(np.zeros(count), no_row, no_row)
            numbers.setdefault(column, []).append(found)
    kept = np.flatnonzero(usable)
    bad = [*raw.bad, *(read.bad_record(row, fault) for row, fault in faults.items())]
    left_out = {FILTERED: int((~unread & ~meets_all).sum()), REJECTED: len(bad)}
    telling = [str(condition) for condition in meeting if not condition.can_hold_always]
    tally = Tally(
        count,
        {system: len(kept) for system in chosen.systems},
        {reason: number for reason, number in left_out.items() if number},
        bad_records=len(bad),
        judged=dict.fromkeys(telling, int((~unread).sum())),
        met={str(condition): int((rows & ~unread).sum()) for condition, rows in meeting.items()},
    )
    return Judged(kept, numbers, tuple(sorted(bad, key=lambda record: record.number)), tally)


def batches_of(read: ReadRecords, judged: Judged) -> Iterator[SegmentBatch]:
    kept, chosen = judged.scored, read.raw.chosen
    reference_lengths = [lengths(read.columns[path])[kept] for path in chosen.references]
    for part in row_parts(len(kept), len(chosen.candidates), reference_lengths):
        yield _batch(read, judged, kept[part])


def _batch(read: ReadRecords, judged: Judged, rows: Integers) -> SegmentBatch:
    raw, chosen = read.raw, read.raw.chosen

    def taken(path: ColumnPath) -> pa.Array:
        column = read.columns[path]
        return column if len(rows) == len(column) else column.take(pa.array(rows))

    one_file = np.zeros(len(rows), np.int64)
    places = Places.in_files([raw.path], raw.kind, one_file, raw.first_place + rows)
    return SegmentBatch(
        tuple(padded(taken(path)) for _, path in chosen.candidates),
        tuple(padded(column) for path in chosen.references for column in spread(taken(path))),
        raw.first + rows,
        systems=chosen.systems,
        labels=tuple(label_column(named_text(taken(path), path)) for path in chosen.labels),
        label_places=tuple(places for _ in chosen.labels),
        values={
            column: np.stack([of_system.values[rows] for of_system in of_systems])
            for column, of_systems in judged.numbers.items()
        },
        kept={name: named_text(taken(path), path) for name, path in chosen.kept},
    )


def _without_number(
    values: pa.Array, path: ColumnPath, part: ValuePart, found: Numbers, row: int
) -> Fault:
    remedy = f"write {part.must_be}, or leave the record out with --where"
    if found.missing[row]:
        return Fault(path, "missing-number", f"has no value in the column {path}", remedy)
    value = values[row].as_py()
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    what = f"has {shown[:_SHOWN]} in the column {path}, where the value must be {part.must_be}"
    return Fault(path, "not-a-number", what, remedy)
