"""Versions of files, on each kind of filesystem."""

from __future__ import annotations

import os
import pathlib

import pytest
from apache_beam.io.filesystems import FileSystems

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.found_files import version_of
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
    with pytest.raises(InputError, match=r"candidates x: the file was removed .*: .*/a\b"):
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
