"""The join of buckets equals a join with dicts, for any buckets and any order; and ids of rows."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Sequence
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
from beam_bleu.transforms.pairing.records.joins.findings import CoverageName, Report
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
OF_CANDIDATES = Chosen((("", HYP),), (), ids=(ID,))
OF_LONG = Chosen((("", HYP),), (REF,), labels=(LABEL,), ids=(ID,), system=SYSTEM, kept=KEPT)


def read_records(records: Records, chosen: Chosen, first: int, path: str) -> ReadRecords:
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


def shuffled_and_joined(
    source: JoinedRecords,
    systems: Sequence[str],
    streams: Sequence[list[ReadRecords]],
    buckets: int,
) -> tuple[Report, dict[int, Row]]:
    """What is found in all buckets of a join, and its segments by their numbers."""
    messages: list[list[bytes]] = [[] for _ in range(buckets)]
    for stream, parts in enumerate(streams):
        for part in parts:
            for bucket, message in messages_of(join_rows(part)[0], stream, buckets):
                messages[bucket].append(message)
    segments: list[tuple[int, Row]] = []
    report = Report()
    for of_bucket in messages:
        found, batches = join_bucket(source, systems, of_bucket)
        report += found
        segments += [row for batch in batches for row in rows_in(batch)]
    rows = dict(segments)
    assert len(rows) == len(segments)
    return report, rows


@dataclasses.dataclass(frozen=True)
class Row:
    """A segment for the systems that are scored on it."""

    candidates: tuple[tuple[str, str], ...]
    references: tuple[str | None, ...]
    labels: tuple[str | None, ...] = ()
    kept: tuple[tuple[str, str | None], ...] = ()


def rows_in(batch: SegmentBatch) -> list[tuple[int, Row]]:
    columns = [column.to_pylist() for column in batch.candidates]
    references = [column.to_pylist() for column in batch.references]
    return [
        (
            number,
            Row(
                tuple(zip(batch.systems, (texts[row] for texts in columns), strict=True)),
                tuple(texts[row] for texts in references if texts[row] is not None),
                tuple(column[row].as_py() for column in batch.labels),
                tuple((name, column[row].as_py()) for name, column in batch.kept.items()),
            ),
        )
        for row, number in enumerate(batch.numbers.tolist())
    ]


IDS = st.one_of(
    st.lists(st.integers(-3, 40), unique=True, max_size=20),
    st.lists(st.sampled_from(["1", "01", "1 ", "é", "", "a" * 70, "b" * 8, "c" * 9]), unique=True),
)


def parts_of(records: Records, chosen: Chosen, draw: random.Random) -> list[Any]:
    """The records, as several parts in any order."""
    cuts = sorted({0, len(records), *(draw.randrange(len(records) + 1) for _ in range(2))})
    parts = [
        read_records(records[begin:end], chosen, begin, f"{begin}.jsonl")
        for begin, end in itertools.pairwise(cuts)
    ]
    draw.shuffle(parts)
    return parts


def files(label: str, chosen: Chosen) -> RecordFiles:
    kept = tuple((name, path.text) for name, path in chosen.kept)
    return record_files(Stream(label, "a.jsonl"), Wanted(ids=("id",), kept=kept), "jsonl")


def joined(
    references: Sequence[Records],
    candidates: dict[str, Records],
    coverage: CoverageName,
    buckets: int = 1,
    seed: int = 0,
    chosen: Chosen = OF_REFERENCES,
) -> tuple[Report, dict[int, Row]]:
    draw = random.Random(seed)
    streams = [*references, *candidates.values()]
    columns = [chosen, *([Chosen((), (REF,), ids=(ID,))] * (len(references) - 1))]
    columns += [OF_CANDIDATES] * len(candidates)
    parts = [parts_of(*each, draw) for each in zip(streams, columns, strict=True)]
    systems = tuple(candidates)
    of_references = tuple(files(f"references {i}", chosen) for i in range(len(references)))
    of_systems = tuple(files(f"candidates {name}", OF_CANDIDATES) for name in systems)
    source = JoinedRecords(systems, of_systems, of_references, coverage)
    return shuffled_and_joined(source, systems, parts, buckets)


def long(
    records: Records,
    systems: Sequence[str],
    coverage: CoverageName,
    buckets: int = 1,
    seed: int = 0,
) -> tuple[Report, dict[int, Row]]:
    parts = parts_of(records, OF_LONG, random.Random(seed))
    source = JoinedRecords((), (), (files("input", OF_LONG),), coverage)
    return shuffled_and_joined(source, systems, [parts], buckets)


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


def kept_of(record: dict[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """What a row keeps of a record of the references, or of a long one."""
    return (("id", str(record["id"])), ("src", record["source"]))


def candidates_of(name: str, ids: Sequence[Any]) -> Records:
    return [{"id": each, "hyp": f"{name} says {each!r}"} for each in ids]


@settings(max_examples=60, deadline=None)
@given(
    ids=IDS,
    coverage=st.sampled_from([*COVERAGES]),
    buckets=st.integers(1, 5),
    seed=st.integers(0, 1000),
    lacking=st.sampled_from([0, 0.2, 0.8]),
    several=st.booleans(),
)
def test_a_join_equals_a_join_with_dicts(ids, coverage, buckets, seed, lacking, several):
    draw = random.Random(seed)

    def without(given: Sequence[Any]) -> list[Any]:
        kept = [each for each in given if draw.random() >= lacking]
        draw.shuffle(kept)
        return kept

    unknown = [99, 100] if ids and isinstance(ids[0], int) else ["unknown", "other"]
    candidates = {
        name: candidates_of(name, without([*ids, *(unknown if lacking else [])])) for name in "AB"
    }
    references = [references_of(ids)]
    if several:
        references.append(references_of(without(ids)))
    report, rows = joined(references, candidates, coverage, buckets, seed)

    by_id = {name: {each["id"]: each["hyp"] for each in of} for name, of in candidates.items()}
    texts = [{each["id"]: each["ref"] for each in of} for of in references]
    expected: dict[int, Row] = {}
    missing = dict.fromkeys("AB", 0)
    for number, record in enumerate(references[0]):
        there = {name: of[record["id"]] for name, of in by_id.items() if record["id"] in of}
        for name in missing:
            missing[name] += name not in there
        found = [of[record["id"]] for of in texts if record["id"] in of]
        enough = there if coverage == "each" else len(there) == 2
        if enough and len(found) == len(texts):
            kept = kept_of(record)
            expected[number] = Row(tuple(there.items()), tuple(found), (record["l"],), kept)
    assert {name: report.of("missing", f"candidates {name}").count for name in "AB"} == missing
    for name, of in by_id.items():
        found = report.of("unknown", f"candidates {name}")
        assert found.count == len(of.keys() - set(ids))
    assert report.segments == len(ids)
    if coverage == "strict" and report.findings:
        assert set(rows.items()) <= set(expected.items())  # the job fails later
        return
    assert rows == expected
    assert report.tally.read == len(ids)
    for name in "AB":
        assert report.tally.scored.get(name, 0) == sum(
            name in dict(row.candidates) for row in rows.values()
        )
        assert report.tally.unexplained(name) == 0


@settings(max_examples=40, deadline=None)
@given(
    ids=IDS,
    coverage=st.sampled_from([*COVERAGES]),
    buckets=st.integers(1, 5),
    seed=st.integers(0, 1000),
    lacking=st.sampled_from([0, 0.3]),
)
def test_long_records_equal_a_group_by_with_dicts(ids, coverage, buckets, seed, lacking):
    draw = random.Random(seed)
    of_ids = {each["id"]: each for each in references_of(ids)}
    records = [
        {**of_ids[each], "s": name, "hyp": f"{name} says {each!r}"}
        for each in ids
        for name in "AB"
        if draw.random() >= lacking
    ]
    draw.shuffle(records)
    report, rows = long(records, "AB", coverage, buckets, seed)
    expected: dict[int, Row] = {}
    firsts: dict[Any, int] = {}
    said: dict[Any, dict[str, str]] = {}
    for number, record in enumerate(records):
        firsts.setdefault(record["id"], number)
        said.setdefault(record["id"], {})[record["s"]] = record["hyp"]
    for each, number in firsts.items():
        there = tuple(sorted(said[each].items()))
        if coverage == "each" or len(there) == 2:
            record = of_ids[each]
            expected[number] = Row(there, (record["ref"],), (record["l"],), kept_of(record))
    for name in "AB":
        lacks = sum(name not in of for of in said.values())
        assert report.of("missing", f"candidates {name}").count == lacks
    assert report.segments == len(said)
    if coverage == "strict" and report.findings:
        return
    assert rows == expected
    assert report.tally.read == len(said)
    assert [report.tally.unexplained(name) for name in "AB"] == [0, 0]


def test_records_that_a_condition_leaves_out_may_repeat_an_id_and_are_known():
    chosen = Chosen((), (REF,), labels=(LABEL,), ids=(ID,), where=(Condition(LABEL, "de"),))
    references = [
        {"id": 1, "ref": "eins", "l": "de"},
        {"id": 1, "ref": "un", "l": "fr"},
        {"id": 2, "ref": "deux", "l": "fr"},
    ]
    report, rows = joined([references], {"A": candidates_of("A", [1, 2])}, "strict", chosen=chosen)
    assert not report.findings
    assert rows == {0: Row((("A", "A says 1"),), ("eins",), ("de",), (("id", "1"),))}
    assert report.tally == Tally(2, {"A": 1}, {"filtered": 1})  # segments, not records


def test_references_of_a_list_column_and_of_several_streams_stand_side_by_side():
    chosen = Chosen((), (REF,), labels=(LABEL,), ids=(ID,))
    first = [
        {"id": 1, "ref": ["one", "uno"], "l": "x"},
        {"id": 2, "ref": ["two"], "l": "x"},
        {"id": 3, "ref": [None, "three", "tres"], "l": "x"},
    ]
    for seed in range(5):
        _, rows = joined(
            [first, references_of([3, 2, 1])],
            {"A": candidates_of("A", [1, 2, 3])},
            "strict",
            2,
            seed,
            chosen,
        )
        assert [rows[i].references for i in range(3)] == [
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
    report, rows = long(records, "AB", "each")
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


def test_the_hash_of_an_id_is_the_same_in_every_process():
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
