"""Lines that are counted before the job begins: the job gets its own counts, or none."""

from __future__ import annotations

import os
import pathlib
import sys
import threading
from collections.abc import Sequence

import pytest

from beam_bleu.transforms.pairing.files.listing import local_version, open_file
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines import counted_ahead
from beam_bleu.transforms.pairing.lines.counted_ahead import CountedAhead
from beam_bleu.transforms.pairing.lines.file_counting import CountedParts, count_parts
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, cut, cut_corpus

TEXT = b"some words\n" * 1000


def ended(files: Sequence[FoundFile]) -> CountedAhead:
    """What has counted these files, and has ended."""
    ahead = CountedAhead()
    ahead.begin(files)
    wait()
    return ahead


def wait() -> None:
    for thread in threading.enumerate():
        if thread.name == counted_ahead.THREAD:
            thread.join()


def written(path: pathlib.Path, text: bytes = TEXT) -> FoundFile:
    path.write_bytes(text)
    return FoundFile(os.fspath(path), len(text))


def range_of(file: FoundFile) -> ByteRange:
    """The only range of a file, as the second file of the third stream."""
    (part,) = cut_corpus([Shard(2, 1, file)], None)
    return part


def as_lists(parts: CountedParts | None) -> object:
    return parts and {**vars(parts), "newlines": parts.newlines.tolist()}


def test_counts_are_those_that_the_job_would_make(tmp_path):
    files = [written(tmp_path / "a"), written(tmp_path / "b", b"one\ntwo")]
    ahead = ended(files)
    for file in files:
        part = range_of(file)
        with open_file(file.path) as opened:
            own = count_parts(opened.fileno(), part, lambda _: True)
        found = ahead.take(part, local_version(file.path))
        assert found is not None
        assert as_lists(found) == as_lists(own)


def change(file: FoundFile) -> None:
    """Writes another text of the same size, at another time, however slow the clock's ticks are."""
    before = os.stat(file.path).st_mtime_ns
    written(pathlib.Path(file.path), TEXT.replace(b" ", b"\n"))
    os.utime(file.path, ns=(before, before + 1_000_000_000))


def test_a_file_that_has_changed_is_not_taken(tmp_path):
    file = written(tmp_path / "a")
    ahead = ended([file])
    change(file)
    assert ahead.take(range_of(file), local_version(file.path)) is None


def test_a_file_without_a_version_is_not_taken(tmp_path):
    file = written(tmp_path / "a")
    assert ended([file]).take(range_of(file), None) is None


def test_a_file_that_changes_while_it_is_counted_is_not_taken(tmp_path, monkeypatch):
    file = written(tmp_path / "a")

    def meddling(*arguments):
        parts = count_parts(*arguments)
        change(file)
        return parts

    monkeypatch.setattr(counted_ahead, "count_parts", meddling)
    assert ended([file]).take(range_of(file), local_version(file.path)) is None


def test_other_ranges_are_not_taken(tmp_path):
    file = written(tmp_path / "a")
    ahead = ended([file])
    for part in cut(Shard(0, 0, file), 1 << 12):
        assert ahead.take(part, local_version(file.path)) is None


@pytest.mark.parametrize("size", [len(TEXT) - 1, len(TEXT) + 1])
def test_a_file_with_another_size_than_listed_is_not_taken(tmp_path, size):
    path = written(tmp_path / "a").path
    file = FoundFile(path, size)
    assert ended([file]).take(range_of(file), local_version(path)) is None


def test_errors_are_left_to_the_job(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "pipe"):
        file = FoundFile(os.fspath(tmp_path / name), 9)
        assert ended([file]).take(range_of(file), "1") is None


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), MemoryError()], ids=repr)
@pytest.mark.parametrize("failing", ["first", "last"])
def test_errors_while_a_file_is_read_say_nothing(tmp_path, monkeypatch, capfd, error, failing):
    file = written(tmp_path / "a")
    read = os.pread

    def failing_read(descriptor: int, size: int, start: int) -> bytes:
        if start == (0 if failing == "first" else len(TEXT)):
            raise error
        return read(descriptor, size, start)

    monkeypatch.setattr("os.pread", failing_read)
    monkeypatch.setattr("threading.excepthook", lambda told: print(told, file=sys.stderr))
    ahead = ended([file])
    assert ahead.take(range_of(file), local_version(file.path)) is None
    assert capfd.readouterr() == ("", "")


def test_the_end_of_a_run_forgets_what_was_counted(tmp_path):
    file = written(tmp_path / "a")
    ahead = ended([file])
    ahead.end()
    assert ahead.take(range_of(file), local_version(file.path)) is None


@pytest.mark.parametrize("ending", ["end", "take"])
def test_counting_ends_when_the_run_ends_or_the_job_counts(tmp_path, monkeypatch, ending):
    files = [written(tmp_path / "a"), written(tmp_path / "b")]
    ahead = CountedAhead()
    counted = []

    def counting(descriptor, part, go_on):
        counted.append(part)
        ahead.end() if ending == "end" else ahead.take(part, None)
        return count_parts(descriptor, part, go_on)

    monkeypatch.setattr(counted_ahead, "count_parts", counting)
    ahead.begin(files)
    wait()
    assert len(counted) == 1
