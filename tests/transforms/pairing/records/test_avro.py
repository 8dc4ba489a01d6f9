"""Avro files as a source: what is read, and that cut and damaged files have no score."""

from __future__ import annotations

import datetime
import decimal

import fastavro
import pytest
from command_line import called
from group_reading import outcome, pairs_of, records, rows_of, table_of, write

from beam_bleu.transforms.errors import InputError


def logical(kind: str, name: str, **more: int) -> dict[str, object]:
    return {"type": kind, "logicalType": name, **more}


VALUES = {
    "hyp": ({"type": "enum", "name": "word", "symbols": ["a", "b"]}, "a"),
    "again": (["null", "word"], "b"),
    "ref": ("bytes", b"a text"),
    "flag": ("boolean", True),
    "number": ("double", 0.5),
    "price": (logical("bytes", "decimal", precision=5), decimal.Decimal(7)),
    "day": (logical("int", "date"), datetime.date(2026, 11, 21)),
    "time": (
        logical("long", "timestamp-micros"),
        datetime.datetime(2026, 11, 21, tzinfo=datetime.timezone.utc),
    ),
    "uuid": (logical("string", "uuid"), "6b7f4a5e-8b7c-4a3d-9f0e-2d1c3b4a5f60"),
    "either": (["int", "string"], "text"),
    "words": ({"type": "map", "values": "string"}, {"k": "v"}),
    "part": (["null", "all"], None),
}
"""The type and a value of each field."""


def test_values_of_all_types_are_read_or_refused(tmp_path):
    path = tmp_path / "t.avro"
    with path.open("wb") as file:
        fields = [{"name": name, "type": kind} for name, (kind, _) in VALUES.items()]
        row = {name: value for name, (_, value) in VALUES.items()}
        fastavro.writer(file, {"type": "record", "name": "all", "fields": fields}, [row] * 3)
    assert rows_of(records(path)) == [("a", "a text")] * 3
    for name in ("flag", "number", "price", "day", "time"):
        assert rows_of(records(path, labels=(name,)))[0][2] is not None
    assert rows_of(records(path, candidates=("again",)))[0] == ("b", "a text")
    for name, kind in (("either", "a union of 2 types"), ("part", "the type all")):
        with pytest.raises(InputError, match=f"the column {name} has no texts: .*{kind}"):
            rows_of(records(path, candidates=(name,)))


def test_a_file_that_was_cut_has_no_rows_unless_it_ends_with_a_block(tmp_path):
    """Avro has no mark of the end: a file of whole blocks is whole."""
    path = write(tmp_path / "t.avro", table_of(30), "avro", 15)
    data = path.read_bytes()
    sync = data[-16:]
    heads = data.index(sync) + 16
    for length in range(0, len(data), 29):
        path.write_bytes(data[:length])
        assert isinstance(outcome(path), str), length
    ends = [n for n in range(heads + 1, len(data)) if data[:n].endswith(sync)]
    assert len(ends) > 3
    for length in ends:
        path.write_bytes(data[:length])
        found = outcome(path)
        assert found == pairs_of(table_of(len(found)))
        called("--input", path, "--expect_segments", "30").assert_failed(3, "--expect_segments")


def test_damage_is_named(tmp_path):
    path = write(tmp_path / "t.avro", table_of(30), "avro", 15)
    data = path.read_bytes()
    path.write_bytes(data * 2)
    assert "the Avro file cannot be read: " in outcome(path)
    damaged = bytearray(data)
    damaged[-10] ^= 1
    path.write_bytes(damaged)
    assert "sync marker not found" in outcome(path)
    write(path, table_of(30), "avro", codec="deflate")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0x55
    path.write_bytes(damaged)
    assert "the Avro file cannot be read: " in outcome(path)
