"""Finding the files of a pattern: all of them, or an error."""

from __future__ import annotations

import os
import pathlib

import pytest

from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.pairing.files import listing
from beam_bleu.transforms.pairing.files.listing import local_files, open_file

TREE = ["a-0", "a-1", "b-0", ".a-2", "x/a-0", "x/y/a-0", "x/y/z/b-0", "w 1/a[1]"]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(pattern: str) -> list[str]:
    return [file.path for file in local_files("candidates x", pattern)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a-0", ["a-0"]),
        ("a-*", ["a-0", "a-1"]),
        ("[!a]-0", ["b-0"]),
        ("*", [".a-2", "a-0", "a-1", "b-0"]),
        ("*/a-0", ["x/a-0"]),
        ("**/a-0", ["a-0", "x/a-0", "x/y/a-0"]),
        ("w */a[[]1]", ["w 1/a[1]"]),
        ("nothing-*", []),
        ("a-0/*", []),
    ],
)
def test_a_pattern_finds_its_files(tree, pattern, expected):
    assert sorted(found(pattern)) == sorted(expected)
    absolute = [str(tree / os.path.normpath(path)) for path in expected]
    assert sorted(map(os.path.normpath, found(f"{tree}/{pattern}"))) == sorted(
        map(os.path.normpath, absolute)
    )


def test_links_are_followed_to_files_and_folders(tree):
    os.symlink("a-0", "link")
    os.symlink("x", "folder")
    assert found("link") == ["link"]
    assert found("fold*/a-0") == ["folder/a-0"]


def test_a_ring_of_links_ends(tree):
    os.symlink("..", "x/up")
    assert sorted(found("**/b-0")) == ["b-0", "x/y/z/b-0"]


@pytest.mark.parametrize("pattern", ["shard-*", "shard-2"])
def test_a_broken_link_is_not_left_out(tree, pattern):
    pathlib.Path("shard-1").write_text("here")
    os.symlink("gone", "shard-2")
    with pytest.raises(InputError, match=r"candidates x: cannot be read: .*: the link shard-2"):
        found(pattern)


@pytest.mark.parametrize(
    ("pattern", "function"),
    [
        *(("x/*/a-*", "listdir"), ("x/**", "listdir"), ("x/y/a-0", "lstat")),
        ("x/**", "lstat"),  # its names can be listed, but what they are is hidden
    ],
)
def test_a_folder_without_permission_is_not_left_out(tree, monkeypatch, pattern, function):
    real = getattr(os, function)

    def forbidden(path: str) -> object:
        if str(path).startswith("x/y"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(listing.os, function, forbidden)
    with pytest.raises(InputError, match=r"cannot be read: Permission denied: x/y"):
        found(pattern)


@pytest.mark.parametrize("pattern", ["pipe", "pip*"])
def test_a_pipe_is_refused_without_being_opened(tree, pattern):
    os.mkfifo("pipe")
    with pytest.raises(UsageError, match=r"candidates x: .* a pipe or a device: pipe"):
        found(pattern)


def test_a_folder_is_refused_by_its_name_and_left_out_of_a_pattern(tree):
    with pytest.raises(UsageError, match="this is a folder: x"):
        found("x")
    assert found("x*") == []


def test_a_name_with_wildcards_is_meant_literally(tree):
    pathlib.Path("q1.txt").write_text("other")
    assert found("q[1].txt") == ["q1.txt"]
    pathlib.Path("q[1].txt").write_text("literal")
    assert found("q[1].txt") == ["q[1].txt"]


def test_a_file_that_a_pattern_matches_twice_is_refused(tree):
    os.symlink("a-1", "a-latest")
    with pytest.raises(
        InputError, match=r"candidates x: two names are links to the same file: a-1, a-latest"
    ):
        found("a-*")
    assert found("a-latest") == ["a-latest"]


def test_a_file_that_has_become_a_pipe_is_an_error_and_does_not_hang(tree):
    os.remove("a-0")
    os.mkfifo("a-0")
    with pytest.raises(OSError, match="not a file any more"):
        open_file("a-0")
    with open_file("a-1") as file:
        assert file.read() == b"a-1"
