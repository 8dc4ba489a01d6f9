"""Versions of files on each kind of filesystem, and what their paths and tables say."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest
from apache_beam.io.filesystems import FileSystems

from beam_bleu.transforms.errors import BleuError, InputError
from beam_bleu.transforms.pairing.files.found_files import check_visible, find_files, version_of
from beam_bleu.transforms.pairing.files.path_labels import path_label
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.records.formats import format_of_name

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


def test_a_local_file_has_another_version_if_it_is_written_or_replaced(tmp_path):
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
def test_an_object_has_the_version_that_its_store_reports(monkeypatch, told, version):
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


def test_what_is_missing_is_told_where_the_folder_can_be_seen(tmp_path):
    (tmp_path / "a").write_text("one\n")
    (tmp_path / "empty").write_text("")
    there = tmp_path / "a"
    assert seen(there, there) == ""
    assert seen(there, tmp_path / "b") == f"stream 1: there is no file {tmp_path}/b"
    assert seen(f"{tmp_path}/b*", there) == f"stream 0: nothing matches {tmp_path}/b*"
    assert seen(f"{tmp_path}/*/b", there) == f"stream 0: nothing matches {tmp_path}/*/b"
    assert seen(tmp_path / "empty", there) == f"stream 0 have 0 lines: {tmp_path}/empty"
    assert seen(there, tmp_path) == f"stream 1: this is a folder: {tmp_path}"


def test_what_only_workers_may_see_is_not_told(tmp_path):
    (tmp_path / "a").write_text("one\n")
    os.symlink("gone", tmp_path / "link")
    for pattern in ("/no/such/folder/b", "/no/such/*/b", tmp_path / "c" / "b", tmp_path / "link"):
        assert seen(tmp_path / "a", pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        ("delta:/data/table", "Delta"),
        ("iceberg:lake.news.rows", "Iceberg"),
        ("/data/delta/table", None),
        ("deltas:x", None),
    ],
)
def test_a_word_before_a_colon_names_a_table(pattern, label):
    kind = table_kind(pattern)
    assert (kind and kind.label) == label
    if label is not None:
        assert format_of_name(pattern) == "parquet"


@pytest.mark.parametrize(("name", "library"), [("delta", "deltalake"), ("iceberg", "pyiceberg")])
def test_a_missing_library_is_named_with_its_extra(name, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match="is not installed here: x/y") as failed:
        find_files(Stream("input", f"{name}:x/y"))
    assert f"install {name}" in failed.value.remedy


def test_the_group_of_a_pattern_is_the_value():
    for pattern, path, value in (
        ("news/*/(.*)/", "news/2024/en-de/x.tsv", "en-de"),
        ("news/*/(.*)/", "old_news/2024/en-de/x.tsv", None),  # names match as a whole
        ("news/*/(.*)/", "news/2024/x.tsv", None),  # * does not match a slash
        ("news/**/(*)/*.tsv", "news/2024/a/b/en-de/x.tsv", "en-de"),
        ("(*)/*.tsv", "/home/a/en-de/x.tsv", "en-de"),
        ("news/(*)", "/news/old/news/new/x.tsv", "new"),  # the last place counts
        ("/news/(*)", "news/new/x.tsv", None),
        ("samples_(*)_*.jsonl", "d/samples_wmt_de_2024-11-19T10.1.jsonl", "wmt_de"),
        ("(news|ted)-*.txt", "a/ted-1.txt", "ted"),
        ("x.(??).txt", "a/x.de.txt", "de"),
        ("x[0-9].(*).txt", "a/x7.de.txt", "de"),
        ("x_(*).txt", "a/x_.txt", None),  # an empty value is none
    ):
        assert path_label(f"name={pattern}").value_of(path) == value, pattern


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("news/(*)/", "must be NAME=PATTERN"),
        ("a=news/*/", "one part in parentheses"),
        ("a=(*)/(*)", "one part in parentheses"),
        ("a=[z-a](*)", "cannot be read"),
    ],
)
def test_a_text_that_is_no_label_from_a_path(text, said):
    with pytest.raises(ValueError, match=said):
        path_label(text)


def test_a_path_with_bytes_that_are_not_utf8():
    assert path_label("a=(*)/").value_of("d\udcff/x") == "d\\udcff"


def test_files_of_the_same_lines_must_agree():
    label = path_label("domain=(*)/*.txt")
    files = [("references", "news/ref.txt"), ("candidates a", "out.txt")]
    assert label.agreed(files) == "news"
    with pytest.raises(InputError, match=r"'news' in news/ref.txt .* 'ted' in ted/a.txt"):
        label.agreed([*files, ("candidates b", "ted/a.txt")])
    with pytest.raises(InputError, match=r"no path .* domain=\(\*\)/\*.txt: out.txt"):
        label.agreed(files[1:])
