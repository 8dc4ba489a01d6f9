"""Streams of several shards must have the same shards with the same numbers of lines."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.correspondence import (
    require_equal_line_counts,
    require_same_lines,
    require_same_shards,
)

STREAMS = [
    Stream("references", "r/*"),
    Stream("candidates a", "a/*"),
    Stream("candidates b", "b/*"),
]


def shards(*streams: str) -> list[list[Shard]]:
    """The shards of streams whose paths are written as words, in any order."""
    return [
        shards_in_order(i, STREAMS[i], [FoundFile(path, 1) for path in paths.split()])
        for i, paths in enumerate(streams)
    ]


ALIKE = [
    ("r/part-1.gz r/part-2.gz r/part-10.gz", "a/p10 a/p1 a/p2"),
    ("r/news.gz r/news-extra.gz", "hyp/news hyp/news-extra"),
    ("r/x r/y", "whole", "b/x b/y"),
    ("whole", "a/x a/y", "b/1 b/2 b/3"[:0] + "b/x b/y"),
]


@pytest.mark.parametrize("names", ALIKE)
def test_the_same_shards_correspond_for_all_forms_of_names(names):
    require_same_shards(STREAMS, shards(*names))


UNLIKE = [
    (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-2 a/p-3"),
        "candidates a have no shard for 1 of references: r/p-1; "
        "references have no shard for 1 of candidates a: a/p-3",
    ),
    (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-1"),
        "candidates a have no shard for 1 of references: r/p-2",
    ),
    (
        ("r/part1 r/PART2", "a/part1 a/part2"),
        "candidates a have no shard for 1 of references: r/PART2; "
        "references have no shard for 1 of candidates a: a/part2",
    ),
    (
        ("r/0 r/1", "a/x a/y"),
        "candidates a have no shard for 2 of references: r/0, r/1; "
        "references have no shard for 2 of candidates a: a/x, a/y",
    ),
    (
        (" ".join(f"r/{i}" for i in range(9)), "a/0 a/8"),
        "candidates a have no shard for 7 of references: r/1, r/2, r/3 and 4 more",
    ),
    (
        ("r/x_de r/x-b_de", "a/x a/x-b"),
        "candidates a and references order their shards differently",
    ),
]


@pytest.mark.parametrize(("names", "cause"), UNLIKE)
def test_other_shards_are_refused_and_named(names, cause):
    with pytest.raises(InputError) as error:
        require_same_shards(STREAMS, shards(*names))
    assert cause in error.value.cause
    assert "--cuts any" in error.value.remedy


def test_shards_with_the_same_numbers_of_lines_correspond():
    of_three = shards("r/0 r/1", "whole", "b/0 b/1")
    require_same_lines(STREAMS, of_three, [[5, 6], [12], [5, 6]])
    require_same_lines(STREAMS, shards("r/0 r/1", "whole"), [[5, 6], [11]])
    require_same_lines(STREAMS, shards("one", "two"), [[5], [6]])  # named with the streams


DIFFER = "shards do not have the same number of lines in all streams"

ODD_LINES = [
    (
        [[100, 101, 100] + [100] * 7, [100] * 10],
        f"1 of 10 {DIFFER}: shard 2 has 100 lines in candidates a, 101 in references: "
        "a/part-2, r/part-2",
    ),
    (
        [[1] * 10, [1, 2] * 5],
        f"5 of 10 {DIFFER}: shard 2 has 2 lines in candidates a, 1 in references: "
        "a/part-2, r/part-2",
    ),
]


@pytest.mark.parametrize(("lines", "cause"), ODD_LINES)
def test_shards_with_other_numbers_of_lines_are_refused(lines, cause):
    names = [" ".join(f"{name}/part-{i}" for i in range(1, 11)) for name in "ra"]
    with pytest.raises(InputError) as error:
        require_same_lines(STREAMS, shards(*names), lines)
    assert error.value.cause == cause
    assert "--cuts any" in error.value.remedy


TWENTY = [Stream("references", "r"), *(Stream(f"candidates {i}", f"/data/{i}") for i in range(20))]

ODD_TOTALS = [
    ([72] * 20 + [71], "candidates 19 have 71 lines, references have 72: /data/19, r"),
    ([72, 1], "candidates 0 have 1 line, references have 72: /data/0, r"),
    ([71, 72, 72], "references have 71 lines, candidates 0 have 72: r, /data/0"),
    (
        [0] * 21,
        "the corpus is empty, no stream has a line: r, /data/0, /data/1, /data/2 and 17 more",
    ),
]


@pytest.mark.parametrize(("lines", "cause"), ODD_TOTALS)
def test_the_message_begins_with_the_stream_that_is_unlike_the_others(lines, cause):
    with pytest.raises(InputError) as error:
        require_equal_line_counts(TWENTY[: len(lines)], lines)
    assert error.value.cause == cause
