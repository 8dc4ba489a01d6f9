"""Rejected records as files: what the workers write."""

from __future__ import annotations

import base64
import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.pipeline.folder.data_files import WriteRejected, rejected_line
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import MAX_RAW_BYTES, BadRecord, Tally
from beam_bleu.transforms.totals.closing import Rejected, check_rejected, most_rejected_of

ALL = most_rejected_of("1.0")


def bad(number: int, raw: bytes = b"\xff", label: str = "input") -> BadRecord:
    place = f"line {number + 1}"
    return BadRecord(number, label, "a.txt", place, "invalid-utf8", "is bad", "repair it", raw)


def written(output: Path | str, run: str, records: Sequence[BadRecord]) -> list[Rejected]:
    """Writes records as one bundle of a worker does."""
    writing = WriteRejected(str(output), run)
    writing.start_bundle()
    for record in records:
        writing.process(record)
    return [each.value for each in writing.finish_bundle()]


# Lines


@given(st.one_of(st.binary(max_size=30), st.text(max_size=30).map(str.encode)))
def test_the_content_of_a_record_can_be_read_again(raw):
    line = rejected_line(bad(7, raw))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found = json.loads(line.decode())
    assert list(found) == [
        *("source", "path", "position", "segment", "reason", "what", "raw", "raw_base64")
    ]
    if found["raw_base64"] is None:
        assert found["raw"].encode() == raw
    else:
        assert base64.b64decode(found["raw_base64"]) == raw
        with pytest.raises(UnicodeDecodeError):
            raw.decode()


# Files of workers


def test_only_names_numbers_and_the_first_records_go_to_the_last_step(tmp_path):
    records = [bad(number, b"x" * 1000) for number in range(500)]
    random.Random(1).shuffle(records)
    (part,) = written(tmp_path, "run", records)
    assert part.first == tuple(bad(number, b"") for number in range(3))
    assert part.reasons == {"invalid-utf8": 500}


# The last step


def tally(read: int, rejected: int, records: int | None = None) -> Tally:
    left_out = {"rejected": rejected} if rejected else {}
    bad_records = rejected if records is None else records
    return Tally(read, {"a": read - rejected}, left_out, bad_records=bad_records)


def parts_of(*numbers: int) -> list[Rejected]:
    return [Rejected((f"f{n}",), {"invalid-utf8": 1}, (bad(n, b""),)) for n in numbers]


def test_the_parts_add_up_in_any_order():
    parts = parts_of(9, 4, 7, 1)
    sums = [check_rejected(order, tally(100, 4), ALL) for order in itertools.permutations(parts)]
    assert sums == [sums[0]] * 24
    assert [each.number for each in sums[0].first] == [1, 4, 7]
    assert sums[0].files == ("f1", "f4", "f7", "f9")


@pytest.mark.parametrize(("records", "told"), [(1, "1 records are bad, but 2"), (3, "3 records")])
def test_lost_and_repeated_records_are_found(records, told):
    with pytest.raises(JobError, match=told):
        check_rejected(parts_of(1, 2), tally(100, 2, records), ALL)


def test_the_raw_content_is_bounded():
    assert len(rejected_line(bad(0, b"\0" * MAX_RAW_BYTES))) < 7 * MAX_RAW_BYTES
