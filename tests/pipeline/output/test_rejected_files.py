"""Rejected records as files: what the workers write, and how the last step puts it in place."""

from __future__ import annotations

import base64
import dataclasses
import itertools
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import PROJECT
from hypothesis import given
from hypothesis import strategies as st
from markdown_tables import sections, tables
from memory_filesystem import OBJECTS
from result_folder import RESULT, documents, published, scores_run, staged

import beam_bleu.pipeline.output.rejected_files as module
from beam_bleu.pipeline.output.output_folder import run_of_rejected
from beam_bleu.pipeline.output.publication import in_place, prepare, write_documents
from beam_bleu.pipeline.output.rejected_files import WriteRejected, rejected_line
from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.pairing.bad_records import BAD_REASONS, MAX_RAW_BYTES, BadRecord
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.totals.rejected import MostRejected, Rejected, check_rejected

PAGE = (PROJECT / "docs" / "folder.md").read_text()

ALL = MostRejected.of("1.0")


def bad(number: int, raw: bytes = b"\xff", label: str = "input") -> BadRecord:
    place = f"line {number + 1}"
    return BadRecord(number, label, "a.txt", place, "invalid-utf8", "is bad", "repair it", raw)


def written(output: Path | str, run: str, records: Sequence[BadRecord]) -> list[Rejected]:
    """Stages records as one bundle of a worker does."""
    writing = WriteRejected(str(output), run)
    writing.start_bundle()
    parts = [part for record in records for part in writing.process(record)]
    return parts + [each.value for each in writing.finish_bundle()]


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


def test_a_path_that_is_no_utf8_stays_readable():
    record = dataclasses.replace(bad(0), path=os.fsdecode(b"caf\xe9.txt"))
    assert b'"path": "caf\\udce9.txt"' in rejected_line(record)
    assert os.fsencode(json.loads(rejected_line(record))["path"]) == b"caf\xe9.txt"


# Files of workers


def test_a_bundle_is_divided_into_files_of_bounded_size(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_FILE_BYTES", 1000)
    records = [bad(number) for number in range(100)]
    parts = written(tmp_path, "run", records)
    assert len(parts) > 10
    folder = tmp_path / ".segment_scores" / "run" / "staged"
    files = [folder / name for part in parts for name in part.files]
    assert sorted(os.listdir(folder)) == sorted(path.name for path in files)
    assert all(path.stat().st_size < 1200 for path in files)
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert [line["segment"] for line in lines] == [*range(100)]
    assert [part.reasons["invalid-utf8"] for part in parts] == [
        len(path.read_text().splitlines()) for path in files
    ]


def test_a_bundle_without_bad_records_writes_nothing(tmp_path):
    assert written(tmp_path, "run", []) == []
    assert os.listdir(tmp_path) == []


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


def test_a_source_that_ends_with_an_error_rejects_nothing():
    assert check_rejected([], tally(10, 0), None) == Rejected()


def test_the_error_names_reasons_and_first_records():
    with pytest.raises(InputError) as error:
        check_rejected(parts_of(5, 4, 3, 2), tally(100, 4), MostRejected.of("0.03"))
    assert error.value.cause == (
        "4 of 100 segments were rejected (invalid-utf8: 4), more than --max_rejected 0.03 allows: "
        "input: line 3: is bad: a.txt; input: line 4: is bad: a.txt; input: line 5: is bad: a.txt"
    )


# The output folder


def rejected_runs(output: Path) -> list[str | None]:
    return sorted(str(run_of_rejected(path.name)) for path in output.glob("rejected-*.jsonl"))


def publish(output: Path | str, run: str, part_files: int, records: int) -> None:
    """A run from start to end, with so many files of segment scores and of rejected records."""
    names = staged(output, run, part_files)
    parts = [part for number in range(records) for part in written(output, run, [bad(number)])]
    rejected = [name for part in parts for name in part.files]
    with in_place(str(output), run, names, documents(run), rejected):
        write_documents(str(output), documents(run))


@pytest.mark.parametrize("part_files", [0, 2])
def test_the_files_of_a_run_replace_those_of_the_run_before(tmp_path, part_files):
    out = tmp_path / "out"
    for run, records in ("1" * 32, 3), ("2" * 32, 2), ("3" * 32, 0), ("4" * 32, 1):
        publish(out, run, part_files, records)
        assert rejected_runs(out) == [run] * records
        assert scores_run(out) == run
        names = {path.name for path in out.iterdir() if not path.name.startswith("rejected-")}
        assert names == {*RESULT, *(["segment_scores"] if part_files else [])}


@pytest.mark.parametrize("records", [0, 2])
def test_a_failed_run_leaves_the_previous_files(tmp_path, records):
    out = tmp_path / "out"
    publish(out, "1" * 32, 0, 3)
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.name != "_SUCCESS"}
    run = "2" * 32
    parts = [part for number in range(records) for part in written(out, run, [bad(number)])]
    rejected = [name for part in parts for name in part.files]

    def fail() -> None:
        with in_place(str(out), run, [], documents(run), rejected):
            assert rejected_runs(out) == [run] * records  # in place, and the previous ones aside
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk"):
        fail()
    after = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    assert after == before


