"""Records become segments: against a slow oracle that looks at one record at a time."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import json
from typing import Any
from unittest import mock

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing import canonical
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.canonical import as_texts
from beam_bleu.transforms.pairing.paired import MAX_RAW_BYTES, BadRecord, Tally
from beam_bleu.transforms.pairing.records.record_segments import batches_of, judge
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    ColumnPath,
    Condition,
    RawRecords,
    ReadRecords,
)


def column(name: str) -> ColumnPath:
    return ColumnPath(name, (name,))


HYP, OTHER, REF, REFS, TAG, KEEP = map(column, ["hyp", "other", "ref", "refs", "tag", "keep"])
PLAIN = Chosen((("hyp", HYP),), (REF,))
TEXTS = pa.large_string()
LISTS = pa.large_list(TEXTS)


def read(columns, chosen, first=0, bad=()):
    raw = RawRecords(None, "input", "a.jsonl", "row", first, first + 1, chosen, bad)
    return ReadRecords(raw, columns)


def texts(*values: Any) -> pa.Array:
    return pa.array(values, TEXTS)


def to_segments(read: ReadRecords) -> tuple[list[SegmentBatch], tuple[BadRecord, ...], Tally]:
    judged = judge(read)
    return [*batches_of(read, judged)], judged.bad, judged.tally


def rows_of(batches: list[SegmentBatch]) -> list[tuple[Any, ...]]:
    """(number, candidates, references, labels) of every scored segment."""
    rows = []
    for batch in batches:
        candidates, references, labels = (
            [column.to_pylist() for column in columns]
            for columns in (batch.candidates, batch.references, batch.labels)
        )
        for row, number in enumerate(batch.numbers.tolist()):
            texts = [column[row] for column in references if column[row] is not None]
            of_row = tuple(column[row] for column in candidates)
            rows.append((number, of_row, texts, tuple(column[row] for column in labels)))
    return rows


TEXT = st.one_of(st.none(), st.sampled_from(["", "a", "ü\tb", "a b c " * 9]))
RECORD = st.fixed_dictionaries(
    {
        HYP: TEXT,
        OTHER: TEXT,
        REF: TEXT,
        REFS: st.one_of(st.none(), st.lists(TEXT, max_size=4)),
        TAG: st.one_of(st.none(), st.sampled_from(["x", "y", ""])),
        KEEP: st.one_of(st.none(), st.booleans()),
        column("unread"): st.sampled_from([False, False, False, True]),
    }
)
KINDS = {HYP: TEXTS, OTHER: TEXTS, REF: TEXTS, REFS: LISTS, TAG: TEXTS, KEEP: pa.bool_()}


@settings(max_examples=80)
@given(
    st.lists(RECORD, min_size=1, max_size=30),
    st.sampled_from([(REF,), (REFS,), (REF, REFS)]),
    st.sampled_from([(), (Condition(KEEP, "true"),), (Condition(KEEP, "true", negated=True),)]),
    st.integers(0, 1 << 40),
    st.sampled_from([8, 1 << 18]),
)
def test_every_record_is_scored_or_filtered_or_bad(records, references, where, first, most):
    chosen = Chosen((("one", HYP), ("two", OTHER)), references, (TAG, KEEP), where)
    unread = [i for i, record in enumerate(records) if record[column("unread")]]
    bad = tuple(
        BadRecord(first + i, "input", "a.jsonl", f"line {i}", "invalid-json", "is bad", "repair it")
        for i in unread
    )
    columns = {
        path: pa.array(
            [None if i in unread else record[path] for i, record in enumerate(records)], KINDS[path]
        )
        for path in chosen.columns
    }
    with mock.patch.object(canonical, "MOST_TEXTS", most):
        batches, found_bad, tally = to_segments(read(columns, chosen, first, bad))
    scored, reasons, filtered = [], {}, 0
    for i, record in enumerate(records):
        kept = record[KEEP] is True
        every = []
        for path in references:
            every += (record[path] or []) if path is REFS else [record[path]]
        given_references = [each for each in every if each is not None]
        if i in unread:
            reasons[first + i] = "invalid-json"
        elif where and kept == where[0].negated:
            filtered += 1
        elif record[HYP] is None or record[OTHER] is None:
            reasons[first + i] = "missing-candidate"
        elif not given_references:
            reasons[first + i] = "missing-reference"
        else:
            keep = None if record[KEEP] is None else json.dumps(record[KEEP])
            candidates = (record[HYP], record[OTHER])
            scored.append((first + i, candidates, given_references, (record[TAG] or None, keep)))
    assert rows_of(batches) == scored
    assert {each.number: each.reason for each in found_bad} == reasons
    assert [each.number for each in found_bad] == sorted(reasons)
    assert tally.read == len(records)
    assert tally.scored == {"one": len(scored), "two": len(scored)}
    counted = {"filtered": filtered, "rejected": len(reasons)}
    assert tally.left_out == {name: count for name, count in counted.items() if count}
    assert not tally.unexplained("one")
    for batch in batches:
        assert len(batch) == 1 or len(batch) * (2 + len(batch.references)) <= most
    if most > 1000:
        assert len(batches) == (1 if scored else 0)


def test_a_reader_can_give_the_bytes_of_a_bad_record():
    columns = {HYP: texts("a", None), REF: texts("r", "s")}
    lines = texts("", "x" * (MAX_RAW_BYTES + 1))
    raw = RawRecords(lines, "input", "a.jsonl", "line", 0, 1, PLAIN)
    _, (bad,), _ = to_segments(ReadRecords(raw, columns))
    assert bad.raw == b"x" * MAX_RAW_BYTES


def test_a_rejected_record_shows_only_the_columns_that_were_read():
    unread = ColumnPath("tag")  # a candidate that the file need not have
    chosen = Chosen((("hyp", unread),), (REF,), labels=(TAG,))
    columns = {TAG: texts("t"), REF: texts(None), unread: texts("")}
    _, (bad,), _ = to_segments(read(columns, chosen))
    assert json.loads(bad.raw) == {"tag": "t", "ref": None}


def test_values_are_text_as_json_writes_them():
    for values, kind, written in (
        (["x", "", None], pa.large_string(), ["x", "", None]),
        ([1, -2, None, 1 << 60], pa.int64(), ["1", "-2", None, str(1 << 60)]),
        ([(1 << 64) - 1], pa.uint64(), [str((1 << 64) - 1)]),
        ([True, False, None], pa.bool_(), ["true", "false", None]),
        ([1.0, 0.1, None, 1e16, -0.0], pa.float64(), ["1.0", "0.1", None, "1e+16", "-0.0"]),
        ([0.1, None, 2.0, 2023.0], pa.float16(), ["0.1", None, "2.0", "2023.0"]),
        ([None, None], canonical.canonical(pa.nulls(2)).type, [None, None]),
        ([decimal.Decimal("1.50"), None], pa.decimal128(5, 2), ["1.50", None]),
        ([datetime.date(2026, 11, 21), None], pa.date32(), ["2026-11-21", None]),
    ):
        assert as_texts(pa.array(values, kind), TAG).to_pylist() == written
        columns = {HYP: texts(*["a"] * len(values)), REF: texts(*["r"] * len(values))}
        columns[TAG] = pa.array(values, kind)
        (batch,), _, _ = to_segments(read(columns, dataclasses.replace(PLAIN, labels=(TAG,))))
        assert batch.labels[0].to_pylist() == [text or None for text in written]
        for text in filter(None, written):
            chosen = dataclasses.replace(PLAIN, where=(Condition(TAG, text),))
            (kept,), _, _ = to_segments(read(columns, chosen))
            assert kept.numbers.tolist() == [i for i, each in enumerate(written) if each == text]
