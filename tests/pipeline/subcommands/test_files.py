"""`beam-bleu files` lists the files of patterns, and `beam-bleu copy` copies one."""

from __future__ import annotations

import io
import os

import pytest
from command_line import called
from memory_filesystem import OBJECTS


@pytest.fixture
def bucket() -> str:
    OBJECTS.clear()
    for name in ("2026-11-20/_SUCCESS", "2026-11-20/b-10.txt", "2026-11-20/b-9.txt", "other.txt"):
        OBJECTS[f"mem://files/{name}"] = name.encode(), 1.0
    return "mem://files"


@pytest.fixture
def folder(tmp_path) -> str:
    (tmp_path / "2026-11-20").mkdir()
    for name in ("2026-11-20/_SUCCESS", "2026-11-20/b-10.txt", "2026-11-20/b-9.txt", "other.txt"):
        (tmp_path / name).write_text(name)
    return str(tmp_path)


@pytest.fixture(params=["bucket", "folder"])
def place(request) -> str:
    """Files on an object store, and the same on this machine."""
    return request.getfixturevalue(request.param)


def test_the_files_are_listed_in_the_order_of_shards(place):
    run = called("files", f"{place}/2026-11-20/_SUCCESS", f"{place}/*/*.txt")
    assert (run.code, run.err) == (0, "")
    names = ("_SUCCESS", "b-9.txt", "b-10.txt")
    assert run.out.decode().splitlines() == [f"{place}/2026-11-20/{name}" for name in names]


@pytest.mark.parametrize("absent", ["2026-11-21/_SUCCESS", "2026-11-20/*.gz"])
def test_a_pattern_without_files_ends_it(place, absent):
    called("files", f"{place}/other.txt", f"{place}/{absent}").assert_failed(3, f"{place}/{absent}")


def test_a_filesystem_that_nobody_knows_is_a_usage_error():
    called("files", "nowhere://bucket/a").assert_failed(2, "there is no such filesystem here")
    called("copy", "nowhere://bucket/a", "-").assert_failed(2, "there is no such filesystem here")


def test_a_file_is_copied_between_filesystems(bucket, tmp_path):
    target = tmp_path / "new" / "copy.txt"
    run = called("copy", f"{bucket}/other.txt", target)
    assert (run.code, run.out, run.err) == (0, b"", "")
    assert target.read_bytes() == b"other.txt"
    assert called("copy", target, f"{bucket}/new/copy.txt").code == 0
    assert OBJECTS[f"{bucket}/new/copy.txt"][0] == b"other.txt"


def test_a_copy_takes_the_place_of_a_link(tmp_path):
    night, metrics = tmp_path / "night.prom", tmp_path / "metrics.prom"
    night.write_text("old")
    metrics.symlink_to(night)
    (tmp_path / "new.prom").write_text("new")
    assert called("copy", tmp_path / "new.prom", metrics).code == 0
    assert (metrics.read_text(), night.read_text()) == ("new", "old")
    assert sorted(os.listdir(tmp_path)) == ["metrics.prom", "new.prom", "night.prom"]


def test_streams_can_be_copied(bucket, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\0b\xff")))
    assert called("copy", "-", f"{bucket}/bytes").code == 0
    assert called("copy", f"{bucket}/bytes", "-").out == b"a\0b\xff"


def test_what_cannot_be_copied_is_named(place, tmp_path):
    called("copy", f"{place}/absent", tmp_path / "copy").assert_failed(3, f"{place}/absent")
    assert not (tmp_path / "copy").exists()
    called("copy", f"{place}/other.txt", tmp_path).assert_failed(2, f"{tmp_path} is a folder")
    (tmp_path / "file").touch()
    called("copy", f"{place}/other.txt", tmp_path / "file" / "copy").assert_failed(
        1, f"{tmp_path}/file/copy cannot be written"
    )
