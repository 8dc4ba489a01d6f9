"""Avro files as a source: what is read, and that cut and damaged files have no score."""

from __future__ import annotations

import datetime
import decimal
import itertools

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called
from group_reading import TEXTS, digest_of, outcome, plan_of, records, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import InputError

SCHEMA = {
    "type": "record",
    "name": "segment",
    "fields": [
        {"name": "hyp", "type": ["null", "string"]},
        {"name": "ref", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
    ],
}


def rows(count):
    return [
        {"hyp": f"hyp {i} {TEXTS[i % len(TEXTS)]}", "ref": [f"ref {i}", None, "r"][: i % 3 + 1]}
        for i in range(count)
    ]


def pairs(records_):
    return [(record["hyp"], record["ref"]) for record in records_]


def write(path, records_, schema=SCHEMA, **options):
    with path.open("wb") as file:
        fastavro.writer(file, schema, records_, **options)
    return path


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_rows_are_those_that_were_written(tmp_path, codec):
    path = write(tmp_path / "t.avro", rows(500), codec=codec, sync_interval=2000)
    source = records(path, range_bytes=16)
    assert rows_of(source) == pairs(rows(500))
    assert len(list(plan_of(source).portions())) > 5


@given(st.data(), st.integers(1, 60), st.integers(1, 3), st.integers(20, 2000))
@settings(max_examples=30)
def test_order_and_digest_are_those_of_parquet(tmp_path_factory, data, count, files, interval):
    folder = tmp_path_factory.mktemp("shards")
    texts = st.none() | st.sampled_from(TEXTS)
    lists = st.none() | st.lists(texts, max_size=3)
    hyps = data.draw(st.lists(texts, min_size=count, max_size=count))
    refs = data.draw(st.lists(lists, min_size=count, max_size=count))
    table = {"hyp": pa.array(hyps, pa.string()), "ref": pa.array(refs, pa.list_(pa.string()))}
    pq.write_table(pa.table(table), folder / "whole.parquet")
    all_rows = [{"hyp": hyp, "ref": ref} for hyp, ref in zip(hyps, refs, strict=True)]
    bounds = sorted(data.draw(st.lists(st.integers(0, count), min_size=files, max_size=files)))
    for number, (start, stop) in enumerate(itertools.pairwise([0, *bounds, count])):
        part = all_rows[start:stop]
        write(folder / f"part-{number}.avro", part, sync_interval=interval)
    range_bytes = data.draw(st.sampled_from([16, 2_000_000]))
    parts = records(folder / "part-*.avro", range_bytes=range_bytes)
    assert rows_of(parts) == pairs(all_rows)
    assert digest_of(parts) == digest_of(records(folder / "whole.parquet"))


EVERY_TYPE = {
    "type": "record",
    "name": "all",
    "fields": [
        {"name": "hyp", "type": {"type": "enum", "name": "word", "symbols": ["a", "b"]}},
        {"name": "again", "type": ["null", "word"]},
        {"name": "ref", "type": "bytes"},
        {"name": "flag", "type": "boolean"},
        {"name": "number", "type": "double"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 5}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "time", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "words", "type": {"type": "map", "values": "string"}},
        {"name": "part", "type": ["null", "all"]},
    ],
}
ROW = {
    "hyp": "a",
    "again": "b",
    "ref": b"a text",
    "flag": True,
    "number": 0.5,
    "price": decimal.Decimal(7),
    "day": datetime.date(2026, 11, 21),
    "time": datetime.datetime(2026, 11, 21, tzinfo=datetime.timezone.utc),
    "uuid": "6b7f4a5e-8b7c-4a3d-9f0e-2d1c3b4a5f60",
    "either": "text",
    "words": {"k": "v"},
    "part": None,
}


def test_values_of_all_types_are_read_or_refused(tmp_path):
    path = write(tmp_path / "t.avro", [ROW] * 3, EVERY_TYPE)
    assert rows_of(records(path)) == [("a", "a text")] * 3
    for name in ("flag", "number", "price", "day", "time"):
        assert rows_of(records(path, labels=(name,)))[0][2] is not None
    assert rows_of(records(path, candidates=("again",)))[0] == ("b", "a text")
    for name, kind in (("either", "a union of 2 types"), ("part", "the type all")):
        with pytest.raises(InputError, match=f"the column {name} has no texts: .*{kind}"):
            rows_of(records(path, candidates=(name,)))


def test_a_file_that_was_cut_has_no_rows_unless_it_ends_with_a_block(tmp_path):
    """Avro has no mark of the end: a file of whole blocks is whole."""
    path = write(tmp_path / "t.avro", rows(30), sync_interval=300)
    data = path.read_bytes()
    sync = data[-16:]
    heads = data.index(sync) + 16
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        assert isinstance(outcome(path), str), length
    ends = [n for n in range(heads + 1, len(data)) if data[:n].endswith(sync)]
    assert len(ends) > 3
    for length in ends:
        path.write_bytes(data[:length])
        found = outcome(path)
        assert found == pairs(rows(len(found)))
        called("--input", path, "--expect_segments", "30").assert_failed(3, "--expect_segments")


def test_damage_is_named(tmp_path):
    path = write(tmp_path / "t.avro", rows(30), sync_interval=300)
    data = path.read_bytes()
    path.write_bytes(data * 2)
    assert "the Avro file cannot be read: " in outcome(path)
    damaged = bytearray(data)
    damaged[-10] ^= 1
    path.write_bytes(damaged)
    assert "sync marker not found" in outcome(path)
    write(path, rows(30), codec="deflate")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0x55
    path.write_bytes(damaged)
    assert "the Avro file cannot be read: " in outcome(path)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"{}\n" * 9, "this is not an Avro file"),
        (b"Obj\x01", "the Avro file cannot be read: its head is truncated or damaged"),
    ],
)
def test_a_file_that_is_no_avro_file_is_named(tmp_path, content, cause):
    path = tmp_path / "t.avro"
    path.write_bytes(content)
    called("--input", path).assert_failed(3, f"input: {cause}", str(path))
    write(path, ["a"], {"type": "string"})
    called("--input", path).assert_failed(3, "its schema is not one of records", str(path))
