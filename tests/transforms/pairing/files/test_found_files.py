"""The files of a stream: which ones, in which order, in which version, and what their paths say."""

from __future__ import annotations

import os
import random
import sys
from unittest import mock

import pytest
from apache_beam.io.filesystems import FileSystems
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import BleuError, InputError, UsageError
from beam_bleu.transforms.pairing.files import listing
from beam_bleu.transforms.pairing.files.found_files import check_visible, find_files, version_of
from beam_bleu.transforms.pairing.files.listing import local_files, open_file
from beam_bleu.transforms.pairing.files.path_labels import path_label
from beam_bleu.transforms.pairing.files.streams import (
    FoundFile,
    Shard,
    Stream,
    names_of,
    shards_in_order,
    what_varies,
)
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.records.formats import format_of_name

STREAM = Stream("candidates x", "*")


def test_an_object_has_the_version_that_its_store_reports(monkeypatch):
    store = mock.Mock(spec=["checksum"])
    monkeypatch.setattr(FileSystems, "get_filesystem", lambda path: store)
    for told, version in (
        (["an-etag"], "an-etag"),
        ([b"crc"], "b'crc'"),
        ([None], None),
        (NotImplementedError(), None),
    ):
        store.checksum.side_effect = told
        assert version_of(STREAM, "store://a") == version
    store.checksum.side_effect = FileNotFoundError()
    with pytest.raises(InputError, match="candidates x: the file was removed: store://a"):
        version_of(STREAM, "store://a")


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
    # What only workers may see is not told.
    os.symlink("gone", tmp_path / "link")
    for pattern in ("/no/such/folder/b", "/no/such/*/b", tmp_path / "c" / "b", tmp_path / "link"):
        assert seen(there, pattern) == ""


def test_a_word_before_a_colon_names_a_table(monkeypatch):
    for pattern in ("/data/delta/table", "deltas:x"):
        assert table_kind(pattern) is None
    for name, label, library in (
        ("delta", "Delta", "deltalake"),
        ("iceberg", "Iceberg", "pyiceberg"),
    ):
        assert table_kind(f"{name}:x/y").label == label
        assert format_of_name(f"{name}:x/y") == "parquet"
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
        ("(*)/", "d\udcff/x", "d\\udcff"),
    ):
        assert path_label(f"name={pattern}").value_of(path) == value, pattern
    for text, said in (
        ("news/(*)/", "must be NAME=PATTERN"),
        ("a=news/*/", "one part in parentheses"),
        ("a=(*)/(*)", "one part in parentheses"),
        ("a=[z-a](*)", "cannot be read"),
    ):
        with pytest.raises(ValueError, match=said):
            path_label(text)


def test_files_of_the_same_lines_must_agree():
    label = path_label("domain=(*)/*.txt")
    files = [("references", "news/ref.txt"), ("candidates a", "out.txt")]
    assert label.agreed(files) == "news"
    with pytest.raises(InputError, match=r"'news' in news/ref.txt .* 'ted' in ted/a.txt"):
        label.agreed([*files, ("candidates b", "ted/a.txt")])
    with pytest.raises(InputError, match=r"no path .* domain=\(\*\)/\*.txt: out.txt"):
        label.agreed(files[1:])


# Files of this machine

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
    return sorted(file.path for file in local_files("candidates x", pattern))


def test_a_pattern_finds_its_files(tree):
    os.symlink("a-0", "link")
    os.symlink("x", "folder")
    (tree / "q1.txt").touch()
    for pattern, expected in (
        ("a-0", ["a-0"]),
        ("a-*", ["a-0", "a-1"]),
        ("[!a]-0", ["b-0"]),
        ("*-[0-9]", [".a-2", "a-0", "a-1", "b-0"]),
        ("[a-x]/a-0", ["x/a-0"]),
        ("x/**/a-0", ["x/a-0", "x/y/a-0"]),
        ("w */a[[]1]", ["w 1/a[1]"]),
        ("nothing-*", []),
        ("a-0/*", []),
        ("link", ["link"]),
        ("fold*/a-0", ["folder/a-0"]),
        ("q[1].txt", ["q1.txt"]),
        ("x*", []),  # a folder
    ):
        assert found(pattern) == expected
        assert found(f"{tree}/{pattern}") == [f"{tree}/{path}" for path in expected]
    (tree / "q[1].txt").touch()  # a name with wildcards is meant literally
    assert found("q[1].txt") == ["q[1].txt"]


