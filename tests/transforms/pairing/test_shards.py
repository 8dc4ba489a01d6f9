"""Which files make up a stream, in which order, and what their names say about missing ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.errors import InputError
from transforms.pairing.shards import notes_of, shards_in_order, what_varies
from transforms.pairing.streams import FoundFile, Shard, Stream

STREAM = Stream("candidates LIUM", "/data/part-*")


def ordered(paths: list[str], stream: Stream = STREAM) -> list[str]:
    return [shard.path for shard in shards_in_order(0, stream, [FoundFile(p, 1) for p in paths])]


IN_ORDER = [
    (["only"], "one file is in order"),
    (["a", "b", "c"], "no numbers at all"),
    (["B", "a"], "by characters, of which upper case comes first"),
    (["part-2", "part-3"], "as many digits"),
    (["part-00002", "part-00010"], "leading zeros"),
    (["part-00000-of-00002", "part-00001-of-00002"], "the usual name of a shard"),
    (["2026-01-09/part-2", "2026-01-10/part-1"], "the first number that differs decides"),
    (["s1-part-02", "s1-part-10", "s2-part-01"], "two numbers, both with leading zeros"),
    (["part-1", "part-10-b"], "a name may be the beginning of another"),
    (["part-0007-a91f", "part-0008-11c2"], "a random tail behind the number"),
    (["part-9999999999999999998", "part-9999999999999999999"], "numbers of any size"),
    (["part-2", "part-10"], "without leading zeros, too, numbers are numbers"),
    (["part-9.gz", "part-10.gz"], "before a suffix"),
    (["p-1", "p-2", "p-10", "p-11"], "wherever they stand"),
    (["0-of-3", "1-of-3", "2-of-3"], "the total is the same"),
    (["run-9/part-02", "run-10/part-01"], "in a folder"),
    (["d-01/p-2", "d-02/p-9", "d-02/p-10"], "in the second folder only"),
    (["news", "news-extra"], "a name comes before what begins with it"),
    (["news.gz", "news-extra.gz"], "whatever the compression"),
    (["news.txt", "news-extra.txt.gz", "news+more.txt"][:2], "and the extension"),
    (["out.txt", "out (1).txt", "out (2).txt"], "copies of a download"),
    (["d/x.txt", "d-e/x.txt"], "folders like names"),
    (["out.1", "out.2", "out.10"], "a number is no extension"),
    (["out.part0", "out.part1", "out.part10"], "nor is a name with a number"),
    (["v1.2-part-0", "v1.2-part-1"], "nor is what follows any point"),
    (["text.aa", "text.ab.gz", "text.ac"], "nor is what `split` adds"),
    (["a.aa", "a.ab", "b.aa"], "of several files"),
    (["٣-2", "٣-10"], "digits of other scripts are characters"),
]


@pytest.mark.parametrize(("paths", "reason"), IN_ORDER)
def test_shards_are_in_the_order_of_their_names(paths, reason):
    expected = [Shard(3, i, path, 10 + i, i == len(paths) - 1) for i, path in enumerate(paths)]
    found = [FoundFile(path, 10 + i) for i, path in enumerate(paths)]
    for _ in range(5):
        assert shards_in_order(3, STREAM, found) == expected, reason
        random.Random(len(found)).shuffle(found)


SAME_SHARD = [
    (["p-0.txt", "p-0.txt.gz"], "after gzip -k"),
    (["p-0", "p-0.zst"], "without an extension"),
    (["p-0.gz", "p-0.xz"], "compressed twice"),
    (["p-0.txt", "p-0.tsv"], "two formats"),
    (["p-0.txt", "p-0.txt~"], "a backup"),
    (["p-0", "p-0.bak", "p-1"], "a backup with an extension"),
    (["news.de", "news.en"], "two languages"),
    (["part-1", "part-01"], "one number, written twice"),
    (["text.aa", "text.ab", "text.ab.gz"], "what `split` writes, compressed"),
    (["text.aa", "text.ac"], "which counts without gaps"),
    (["out.1", "out.1.gz", "out.2"], "numbers for extensions"),
]


@pytest.mark.parametrize(("paths", "reason"), SAME_SHARD)
def test_two_files_that_are_one_shard_are_refused(paths, reason):
    for found in (paths, paths[::-1]):
        with pytest.raises(InputError) as error:
            ordered(found)
        assert error.value.cause.startswith("candidates LIUM: "), reason
        assert "are the same shard by their names" in error.value.cause
        assert sum(path in error.value.cause for path in paths) >= 2


def test_a_pattern_that_matches_nothing_is_bad_input():
    with pytest.raises(InputError) as error:
        shards_in_order(0, STREAM, [])
    assert error.value.cause == "candidates LIUM: nothing matches /data/part-*"


def of_total(numbers, total, form="h/part-{:05}-of-{:05}"):
    return [form.format(number, total) for number in numbers]


COMPLETE = [
    (of_total(range(10), 10), "from 0, as Beam and TensorFlow have it"),
    (of_total(range(1, 6), 5, "model-{:05}-of-{:05}.txt"), "from 1"),
    (of_total(range(3), 3, "h_{}_of_{}"), "with underscores"),
    (of_total(range(3), 3, "h.{}of{}.txt"), "with nothing"),
    (of_total(range(2), 2) + of_total(range(3), 3, "t/part-{}-of-{}"), "two folders"),
    (of_total(range(2), 2, "news-{}-of-{}") + of_total(range(3), 3, "talk-{}-of-{}"), "two names"),
    (of_total(range(2), 2, "run-7-of-9/part-{}-of-{}"), "a folder is not a shard"),
    (["proof-1", "proof-3"], "no total"),
]


@pytest.mark.parametrize(("paths", "reason"), COMPLETE)
def test_a_set_of_shards_that_is_complete_is_read(paths, reason):
    assert ordered(paths[::-1]) == paths, reason


INCOMPLETE = [
    (of_total([0, 1, 3], 4), "h/part-00002-of-00004 is missing: the names say 4 shards, and 3"),
    (of_total([0, 1], 4), "h/part-00002-of-00004 and 1 more are missing"),
    (of_total([1, 2], 3), "h/part-00000-of-00003 is missing"),
    (of_total([1, 3], 3), "h/part-00002-of-00003 is missing"),
    (of_total([0], 3), "h/part-00001-of-00003 and 1 more are missing"),
    (of_total([3], 10**30, "part-{}-of-{}"), "part-0-of-1"),
    (of_total([0, 1, 2, 5], 3), "h/part-00005-of-00003 is beyond the last of 3 shards"),
    (of_total([0, 1, 2, 3], 3), "h/part-00003-of-00003 is beyond the last of 3 shards"),
    (of_total([0, 1], 2) + of_total([2], 3), "are of two sets of shards, one of 2 and one of 3"),
    (of_total([0, 1, 2], 3, "part-{}-of-{}.txt.gz")[1:], "part-0-of-3.txt.gz is missing"),
]


@pytest.mark.parametrize(("paths", "cause"), INCOMPLETE)
def test_names_that_say_how_many_shards_there_are_are_held_to_it(paths, cause):
    with pytest.raises(InputError) as error:
        ordered(paths)
    assert error.value.cause.startswith("candidates LIUM: ")
    assert cause in error.value.cause


def test_one_shard_of_several_may_be_named_alone_and_is_told():
    path = "h/part-00002-of-00004"
    stream = Stream("candidates x", path)
    assert ordered([path], stream) == [path]
    shards = shards_in_order(0, stream, [FoundFile(path, 1)])
    assert notes_of([stream], [shards]) == (
        "candidates x: h/part-00002-of-00004 is one of 4 shards, and only this one is read",
    )


VARYING = [
    (["hyp/part-1.txt", "hyp/part-10.txt.gz"], ["rg/p1", "rg/p10"]),
    (["h/news", "h/news-extra"], ["r/ref.news.txt", "r/ref.news-extra.txt"]),
    (["a1", "a11"], ["xb1-of", "xb11-of"]),
    (["part-01", "part-02"], ["part-1", "part-2"]),
    (["hyp/2026-01-31/p", "hyp/2026-02-01/p"], ["2026-01-31.txt", "2026-02-01.txt"]),
    (["h/de/part-0", "h/de/part-1", "h/fr/part-0"], ["de/r0", "de/r1", "fr/r0"][:0]),
    (["/a/x", "/a/y"], ["x", "y"]),
    (["text.aa", "text.ab"], ["r-aa.txt", "r-ab.txt"]),
]


@pytest.mark.parametrize(("one", "other"), VARYING)
def test_what_varies_does_not_depend_on_what_all_names_share(one, other):
    varying = what_varies(one)
    assert len(set(varying)) == len(one)
    if other:
        assert what_varies(other) == varying


name_parts = st.lists(
    st.one_of(
        st.integers(0, 120).map(str), st.text("abB+ (", min_size=1, max_size=4), st.just("a/b")
    ),
    min_size=1,
    max_size=4,
).map("".join)
suffixes = st.sampled_from(["", ".txt", ".gz", ".txt.zst"])


@settings(derandomize=True, deadline=None, max_examples=300)
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
    assert what_varies(order) == what_varies([by_name[name] for name in order])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["part1", "part2"], ["part1", "PART2"]),
        (["part-1", "part-2"], ["part-1", "part-3"]),
        (["a", "b"], ["b", "c"]),
        (["d1/p1", "d2/p1"], ["d1/p1", "d2/p2"]),
    ],
)
def test_what_varies_tells_other_shards_apart(one, other):
    assert what_varies(one) != what_varies(other)


def notes(*streams: list[str]) -> tuple[str, ...]:
    named = [Stream(f"stream {i}", "*") for i in range(len(streams))]
    return notes_of(
        named,
        [
            shards_in_order(i, stream, [FoundFile(path, 1) for path in paths])
            for i, (stream, paths) in enumerate(zip(named, streams, strict=True))
        ],
    )


WITHOUT_GAPS = [
    ["only-7"],
    ["part-0", "part-1", "part-2"],
    ["part-07.txt", "part-08.txt"],
    ["2026-01-31/p", "2026-02-01/p", "2026-02-02/p"],
    ["20260131", "20260201", "20260202"],
    ["de/part-0", "de/part-1", "fr/part-0"],
    ["news", "talk"],
    ["a-7", "b-9"],
]


@pytest.mark.parametrize("paths", WITHOUT_GAPS)
def test_a_numbering_without_gaps_needs_no_word(paths):
    assert notes(paths) == ()


GAPS = [
    (["part-0", "part-1", "part-3"], "3 shards have gaps: 2 (1 missing in all)"),
    (["part-00.gz", "part-09.gz"], "2 shards have gaps: 1, 2, 3, 4, 5, ... (8 missing in all)"),
    (["2026-01-01/p", "2026-01-03/p"], "gaps: 2 (1 missing in all)"),
    (["20260131", "20260202"], "gaps: 20260201 (1 missing in all)"),
    (["de/part-0", "de/part-2", "fr/part-0"], "gaps: 1 (1 missing in all)"),
    (["p-0", f"p-{10**40}"], f"({10**40 - 1} missing in all)"),
]


@pytest.mark.parametrize(("paths", "expected"), GAPS)
def test_gaps_in_a_numbering_are_told(paths, expected):
    (note,) = notes(paths)
    assert note.startswith("stream 0: the numbers of the ")
    assert expected in note


def test_a_gap_of_all_streams_is_told_once():
    paths = ["part-0", "part-2"]
    (note,) = notes(paths, ["whole"], [f"r/{path}.gz" for path in paths])
    assert note.startswith("stream 0, stream 2: the numbers of the 2 shards have gaps: 1 ")
