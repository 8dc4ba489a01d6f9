"""Pairing on Beam: the work of the wiring itself."""

from __future__ import annotations

import os
import pathlib

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel import corpus
from beam_bleu.transforms.pairing.line_parallel import source as source_module
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.lines.line_counting import count_lines
from beam_bleu.transforms.pairing.lines.line_reader import LineReader


def source(folder: pathlib.Path, range_bytes: int | None) -> LineParallel:
    """Two systems and two references of 100 lines."""
    found = []
    for name in ("one", "two", "left", "right"):
        (folder / name).write_text("".join(f"{name} {i}\n" for i in range(100)))
        found.append(Stream(f"stream {name}", str(folder / name)))
    return LineParallel(NAMES[:2], tuple(found[:2]), tuple(found[2:]), range_bytes)


NAMES = ("one", "two", "left", "right")
ROWS = [tuple(f"{name} {i}" for name in NAMES) for i in range(100)]


def test_rows_hold_the_same_line_of_every_stream(tmp_path):
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | source(tmp_path, 64).pair(threads=2)
        rows = paired.batches | beam.FlatMap(
            lambda batch: zip(
                *(column.to_pylist() for column in (*batch.candidates, *batch.references)),
                strict=True,
            )
        )
        assert_that(rows, equal_to(ROWS), label="rows")
        found = paired.segments | beam.Map(lambda found: (found.count, found.systems))
        assert_that(found, equal_to([(100, NAMES[:2])]), label="segments")
        assert_that(paired.batches | beam.combiners.Count.Globally(), is_about_50, label="batches")


def is_about_50(found: list[int]) -> None:
    assert len(found) == 1
    assert 40 <= found[0] <= 60


def in_place(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes().swapcase())


def in_place_with_the_same_time(path: pathlib.Path) -> None:
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    in_place(path)
    os.utime(path, ns=times)


def replaced_with_the_same_size_and_time(path: pathlib.Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().swapcase())
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


def removed(path: pathlib.Path) -> None:
    path.unlink()


def truncated(path: pathlib.Path) -> None:
    os.truncate(path, 20)


@pytest.mark.parametrize(
    ("change", "time"),
    [(in_place, None), (replaced_with_the_same_size_and_time, 0), (truncated, None), (removed, 0)],
)
def test_a_file_changed_while_it_is_read_is_an_error(tmp_path, monkeypatch, change, time):
    """Even with the same size and time: half of the lines could come from another text."""

    class Meddling(LineReader):
        meddled = False

        def take(self, lines: int) -> object:
            column = super().take(lines)
            if not Meddling.meddled:
                Meddling.meddled = True
                change(tmp_path / "left")
            return column

    lines = source(tmp_path, 64)
    if time is not None:
        os.utime(tmp_path / "left", (time, time))
    monkeypatch.setattr(corpus, "LineReader", Meddling)
    with (
        pytest.raises(Exception, match=r"^stream left: .*(changed|removed|ends|cannot).*left\b"),
        beam.Pipeline(runner=FnApiRunner()) as pipeline,
    ):
        _ = pipeline | lines.pair(threads=1)


def test_a_file_changed_between_two_of_its_ranges_is_an_error(tmp_path, monkeypatch):
    counted = []

    def meddling(*arguments: object) -> object:
        counted.append(arguments)
        if len(counted) == 10:
            in_place_with_the_same_time(tmp_path / "one")
        return count_lines(*arguments)

    stream = source(tmp_path, None).candidates[:1]
    lines = LineParallel(("one",), stream, stream, 16)
    monkeypatch.setattr(source_module, "count_lines", meddling)
    with (
        pytest.raises(Exception, match=r"^stream one: the file was changed .*: .*/one\b"),
        beam.Pipeline(runner=FnApiRunner()) as pipeline,
    ):
        _ = pipeline | lines.pair(threads=1)