def test_a_ring_of_links_ends(tree):
    os.symlink("..", "x/up")
    assert found("**/b-0") == ["b-0", "x/y/z/b-0"]


def test_what_is_no_file_is_not_left_out(tree):
    os.symlink("gone", "shard-2")
    os.mkfifo("pipe")
    os.symlink("a-1", "a-latest")
    for patterns, error, said in (
        (["shard-*", "shard-2"], InputError, "cannot be read: .*: the link shard-2"),
        (["pip*", "pipe"], UsageError, ".* a pipe or a device: pipe"),  # it is not opened
        (["x"], UsageError, "this is a folder: x"),
        (["a-*"], InputError, "two names are links to the same file: a-1, a-latest"),
    ):
        for pattern in patterns:
            with pytest.raises(error, match=f"candidates x: {said}"):
                found(pattern)
    assert found("a-latest") == ["a-latest"]


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


def test_a_file_that_has_become_a_pipe_is_an_error_and_does_not_hang(tree):
    os.remove("a-0")
    os.mkfifo("a-0")
    with pytest.raises(OSError, match="not a file any more"):
        open_file("a-0")
    with open_file("a-1") as file:
        assert file.read() == b"a-1"


def ordered(paths: list[str], stream: Stream = STREAM) -> list[str]:
    return [
        shard.file.path for shard in shards_in_order(0, stream, [FoundFile(p, 1) for p in paths])
    ]


def test_shards_are_in_the_order_of_their_names():
    for paths, reason in (
        (["B", "a"], "by characters: upper case comes first"),
        (["out.txt-00000-of-00002", "out.txt-00001-of-00002"], "the usual names of Beam"),
        (["2026-01-09/part-2", "2026-01-10/part-1"], "the first number that differs decides"),
        (["part-1", "part-10-b"], "a name may be the beginning of another"),
        (["part-0007-a91f", "part-0008-11c2"], "a random tail after the number"),
        (["part-2", "part-10"], "without leading zeros, too, numbers are numbers"),
        (["news.gz", "news-extra.gz"], "whatever the compression"),
        (["out.txt", "out (1).txt", "out (2).txt"], "copies of a download"),
        ([f"p-{i:02x}" for i in range(40)], "hexadecimal numbers"),
        (["x.1", "x.2", "x.10"], "names that begin with another one, which are no copies of it"),
        (["d.2026-11-01.txt", "d.2026-11-02.txt"], "dates before the extension"),
        (["p", "p.d/x"], "a folder with the name of a file and more"),
    ):
        found = [FoundFile(path, 10 + i) for i, path in enumerate(paths)]
        expected = [Shard(3, i, file, i == len(paths) - 1) for i, file in enumerate(found)]
        for _ in range(5):
            assert shards_in_order(3, STREAM, found) == expected, reason
            random.Random(len(found)).shuffle(found)


def test_two_files_of_the_same_shard_are_refused():
    for paths, reason in (
        (["p-0.txt", "p-0.txt.gz"], "after gzip -k"),
        (["p-0.txt", "p-0.tsv"], "two formats"),
        (["part-1", "part-01"], "one number, written twice"),
        (["text.aa", "text.ab", "text.ab.gz"], "what `split` writes, compressed"),
        (["p-0.txt", "p-0.txt.bak", "p-1.txt"], "a backup"),
        (["p-0.txt", "p-0.txt~"], "a backup of an editor"),
        (["p-0.txt", "p-0.txt.~1~"], "a numbered backup of an editor"),
        (["p-0.jsonl", "p-0.jsonl.1", "p-1.jsonl"], "what `logrotate` and `wget` keep"),
        (["p.1", "p.1.1", "p.2"], "the same, of files without an extension"),
        (["p-0.txt", "p-0.txt.2026-11-01.gz"], "a backup with a date, compressed"),
        (["p-0.txt.gz", "p-0.txt.gz.part"], "a partial copy"),
    ):
        for found in (paths, paths[::-1]):
            with pytest.raises(InputError, match=r"^candidates x: .* are the same shard") as error:
                ordered(found)
            assert sum(path in error.value.cause for path in paths) >= 2, reason


