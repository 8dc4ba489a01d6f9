"""Pairing on Beam: the work of the wiring itself, of line-parallel text and of records in lines."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.batch import even_rows, usual_rows
from beam_bleu.transforms.pairing.files.listing import local_version
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel import corpus
from beam_bleu.transforms.pairing.line_parallel import source as source_module
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.lines.line_counting import count_lines
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.paired import FoundInput, InputFile, Tally
from beam_bleu.transforms.pairing.records import line_records
from beam_bleu.transforms.pairing.records.line_records import LineRecords
from beam_bleu.transforms.pairing.records.wanted import Wanted

NAMES = ("one", "two", "left", "right")
ROWS = [(f"one {i}", f"two {i}") for i in range(100)]


def lines_in(folder: pathlib.Path) -> LineParallel:
    """Two systems and two references of 100 lines."""
    found = []
    for name in NAMES:
        (folder / name).write_text("".join(f"{name} {i}\n" for i in range(100)))
        found.append(Stream(f"stream {name}", str(folder / name)))
    return LineParallel(NAMES[:2], tuple(found[:2]), tuple(found[2:]), 64)


def records_in(folder: pathlib.Path, of_format: Any) -> LineRecords:
    """100 records in two files, the second of which is `left`."""
    for name, rows in (("a", ROWS[:30]), ("left", ROWS[30:])):
        text = "hyp\tref\n" if of_format == "tsv" else ""
        for hyp, ref in rows:
            record = json.dumps({"hyp": hyp, "ref": ref})
            text += f"{hyp}\t{ref}\n" if of_format == "tsv" else f"{record}\n"
        (folder / name).write_text(text)
    return LineRecords(Stream("input", f"{folder}/*"), Wanted(), of_format, range_bytes=64)


def rows_in(batch: Any) -> list[tuple[object, ...]]:
    columns = (*batch.candidates, *batch.references)
    return list(zip(*(each.to_pylist() for each in columns), strict=True))


@pytest.mark.parametrize(("of_format", "threads"), [("jsonl", 1), ("tsv", 2)])
def test_each_record_is_a_segment(tmp_path, of_format, threads):
    records = pickle.loads(pickle.dumps(records_in(tmp_path, of_format)))
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | records.pair(threads, describe=True)
        rows = paired.batches | beam.FlatMap(
            lambda batch: zip(batch.numbers.tolist(), rows_in(batch), strict=True)
        )
        assert_that(rows, equal_to([*enumerate(ROWS)]), label="rows")
        tally = paired.tallies | beam.CombineGlobally(lambda each: sum(each, start=Tally()))
        assert_that(tally, equal_to([Tally(100, {"hyp": 100})]), label="tally")
        files = tuple(
            InputFile(str(path), path.stat().st_size, lines, local_version(str(path)))
            for path, lines in ((tmp_path / "a", 30), (tmp_path / "left", 70))
        )
        found = paired.segments | beam.Map(lambda each: (each.count, each.systems, each.inputs))
        described = FoundInput("records", None, records.stream.pattern, files)
        assert_that(found, equal_to([(100, ("hyp",), (described,))]), label="segments")
    assert paired.rejected is None


def in_place(path: pathlib.Path) -> None:
    """Changes a file whose size and times stay as they are."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=times)


def replaced_with_the_same_size_and_time(path: pathlib.Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().swapcase())
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize(
    ("of_format", "change"),
    [
        (None, in_place),
        (None, replaced_with_the_same_size_and_time),
        (None, lambda path: os.truncate(path, 20)),
        (None, pathlib.Path.unlink),
        ("jsonl", in_place),
        ("tsv", lambda path: path.write_bytes(path.read_bytes() * 2)),
        ("jsonl", pathlib.Path.unlink),
    ],
)
def test_a_file_changed_while_it_is_read_is_an_error(tmp_path, monkeypatch, of_format, change):
    """Even with the same size and time: half of the lines could come from another text."""

    class Meddling(LineReader):
        meddled = False

        def take(self, lines: int) -> object:
            column = super().take(lines)
            if not Meddling.meddled:
                Meddling.meddled = True
                change(tmp_path / "left")
            return column

    source = lines_in(tmp_path) if of_format is None else records_in(tmp_path, of_format)
    os.utime(tmp_path / "left", (0, 0))
    monkeypatch.setattr(line_records if of_format else corpus, "LineReader", Meddling)
    said = r"^(stream left|input): .*(changed|removed|ends|cannot|listed).*left\b"
    with pytest.raises(Exception, match=said), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        _ = pipeline | source.pair(threads=1)


def test_a_file_changed_between_two_of_its_ranges_is_an_error(tmp_path, monkeypatch):
    counted = []

    def meddling(*arguments: object) -> object:
        counted.append(arguments)
        if len(counted) == 10:
            in_place(tmp_path / "one")
        return count_lines(*arguments)

    stream = lines_in(tmp_path).candidates[:1]
    lines = LineParallel(("one",), stream, stream, 16)
    monkeypatch.setattr(source_module, "count_lines", meddling)
    with (
        pytest.raises(Exception, match=r"^stream one: the file was changed .*: .*/one\b"),
        beam.Pipeline(runner=FnApiRunner()) as pipeline,
    ):
        _ = pipeline | lines.pair(threads=1)


@given(st.integers(1, 10**9), st.integers(2, 100_000))
def test_batches_of_a_portion_have_about_the_same_number_of_rows(lines, columns):
    rows, usual = even_rows(lines, columns), usual_rows(columns)
    full, rest = divmod(lines, rows)
    assert 1 <= rows < usual * 9 / 8 + 1
    # The last batch has fewer rows than the others: at most one less for each of them.
    assert not rest or rows - rest <= full + 1
    assert lines <= 2 * usual or rows > usual / 2
