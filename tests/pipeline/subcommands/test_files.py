"""`beam-bleu files` lists the files of patterns, and `beam-bleu copy` copies one."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from command_line import called
from memory_filesystem import OBJECTS

FILES = ("2026-11-20/_SUCCESS", "2026-11-20/b-10.txt", "2026-11-20/b-9.txt", "other.txt")


@pytest.fixture(params=["bucket", "folder"])
def place(request, tmp_path) -> str:
    """Files on an object store, and the same on this machine."""
    OBJECTS.clear()
    for name in FILES:
        OBJECTS[f"mem://files/{name}"] = name.encode(), 1.0
        (tmp_path / "given" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "given" / name).write_text(name)
    return "mem://files" if request.param == "bucket" else f"{tmp_path}/given"


def test_the_files_are_listed_in_the_order_of_shards(place):
    run = called("files", f"{place}/2026-11-20/_SUCCESS", f"{place}/*/*.txt")
    assert (run.code, run.err) == (0, "")
    names = ("_SUCCESS", "b-9.txt", "b-10.txt")
    assert run.out.decode().splitlines() == [f"{place}/2026-11-20/{name}" for name in names]
    for absent in (f"{place}/2026-11-21/_SUCCESS", f"{place}/2026-11-20/*.gz"):
        called("files", f"{place}/other.txt", absent).assert_failed(3, absent)


def test_a_file_is_copied_between_filesystems(place, tmp_path):
    target = tmp_path / "new" / "copy.txt"
    run = called("copy", f"{place}/other.txt", target)
    assert (run.code, run.out, run.err) == (0, b"", "")
    assert target.read_bytes() == b"other.txt"
    assert called("copy", target, "mem://files/new/copy.txt").code == 0
    assert OBJECTS["mem://files/new/copy.txt"][0] == b"other.txt"
    # It takes the place of a link.
    night, metrics = tmp_path / "new" / "night.prom", tmp_path / "new" / "metrics.prom"
    night.write_text("old")
    metrics.symlink_to(night)
    assert called("copy", target, metrics).code == 0
    assert (metrics.read_text(), night.read_text()) == ("other.txt", "old")
    assert sorted(os.listdir(target.parent)) == ["copy.txt", "metrics.prom", "night.prom"]


def test_streams_can_be_copied(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\0b\xff")))
    assert called("copy", "-", tmp_path / "bytes").code == 0
    assert called("copy", tmp_path / "bytes", "-").out == b"a\0b\xff"


def test_what_cannot_be_copied_is_named(place, tmp_path: Path):
    for words in (["files", "nowhere://bucket/a"], ["copy", "nowhere://bucket/a", "-"]):
        called(*words).assert_failed(2, "there is no such filesystem here")
    called("copy", f"{place}/absent", tmp_path / "copy").assert_failed(3, f"{place}/absent")
    assert not (tmp_path / "copy").exists()
    called("copy", f"{place}/other.txt", tmp_path).assert_failed(2, f"{tmp_path} is a folder")
    (tmp_path / "file").touch()
    run = called("copy", f"{place}/other.txt", tmp_path / "file" / "copy")
    run.assert_failed(1, f"{tmp_path}/file/copy cannot be written")
