"""JSON lines and tab-separated text on Beam: the work of the wiring itself."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import re
from collections.abc import Callable

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from beam_bleu.transforms.pairing.files.listing import local_version
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.paired import FoundInput, InputFile, Tally
from beam_bleu.transforms.pairing.records import line_records as source_module
from beam_bleu.transforms.pairing.records.formats import RecordFormatName
from beam_bleu.transforms.pairing.records.line_records import LineRecords
from beam_bleu.transforms.pairing.records.wanted import Wanted

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


def rows_of(batch: object) -> list[tuple[object, ...]]:
    columns = (*batch.candidates, *batch.references)
    return list(zip(batch.numbers.tolist(), *(each.to_pylist() for each in columns), strict=True))


@pytest.mark.parametrize(("of_format", "threads"), [("jsonl", 1), ("tsv", 2)])
def test_each_record_is_a_segment(
    tmp_path: pathlib.Path, of_format: RecordFormatName, threads: int
) -> None:
    records = pickle.loads(pickle.dumps(source(tmp_path, of_format)))
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | records.pair(threads, describe=True)
        rows = paired.batches | beam.FlatMap(rows_of)
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
def test_a_file_changed_while_it_is_read_is_an_error(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pathlib.Path], None],
    of_format: RecordFormatName,
) -> None:
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
