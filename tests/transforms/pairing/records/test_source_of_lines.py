"""JSON lines and tab-separated text: the work of the wiring to Beam, and the fields of lines."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import re

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_records import numbered_columns, read_lines, rows_of

from beam_bleu.transforms.pairing.files.listing import local_version
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.paired import FoundInput, InputFile, Tally
from beam_bleu.transforms.pairing.records import line_records as source_module
from beam_bleu.transforms.pairing.records.choosing import has_header
from beam_bleu.transforms.pairing.records.formats import RecordFormatName
from beam_bleu.transforms.pairing.records.line_records import LineRecords
from beam_bleu.transforms.pairing.records.wanted import ColumnPath, Condition, Wanted

ROWS = [(f"hyp {i}", f"ref {i}") for i in range(100)]


def source(
    folder: pathlib.Path, of_format: RecordFormatName = "jsonl", **given: object
) -> LineRecords:
    """100 records in two files."""
    for name, rows in (("a", ROWS[:30]), ("b", ROWS[30:])):
        if of_format == "jsonl":
            text = "".join(json.dumps({"hyp": hyp, "ref": ref}) + "\n" for hyp, ref in rows)
        else:
            text = "hyp\tref\n" + "".join(f"{hyp}\t{ref}\n" for hyp, ref in rows)
        (folder / f"{name}.{of_format}").write_text(text)
    stream = Stream("input", f"{folder}/?.{of_format}")
    return LineRecords(stream, Wanted(), of_format, **{"range_bytes": 64, **given})


def rows_in(batch: object) -> list[tuple[object, ...]]:
    columns = (*batch.candidates, *batch.references)
    return list(zip(batch.numbers.tolist(), *(each.to_pylist() for each in columns), strict=True))


@pytest.mark.parametrize(("of_format", "threads"), [("jsonl", 1), ("tsv", 2)])
def test_each_record_is_a_segment(tmp_path, of_format, threads):
    records = pickle.loads(pickle.dumps(source(tmp_path, of_format)))
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | records.pair(threads, describe=True)
        rows = paired.batches | beam.FlatMap(rows_in)
        assert_that(rows, equal_to([(i, *row) for i, row in enumerate(ROWS)]), label="rows")
        tally = paired.tallies | beam.CombineGlobally(lambda each: sum(each, start=Tally()))
        assert_that(tally, equal_to([Tally(100, {"hyp": 100})]), label="tally")
        files = tuple(
            InputFile(str(path), path.stat().st_size, lines, local_version(str(path)))
            for path, lines in zip(sorted(tmp_path.iterdir()), (30, 70), strict=True)
        )
        found = paired.segments | beam.Map(lambda each: (each.count, each.systems, each.inputs))
        described = FoundInput("records", None, records.stream.pattern, files)
        assert_that(found, equal_to([(100, ("hyp",), (described,))]), label="segments")
    assert paired.rejected is None


def in_place(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes().swapcase())


def grown(path: pathlib.Path) -> None:
    with open(path, "a") as file:
        file.write(path.read_text())


def removed(path: pathlib.Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("of_format", "change"), [("jsonl", in_place), ("tsv", grown), ("jsonl", removed)]
)
def test_a_file_changed_while_it_is_read_is_an_error(tmp_path, monkeypatch, change, of_format):
    records = source(tmp_path, of_format)

    class Meddling(LineReader):
        meddled = False

        def take(self, lines: int) -> object:
            column = super().take(lines)
            if not Meddling.meddled:
                Meddling.meddled = True
                change(tmp_path / f"b.{of_format}")
                os.utime(tmp_path / f"a.{of_format}")
            return column

    monkeypatch.setattr(source_module, "LineReader", Meddling)
    with (
        pytest.raises(Exception, match=r"^input: .*: .*[ab]\.(jsonl|tsv)\b") as error,
        beam.Pipeline(runner=FnApiRunner()) as pipeline,
    ):
        _ = pipeline | records.pair(threads=2)
    assert re.search("was changed|was removed|listed|cannot be read", str(error.value))


FIELDS = st.one_of(
    st.sampled_from(["\r", "a\r", "\r\r", "x" * 63 + "\r"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n"), max_size=6),
    st.just("x" * 64),
    st.just('"'),
)
LINES = st.lists(FIELDS, min_size=1, max_size=5).map("\t".join)


@settings(max_examples=80, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=12))
def test_fields_are_those_of_split(lines):
    read, bad = read_lines("tsv", [line.encode() for line in lines], numbered_columns(3, 1, 3))
    split = [line.removesuffix("\r").split("\t") for line in lines]
    assert rows_of(read) == [
        {"3": fields[2], "1": fields[0]} if len(fields) == 3 else None for fields in split
    ]
    assert [record.what for record in bad] == [
        f"has {len(fields)} field{'s' if len(fields) > 1 else ''}, and the first line has 3"
        for fields in split
        if len(fields) != 3
    ]


def test_names_need_a_header_and_numbers_do_not():
    for wanted, header in (
        (Wanted(), True),
        (Wanted(("1",), ("2",)), False),
        (Wanted(("a=1", "3"), ("2",)), False),
        (Wanted(("hyp",), ("2",)), True),
        (Wanted(("1",), ("2",), labels=("domain",)), True),
        (Wanted(("1",), ("2",), labels=("3",)), False),
        (Wanted(("1",), ("2",), where=(Condition(ColumnPath("a", ("a",)), "x"),)), True),
    ):
        assert has_header(wanted) == header
