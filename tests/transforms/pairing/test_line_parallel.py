"""Pairing on Beam: what the wiring itself sees to."""

from __future__ import annotations

import os
import pathlib

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from transforms.pairing import line_parallel, ranges
from transforms.pairing.line_parallel import ReadLineParallel
from transforms.pairing.lines import LineReader
from transforms.pairing.streams import Stream


def streams(folder: pathlib.Path) -> tuple[list[Stream], list[Stream]]:
    """(candidates, references) of two systems and two references of 100 lines."""
    found = []
    for name in ("one", "two", "left", "right"):
        (folder / name).write_text("".join(f"{name} {i}\n" for i in range(100)))
        found.append(Stream(f"stream {name}", str(folder / name)))
    return found[:2], found[2:]


NAMES = ("one", "two", "left", "right")
ROWS = [tuple(f"{name} {i}" for name in NAMES) for i in range(100)]


def read(folder: pathlib.Path, check: object, range_bytes: int | None, batches: object) -> None:
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | ReadLineParallel(*streams(folder), range_bytes, threads=2)
        rows = paired.batches | beam.FlatMap(
            lambda batch: zip(
                *(column.to_pylist() for column in (*batch.candidates, *batch.references)),
                strict=True,
            )
        )
        assert_that(rows, check, label="rows")
        assert_that(paired.segments, equal_to([100]), label="segments")
        assert_that(paired.batches | beam.combiners.Count.Globally(), batches, label="batches")


def between(least: int, most: int) -> object:
    def check(found: list[int]) -> None:
        assert len(found) == 1
        assert least <= found[0] <= most

    return check


def test_rows_hold_the_same_line_of_every_stream(tmp_path: pathlib.Path) -> None:
    read(tmp_path, equal_to(ROWS), 64, between(40, 60))


@pytest.mark.parametrize("usual", [16, 64])
def test_without_a_range_the_corpus_is_cut_into_so_many(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, usual: int
) -> None:
    # 3,060 bytes: 48 times 64, and a unit has one batch.
    monkeypatch.setattr(ranges, "USUAL_RANGE", usual)
    monkeypatch.setattr(ranges, "MOST_RANGES", 60)
    read(tmp_path, equal_to(ROWS), None, between(40, 60))


def test_a_file_written_to_while_it_is_read_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if it keeps its size: half of the lines would be of another text."""

    class Meddling(LineReader):
        def take(self, lines: int) -> object:
            column = super().take(lines)
            os.utime(tmp_path / "left", (1, 1))
            return column

    monkeypatch.setattr(line_parallel, "LineReader", Meddling)
    with pytest.raises(Exception, match=r"stream left: .*left: was written to after it was listed"):
        read(tmp_path, equal_to([]), 64, between(0, 0))