def test_rejected_files_that_are_lost_are_an_error(tmp_path):
    out = tmp_path / "out"
    published(out, "1" * 32, 0)
    (part,) = written(out, "2" * 32, [bad(1)])
    (name,) = part.files
    (out / ".segment_scores" / ("2" * 32) / "staged" / name).unlink()
    with (
        pytest.raises(JobError, match="1 of 1 files of rejected records have been removed"),
        in_place(str(out), "2" * 32, [], documents("2" * 32), [name]),
    ):
        pass
    assert scores_run(out) == "1" * 32


def test_a_link_is_not_a_file_of_ours(tmp_path):
    out = tmp_path / "out"
    publish(out, "1" * 32, 0, 1)
    (name,) = (path.name for path in out.glob("rejected-*"))
    target = tmp_path / "target"
    (out / name).rename(target)
    (out / name).symlink_to(target)
    publish(out, "2" * 32, 0, 0)
    assert (out / name).is_symlink()
    assert target.exists()


def test_other_files_are_found_before_the_run(tmp_path):
    (tmp_path / "rejected-records.jsonl").write_text("")
    prepare(str(tmp_path), asked=False)
    with pytest.raises(JobError, match=r"rejected-records\.jsonl"):
        prepare(str(tmp_path), asked=False, rejecting=True)


def test_the_raw_content_is_bounded():
    assert len(rejected_line(bad(0, b"\0" * MAX_RAW_BYTES))) < 7 * MAX_RAW_BYTES


def test_the_page_has_every_reason_and_every_key():
    header, *rows = next(
        table for table in tables(sections(PAGE)["Rejected records"]) if table[0][0] == "reason"
    )
    assert header == ["reason", "the record"]
    assert [row[0].strip("`") for row in rows] == list(BAD_REASONS)
    header, *rows = next(
        table for table in tables(sections(PAGE)["Rejected records"]) if table[0][0] == "key"
    )
    assert [row[0].strip("`") for row in rows] == list(json.loads(rejected_line(bad(0))))


def test_an_object_store():
    OBJECTS.clear()
    for run, part_files, records in ("1" * 32, 2, 3), ("2" * 32, 0, 2), ("3" * 32, 1, 0):
        publish("mem://out/x", run, part_files, records)
        names = [path.removeprefix("mem://out/x/") for path in OBJECTS]
        runs = [run_of_rejected(name) for name in names if name.startswith("rejected-")]
        assert runs == [run] * records
        assert len([name for name in names if name.startswith("segment_scores/")]) == part_files
        assert not [name for name in names if name.startswith(".segment_scores/")]
        assert json.loads(OBJECTS["mem://out/x/scores.json"][0]) == run
