"""The rows of a join: the texts of ids, their buckets, and the folder in which messages wait."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joining import ID

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.canonical import canonical
from beam_bleu.transforms.pairing.lines.text_digest import reduced_hashes
from beam_bleu.transforms.pairing.records.joins.rows import id_texts, joined_ids, kept, taken
from beam_bleu.transforms.pairing.records.wanted import Chosen, RawRecords, ReadRecords


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


@pytest.mark.parametrize(
    "parts",
    [
        [["a", 'say "b"', "\x1f\x1e0\x1e", "é\n\\"], [1, -2, 3, 4]],
        [["a", "", "b,c", "["], ["x", "y", "\x1e1", " "], [0, 1, 2, 3]],
    ],
)
def test_ids_of_several_columns_are_lists_of_json(parts):
    ids = joined_ids([as_ids(canonical(pa.array(part))) for part in parts])
    assert [json.loads(each) for each in ids.to_pylist()] == [
        list(values) for values in zip(*parts, strict=True)
    ]


MESSAGES = [(3, b"one"), (0, b""), (3, b"three" * 1000)]


def test_messages_come_back(tmp_path):
    folder = str(tmp_path)
    sent = [*kept(folder, MESSAGES), *kept(folder, [(1, b"other")])]
    assert [bucket for bucket, _ in sent] == [3, 0, 3, 1]
    assert all(len(each) < 300 for _, each in sent)  # only places go through the shuffle
    expected = [message for _, message in MESSAGES] + [b"other"]
    assert list(taken(folder, (each for _, each in sent))) == expected


def test_a_folder_that_cannot_be_written_is_an_error_of_the_job(tmp_path):
    with pytest.raises(JobError, match="cannot be kept: No such file"):
        list(kept(str(tmp_path / "missing"), MESSAGES))
