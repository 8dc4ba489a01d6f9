"""The launcher's check of the input, before an engine gets a job."""

from __future__ import annotations

import os
import pathlib

from beam_bleu.transforms.errors import BleuError
from beam_bleu.transforms.pairing.files.found_files import check_visible
from beam_bleu.transforms.pairing.files.streams import Stream


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
