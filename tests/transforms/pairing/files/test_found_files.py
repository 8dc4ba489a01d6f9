"""Versions of files, on each kind of filesystem, and the launcher's check that they are there."""

from __future__ import annotations

import os
import pathlib

import pytest
from apache_beam.io.filesystems import FileSystems

from beam_bleu.transforms.errors import BleuError, InputError
from beam_bleu.transforms.pairing.files.found_files import check_visible, version_of
from beam_bleu.transforms.pairing.files.streams import Stream

STREAM = Stream("candidates x", "*")


def wait_for_a_tick(folder: pathlib.Path) -> None:
    """Waits until a file that is changed now gets a later time than one that was changed before.

    Many filesystems take the time from a clock that ticks every few milliseconds.
    """
    probe = folder / "probe"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        probe.touch()


def test_a_local_file_has_another_version_if_it_is_written_or_replaced(
    tmp_path: pathlib.Path,
) -> None:
    """Even with the same size, and if the time is set back."""
    path = tmp_path / "a"

    def version(text: str) -> str | None:
        path.write_text(text)
        os.utime(path, (0, 0))
        return version_of(STREAM, str(path))

    first = version("one\n")
    path.read_text()
    assert version_of(STREAM, str(path)) == first is not None
    wait_for_a_tick(tmp_path)
    assert version("two\n") != first
    (tmp_path / "b").write_text("two\n")
    os.utime(tmp_path / "b", (0, 0))
    assert version_of(STREAM, str(tmp_path / "b")) != version_of(STREAM, str(path))
    path.unlink()
    with pytest.raises(InputError, match=r"candidates x: the file was removed: .*/a\b"):
        version_of(STREAM, str(path))


class Store:
    """A filesystem that returns a given answer."""

    def __init__(self, checksum: object) -> None:
        self._checksum = checksum

    def checksum(self, path: str) -> object:
        if isinstance(self._checksum, Exception):
            raise self._checksum
        return self._checksum


@pytest.mark.parametrize(
    ("told", "version"),
    [("an-etag", "an-etag"), (b"crc", "b'crc'"), (None, None), (NotImplementedError(), None)],
)
def test_an_object_has_the_version_that_its_store_reports(
    monkeypatch: pytest.MonkeyPatch, told: object, version: str | None
) -> None:
    monkeypatch.setattr(FileSystems, "get_filesystem", lambda path: Store(told))
    assert version_of(STREAM, "store://a") == version


def seen(*patterns: object) -> str:
    """The cause that `check_visible` tells of streams; "" if it finds nothing wrong."""
    streams = tuple(Stream(f"stream {i}", str(pattern)) for i, pattern in enumerate(patterns))
    try:
        check_visible(streams)
    except BleuError as error:
        return error.cause
    return ""


def test_what_is_missing_is_told_where_the_folder_can_be_seen(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_text("one\n")
    (tmp_path / "empty").write_text("")
    there = tmp_path / "a"
    assert seen(there, there) == ""
    assert seen(there, tmp_path / "b") == f"stream 1: there is no file {tmp_path}/b"
    assert seen(f"{tmp_path}/b*", there) == f"stream 0: nothing matches {tmp_path}/b*"
    assert seen(f"{tmp_path}/*/b", there) == f"stream 0: nothing matches {tmp_path}/*/b"
    assert seen(tmp_path / "empty", there) == f"stream 0 have 0 lines: {tmp_path}/empty"
    assert seen(there, tmp_path) == f"stream 1: this is a folder: {tmp_path}"


def test_what_only_workers_may_see_is_not_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_text("one\n")
    os.symlink("gone", tmp_path / "link")
    for pattern in ("/no/such/folder/b", "/no/such/*/b", tmp_path / "c" / "b", tmp_path / "link"):
        assert seen(tmp_path / "a", pattern) == ""
