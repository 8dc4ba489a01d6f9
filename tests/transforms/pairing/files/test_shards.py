"""The files of a stream: which ones, in which order, and which are missing by their names."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import (
    FoundFile,
    Shard,
    Stream,
    names_of,
    shards_in_order,
    what_varies,
)

STREAM = Stream("candidates LIUM", "/data/part-*")


def ordered(paths: list[str], stream: Stream = STREAM) -> list[str]:
    return [
        shard.file.path for shard in shards_in_order(0, stream, [FoundFile(p, 1) for p in paths])
    ]


IN_ORDER = [
    (["B", "a"], "by characters: upper case comes first"),
    (["part-00002", "part-00010"], "leading zeros"),
    (["out.txt-00000-of-00002", "out.txt-00001-of-00002"], "the usual names of Beam"),
    (["2026-01-09/part-2", "2026-01-10/part-1"], "the first number that differs decides"),
    (["part-1", "part-10-b"], "a name may be the beginning of another"),
    (["part-0007-a91f", "part-0008-11c2"], "a random tail after the number"),
    (["part-2", "part-10"], "without leading zeros, too, numbers are numbers"),
    (["news.gz", "news-extra.gz"], "whatever the compression"),
    (["out.txt", "out (1).txt", "out (2).txt"], "copies of a download"),
    (["a.aa", "a.ab", "b.aa"], "of several files"),
    ([f"p-{i:02x}" for i in range(40)], "hexadecimal numbers"),
]


def test_shards_are_in_the_order_of_their_names():
    for paths, reason in IN_ORDER:
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
    ):
        for found in (paths, paths[::-1]):
            with pytest.raises(
                InputError, match=r"^candidates LIUM: .* are the same shard"
            ) as error:
                ordered(found)
            assert sum(path in error.value.cause for path in paths) >= 2, reason


def test_a_path_without_wildcards_is_a_file_that_is_missing():
    with pytest.raises(InputError, match=r"^references: there is no file a\.txt"):
        shards_in_order(0, Stream("references", "a.txt"), [])


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
        (of_total([0, 1], 4), ["4 shards", "without 2", "h/part-0000"]),
        (of_total([0, 1, 2, 5], 3), ["3 shards", "from 0 to 5", "h/part-0000"]),
        (of_total([0, 1], 2) + of_total([2], 3), ["two sets, one of 2 and one of 3"]),
    ):
        with pytest.raises(InputError, match=r"^candidates LIUM: ") as error:
            ordered(paths)
        assert all(each in error.value.cause for each in named)


def correspond(one: list[str], other: list[str]) -> bool:
    first, second = what_varies(names_of(one), names_of(other))
    assert len(set(first)) == len(one)
    assert len(set(second)) == len(other)
    return first == second


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (["text.aa", "text.ab"], ["r-aa.txt", "r-ab.txt"], True),
        (["newstest.de", "newsdev.de"], ["r/newstest.en", "r/newsdev.en"], True),
        (["part1", "part2"], ["part1", "PART2"], False),
        (["part-1", "part-2"], ["part-1", "part-3"], False),
        # Worker 1 is lost in one, part 1 in the other.
        (["w0-p0", "w0-p1"], ["w0-p0", "w1-p0"], False),
        (["2026-01-01", "2026-01-02"], ["2026-01-02", "2026-02-02"], False),
    ],
)
def test_only_what_varies_in_names_must_correspond(one, other, alike):
    assert correspond(one, other) == correspond(other, one) == alike


name_parts = st.lists(
    st.one_of(
        st.integers(0, 120).map(str), st.text("abB+ (", min_size=1, max_size=4), st.just("a/b")
    ),
    min_size=1,
    max_size=4,
).map("".join)
suffixes = st.sampled_from(["", ".txt", ".gz", ".txt.zst"])


@settings(derandomize=True, deadline=None, max_examples=80)
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
