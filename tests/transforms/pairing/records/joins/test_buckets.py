"""The join of buckets equals a join with dicts, for any buckets and any order; and ids of rows."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.canonical import canonical
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.text_digest import reduced_hashes
from beam_bleu.transforms.pairing.paired import COVERAGES, Tally
from beam_bleu.transforms.pairing.records.joins.buckets import join_bucket
from beam_bleu.transforms.pairing.records.joins.findings import Report
from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords
from beam_bleu.transforms.pairing.records.joins.rows import (
    id_texts,
    join_rows,
    joined_ids,
    kept,
    messages_of,
    taken,
)
from beam_bleu.transforms.pairing.records.record_files import RecordFiles, record_files
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    ColumnPath,
    Condition,
    RawRecords,
    ReadRecords,
    Wanted,
)

Records = Sequence[dict[str, Any]]

ID, HYP, REF, SYSTEM, LABEL, SOURCE = (
    ColumnPath(name, (name,)) for name in ("id", "hyp", "ref", "s", "l", "source")
)


KEPT = (("src", SOURCE),)
OF_REFERENCES = Chosen((), (REF,), labels=(LABEL,), ids=(ID,), kept=KEPT)
OF_OTHER_REFERENCES = Chosen((), (REF,), ids=(ID,))
OF_CANDIDATES = Chosen((("", HYP),), (), ids=(ID,))
OF_LONG = Chosen((("", HYP),), (REF,), labels=(LABEL,), ids=(ID,), system=SYSTEM, kept=KEPT)

Row = tuple[dict[str, str], tuple[str, ...], tuple[str | None, ...], dict[str, str | None]]
"""The candidates of each system that is scored, the references, the labels, and what is kept."""


def read_records(records: Records, chosen: Chosen, first: int) -> ReadRecords:
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
    raw = RawRecords(None, "input", f"{first}.jsonl", "line", first, first + 1, chosen)
    return ReadRecords(raw, columns)


def rows_in(batch: SegmentBatch) -> Iterator[tuple[int, Row]]:
    for row, number in enumerate(batch.numbers.tolist()):
        texts = [column[row].as_py() for column in batch.candidates]
        references = (column[row].as_py() for column in batch.references)
        labels = tuple(column[row].as_py() for column in batch.labels)
        kept = {name: column[row].as_py() for name, column in batch.kept.items()}
        candidates = dict(zip(batch.systems, texts, strict=True))
        yield number, (candidates, tuple(filter(None, references)), labels, kept)


def joined(references, candidates, coverage, buckets=1, draw=None):
    """What is found in all buckets of a join, and its segments by their numbers.

    Without candidates, the references are long records. Each stream is read in several parts.
    """
    draw = draw or random.Random(0)
    messages: list[list[bytes]] = [[] for _ in range(buckets)]
    streams = [*references, *((records, OF_CANDIDATES) for records in candidates.values())]
    for stream, (records, chosen) in enumerate(streams):
        cuts = sorted({0, len(records), *(draw.randrange(len(records) + 1) for _ in range(2))})
        for begin, end in sorted(itertools.pairwise(cuts), key=lambda _: draw.random()):
            rows, *_ = join_rows(read_records(records[begin:end], chosen, begin))
            for bucket, message in messages_of(rows, stream, buckets):
                messages[bucket].append(message)

    def files(label: str, chosen: Chosen) -> RecordFiles:
        kept = tuple((name, path.text) for name, path in chosen.kept)
        return record_files(Stream(label, "a.jsonl"), Wanted(ids=("id",), kept=kept), "jsonl")

    of_systems = tuple(files(f"candidates {name}", OF_CANDIDATES) for name in candidates)
    label = "references {}" if candidates else "input"
    of_references = tuple(files(label.format(i), of) for i, (_, of) in enumerate(references))
    source = JoinedRecords(tuple(candidates), of_systems, of_references, coverage)
    segments: list[tuple[int, Row]] = []
    report = Report()
    for of_bucket in messages:
        found, batches = join_bucket(source, tuple(candidates or "AB"), of_bucket)
        report += found
        segments += [row for batch in batches for row in rows_in(batch)]
    assert len(dict(segments)) == len(segments)
    return report, dict(segments)


def references_of(ids: Sequence[Any]) -> Records:
    return [
        {
            "id": each,
            "ref": f"the reference {number}",
            "l": ["x", "y", None][number % 3],
            "source": [f"the source {number}", None][number % 2],
        }
        for number, each in enumerate(ids)
    ]


def candidates_of(name: str, ids: Sequence[Any]) -> Records:
    return [{"id": each, "hyp": f"{name} says {each!r}"} for each in ids]


IDS = st.one_of(
    st.lists(st.integers(-3, 40), unique=True, max_size=20),
    st.lists(st.sampled_from(["1", "01", "1 ", "é", "", "a" * 70, "b" * 8, "c" * 9]), unique=True),
)


@settings(max_examples=100)
@given(
    ids=IDS,
    coverage=st.sampled_from([*COVERAGES]),
    buckets=st.integers(1, 5),
    seed=st.integers(0, 1000),
    lacking=st.sampled_from([0, 0.2, 0.8]),
    form=st.sampled_from(["long", "one stream of references", "two streams of references"]),
)
def test_a_join_equals_a_join_with_dicts(ids, coverage, buckets, seed, lacking, form):
    draw = random.Random(seed)

    def without(given: Sequence[Any]) -> list[Any]:
        kept = [each for each in given if draw.random() >= lacking]
        draw.shuffle(kept)
        return kept

    unknown = [99, 100] if ids and isinstance(ids[0], int) else ["unknown", "other"]
    if form == "long" or not lacking:
        unknown = []
    candidates = {name: candidates_of(name, without([*ids, *unknown])) for name in "AB"}
    said = {name: {each["id"]: each["hyp"] for each in of} for name, of in candidates.items()}
    of_ids = {each["id"]: each for each in references_of(ids)}
    if form == "long":
        records = [
            {**each, **of_ids[each["id"]], "s": name} for name in "AB" for each in candidates[name]
        ]
        draw.shuffle(records)
        streams, candidates = [(records, OF_LONG)], {}
        numbers = {each["id"]: row for row, each in [*enumerate(records)][::-1]}  # the first row
    else:
        numbers = {each: row for row, each in enumerate(ids)}
        streams = [([*of_ids.values()], OF_REFERENCES)]
        if form.startswith("two"):
            streams.append((references_of(without(ids)), OF_OTHER_REFERENCES))
    report, rows = joined(streams, candidates, coverage, buckets, draw)

    texts = [{each["id"]: each["ref"] for each in of} for of, _ in streams]
    expected: dict[int, Row] = {}
    for each, number in numbers.items():
        there = {name: of[each] for name, of in said.items() if each in of}
        references = tuple(of[each] for of in texts if each in of)
        if (there if coverage == "each" else len(there) == 2) and len(references) == len(texts):
            record = of_ids[each]
            kept = {"id": str(each), "src": record["source"]}
            expected[number] = (there, references, (record["l"],), kept)
    for name, of in said.items():
        missing, strange = (
            report.of(kind, f"candidates {name}").count for kind in ("missing", "unknown")
        )
        assert (missing, strange) == (len(numbers.keys() - of.keys()), len(of.keys() - numbers))
    assert report.segments == len(numbers)
    if coverage == "strict" and report.findings:
        assert all(expected[number] == row for number, row in rows.items())  # the job fails later
        return
    assert rows == expected
    assert report.tally.read == len(numbers)
    for name in "AB":
        scored = sum(name in of_systems for of_systems, *_ in rows.values())
        assert report.tally.scored.get(name, 0) == scored
        assert report.tally.unexplained(name) == 0


def test_records_that_a_condition_leaves_out_may_repeat_an_id_and_are_known():
    chosen = Chosen((), (REF,), labels=(LABEL,), ids=(ID,), where=(Condition(LABEL, "de"),))
    references = [
        {"id": 1, "ref": "eins", "l": "de"},
        {"id": 1, "ref": "un", "l": "fr"},
        {"id": 2, "ref": "deux", "l": "fr"},
    ]
    report, rows = joined([(references, chosen)], {"A": candidates_of("A", [1, 2])}, "strict")
    assert not report.findings
    assert rows == {0: ({"A": "A says 1"}, ("eins",), ("de",), {"id": "1"})}
    assert report.tally == Tally(2, {"A": 1}, {"filtered": 1})  # segments, not records


def test_references_of_a_list_column_and_of_several_streams_stand_side_by_side():
    first = [
        {"id": 1, "ref": ["one", "uno"]},
        {"id": 2, "ref": ["two"]},
        {"id": 3, "ref": [None, "three", "tres"]},
    ]
    streams = [(first, OF_OTHER_REFERENCES), (references_of([3, 2, 1]), OF_OTHER_REFERENCES)]
    for seed in range(5):
        draw, candidates = random.Random(seed), {"A": candidates_of("A", [1, 2, 3])}
        _, rows = joined(streams, candidates, "strict", 2, draw)
        assert [rows[i][1] for i in range(3)] == [
            ("one", "the reference 2", "uno"),
            ("two", "the reference 1"),
            ("the reference 0", "three", "tres"),
        ]


@pytest.mark.parametrize("column", ["ref", "l", "source"])
def test_long_records_of_a_segment_must_agree(column):
    records = [
        {"id": 1, "s": "A", "hyp": "a", "ref": "one", "l": "x"},
        {"id": 2, "s": "A", "hyp": "a", "ref": "two", "l": None},
        {"id": 2, "s": "B", "hyp": "b", "ref": "two", "l": None},
        {"id": 1, "s": "B", "hyp": "b", "ref": "one", "l": "x", column: "other"},
    ]
    report, rows = joined([(records, OF_LONG)], {}, "each")
    found = report.of("differing", "input")
    assert found.count == 1
    (only,) = found.first
    assert only.id == "1"
    assert [place.rpartition(" ")[2] for place in only.places] == ["1", "4"]
    assert rows == {}


# Ids of rows, and the folder in which messages wait


def as_ids(column: pa.Array) -> pa.LargeStringArray:
    raw = RawRecords(None, "input", "a.jsonl", "row", 0, 1, Chosen((), ()))
    return id_texts(ReadRecords(raw, {ID: column}), ID)


@given(st.lists(st.text(max_size=30), min_size=1), st.integers(1, 50), st.data())
def test_equal_ids_go_to_the_same_bucket_in_any_column(ids, buckets, data):
    column = pa.array(ids, pa.large_string())
    found = reduced_hashes(column, buckets).tolist()
    assert all(0 <= each < buckets for each in found)
    begin = data.draw(st.integers(0, len(ids) - 1))
    assert reduced_hashes(column.slice(begin), buckets).tolist() == found[begin:]
    mirrored = pa.array(ids[::-1], pa.large_string())
    assert reduced_hashes(mirrored, buckets).tolist() == found[::-1]
    # Workers of one job can run other processes and machines, so the hash has no random seed.
    ids = pa.array(["", "a", "a longer id", "é" * 20], pa.large_string())
    assert reduced_hashes(ids, 4096).tolist() == [0, 2185, 3531, 1435]


def test_integers_become_texts():
    assert as_ids(pa.array([0, 17, None], pa.int8())).to_pylist() == ["0", "17", None]
    assert as_ids(pa.array([2**64 - 1], pa.uint64())).to_pylist() == [str(2**64 - 1)]


def test_ids_of_several_columns_are_lists_of_json():
    texts = ["a", 'say "b"', "\x1f\x1e0\x1e", "é\n\\", "", "b,c", "["]
    parts = [texts, [*range(-2, 5)], texts[::-1]]
    ids = joined_ids([as_ids(canonical(pa.array(part))) for part in parts])
    rows = [list(values) for values in zip(*parts, strict=True)]
    assert [json.loads(each) for each in ids.to_pylist()] == rows


MESSAGES = [(3, b"one"), (0, b""), (3, b"three" * 1000)]


def test_messages_come_back(tmp_path):
    with pytest.raises(JobError, match="cannot be kept: No such file"):
        list(kept(str(tmp_path / "missing"), MESSAGES))
    folder = str(tmp_path)
    sent = [*kept(folder, MESSAGES), *kept(folder, [(1, b"other")])]
    assert [bucket for bucket, _ in sent] == [3, 0, 3, 1]
    assert all(len(each) < 300 for _, each in sent)  # only places go through the shuffle
    expected = [message for _, message in MESSAGES] + [b"other"]
    assert list(taken(folder, (each for _, each in sent))) == expected
