"""Which files make up a stream, and in which order."""

from __future__ import annotations

import pytest

from transforms.errors import InputError, UsageError
from transforms.pairing.streams import FoundFile, Shard, Stream, compression, shards_in_order

STREAM = Stream("candidates LIUM", "/data/part-*")

IN_ORDER = [
    (["only"], "one file is in order"),
    (["a", "b", "c"], "no numbers at all"),
    (["part-2", "part-3"], "as many digits"),
    (["part-00002", "part-00010"], "leading zeros"),
    (["part-00001-of-00010", "part-00010-of-00010"], "the usual name of a shard"),
    (["2026-01-09/part-2", "2026-01-10/part-1"], "the first number that differs decides"),
    (["s1-part-02", "s1-part-10", "s2-part-01"], "two numbers, both with leading zeros"),
    (["part-1", "part-10-of-12"], "a name may be the beginning of another"),
    (["part-0007-a91f", "part-0008-11c2"], "a random tail behind the number"),
    (["part-9999999999999999998", "part-9999999999999999999"], "numbers of any size"),
]

OUT_OF_ORDER = [
    (["part-10", "part-2"], "part-10", "part-2", "the classic"),
    (["part-10.gz", "part-9.gz"], "part-10.gz", "part-9.gz", "before a suffix"),
    (["p-1", "p-10", "p-11", "p-2"], "p-10", "p-2", "not the first names"),
    (["1-of-10", "10-of-10", "2-of-10"], "10-of-10", "2-of-10", "the total is behind it"),
    (["run-10/part-01", "run-9/part-02"], "run-10/part-01", "run-9/part-02", "in a folder"),
    (["d-1/p-10", "d-1/p-2"], "d-1/p-10", "d-1/p-2", "the second of two numbers"),
    (["d-01/p-2", "d-02/p-10", "d-02/p-9"], "d-02/p-10", "d-02/p-9", "in the second folder only"),
]


@pytest.mark.parametrize(("paths", "reason"), IN_ORDER)
def test_shards_are_in_name_order_whatever_order_they_were_found_in(paths, reason):
    found = [FoundFile(path, 10 + i, 5.0) for i, path in enumerate(paths)]
    last = len(paths) - 1
    expected = [Shard(3, i, path, 10 + i, 5.0, i == last) for i, path in enumerate(paths)]
    assert shards_in_order(3, STREAM, found) == expected, reason
    assert shards_in_order(3, STREAM, found[::-1]) == expected, reason


@pytest.mark.parametrize(("paths", "first", "second", "reason"), OUT_OF_ORDER)
def test_shards_whose_name_order_is_not_their_number_order_are_refused(
    paths, first, second, reason
):
    for found in (paths, paths[::-1]):
        with pytest.raises(UsageError) as error:
            shards_in_order(0, STREAM, [FoundFile(path, 1) for path in found])
        assert f"candidates LIUM: by name {first} comes before {second}" in error.value.cause, (
            reason
        )
        assert "leading zeros" in error.value.remedy


def test_a_pattern_that_matches_nothing_is_bad_input():
    with pytest.raises(InputError) as error:
        shards_in_order(0, STREAM, [])
    assert error.value.cause == "candidates LIUM: nothing matches /data/part-*"


@pytest.mark.parametrize(
    ("path", "suffix"),
    [
        ("a.txt", None),
        ("a.gz", ".gz"),
        ("a.txt.bz2", ".bz2"),
        ("a.zst", ".zst"),
        ("a.xz", ".xz"),
        ("A.TXT.GZ", ".gz"),  # upper case, too
        ("a.gz.txt", None),  # the last suffix decides
        ("gz", None),
        ("/data.gz/a", None),  # the suffix of a folder is not the file's
        ("gs://bucket/a.txt.gz", ".gz"),
        ("a.tgz", None),
    ],
)
def test_the_suffix_alone_tells_the_compression(path, suffix):
    assert compression(path) == suffix


def test_a_stream_shows_its_label_and_pattern():
    assert str(STREAM) == "candidates LIUM (/data/part-*)"
