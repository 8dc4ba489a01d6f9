"""Pairing on Beam: what the wiring itself sees to."""

from __future__ import annotations

import os
import pathlib

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from transforms.pairing import line_parallel
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


def read(folder: pathlib.Path, check: object) -> None:
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | ReadLineParallel(*streams(folder), range_bytes=64, threads=2)
        rows = paired.batches | beam.FlatMap(
            lambda batch: zip(
                *(column.to_pylist() for column in (*batch.candidates, *batch.references)),
                strict=True,
            )
        )
        assert_that(rows, check, label="rows")
        assert_that(paired.segments, equal_to([100]), label="segments")


def test_rows_hold_the_same_line_of_every_stream(tmp_path: pathlib.Path) -> None:
    names = ("one", "two", "left", "right")
    read(tmp_path, equal_to([tuple(f"{name} {i}" for name in names) for i in range(100)]))


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
        read(tmp_path, equal_to([]))