def of_total(numbers, total, form="h/part-{:05}-of-{:05}"):
    return [form.format(number, total) for number in numbers]


def test_a_set_of_shards_with_a_total_must_be_complete():
    for paths, reason in (
        (of_total(range(10), 10), "from 0, as Beam and TensorFlow have it"),
        (of_total(range(1, 6), 5, "model-{:05}-of-{:05}.txt"), "from 1"),
        (of_total(range(2), 2) + of_total(range(3), 3, "t/part-{}-of-{}"), "two folders"),
        (of_total(range(2), 2, "run-7-of-9/part-{}-of-{}"), "a folder is not a shard"),
        (["best1of5-news", "best1of5-talk"], "a word"),
    ):
        assert ordered(paths[::-1]) == paths, reason
    for paths, named in (
        (of_total([0, 1, 3], 4, "part-{}-OF-{}"), ["from 0 to 3 without 2", "part-0-OF-4"]),
        (of_total([1, 2], 3, "p-{}-of-{}"), ["from 1 to 2 without 0", "p-1-of-3"]),
        (of_total([0, 1], 3, "p-{}-of-{}/x"), ["3 shards", "without 2", "p-0-of-3/x"]),
        (of_total([0, 1], 4), ["4 shards", "without 2", "h/part-0000"]),
        (of_total([0, 1, 2, 5], 3), ["3 shards", "from 0 to 5", "h/part-0000"]),
        (of_total([0, 1], 2) + of_total([2], 3), ["two sets, one of 2 and one of 3"]),
    ):
        with pytest.raises(InputError, match=r"^candidates x: ") as error:
            ordered(paths)
        assert all(each in error.value.cause for each in named)


def correspond(one: list[str], other: list[str]) -> bool:
    first, second = what_varies(names_of(one), names_of(other))
    assert len(set(first)) == len(one)
    assert len(set(second)) == len(other)
    return first == second


def test_only_what_varies_in_names_must_correspond():
    for one, other, alike in (
        (["text.aa", "text.ab"], ["r-aa.txt", "r-ab.txt"], True),
        (["newstest.de", "newsdev.de"], ["r/newstest.en", "r/newsdev.en"], True),
        (["part1", "part2"], ["part1", "PART2"], False),
        (["part-1", "part-2"], ["part-1", "part-3"], False),
        # Worker 1 is lost in one, part 1 in the other.
        (["w0-p0", "w0-p1"], ["w0-p0", "w1-p0"], False),
        (["2026-01-01", "2026-01-02"], ["2026-01-02", "2026-02-02"], False),
    ):
        assert correspond(one, other) == correspond(other, one) == alike, (one, other)


name_parts = st.lists(
    st.one_of(
        st.integers(0, 120).map(str), st.text("abB+ (", min_size=1, max_size=4), st.just("a/b")
    ),
    min_size=1,
    max_size=4,
).map("".join)
suffixes = st.sampled_from(["", ".txt", ".gz", ".txt.zst"])


@settings(max_examples=80)
@given(
    st.lists(name_parts, min_size=2, max_size=8, unique=True),
    st.tuples(st.sampled_from(["", "h/", "hyp_", "/d1/x-"]), st.sampled_from(["", "_", "_de"])),
    st.tuples(st.sampled_from(["", "r/", "ref_", "/d22/y-"]), st.sampled_from(["", "_", "_2"])),
    suffixes,
    suffixes,
)
def test_names_that_differ_in_the_same_way_are_the_same_shards(varying, one, other, end, end2):
    ones = [f"{one[0]}{each}{one[1]}{end}" for each in varying]
    others = [f"{other[0]}{each}{other[1]}{end2}" for each in varying]
    try:
        order = ordered(ones)
    except InputError:  # 1 and 01
        with pytest.raises(InputError):
            ordered(others)
        return
    by_name = dict(zip(ones, others, strict=True))
    assert correspond(order, [by_name[name] for name in order])
