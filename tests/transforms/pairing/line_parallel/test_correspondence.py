"""Streams of several shards must have the same shards with the same numbers of lines."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.line_parallel.correspondence import (
    require_same_lines,
    require_same_shards,
)
from beam_bleu.transforms.pairing.line_parallel.shards import shards_in_order
from beam_bleu.transforms.pairing.line_parallel.streams import FoundFile, Shard, Stream

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
    ("out out(1) out(2)", "out.txt out(1).txt out(2).txt"),
    ("r/x r/y", "whole", "b/x b/y"),
    ("whole", "a/x a/y", "b/1 b/2 b/3"[:0] + "b/x b/y"),
    ("whole", "a/x a/y a/z"),
    ("one", "two"),
]


@pytest.mark.parametrize("names", ALIKE)
def test_the_same_shards_correspond_for_all_forms_of_names(names):
    require_same_shards(STREAMS, shards(*names))


UNLIKE = [
    (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-2 a/p-3"),
        "candidates a: no shard corresponds to r/p-1; references: no shard corresponds to a/p-3; "
        "the other 2 correspond",
    ),
    (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-1"),
        "candidates a: no shard corresponds to r/p-2; the other 2 correspond",
    ),
    (
        ("r/p-0 r/p-1", "a/p-0 a/p-1 a/p-2", "b/p-0 b/p-1 b/p-2"),
        "references: no shard corresponds to a/p-2; the other 2 correspond",
    ),
    (
        ("r/p-0 r/p-1", "a/p-0 a/p-1 a/p-2", "b/p-0 b/p-1"),
        "references: no shard corresponds to a/p-2; the other 2 correspond",
    ),
    (
        ("r/part1 r/PART2", "a/part1 a/part2"),
        "candidates a: no shard corresponds to r/PART2; "
        "references: no shard corresponds to a/part2; the other 1 corresponds",
    ),
    (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-1 a/p-2 a/_SUCCESS"),
        "references: no shard corresponds to a/_SUCCESS; the other 3 correspond",
    ),
    (
        ("r/p-0 r/p-1", "a/x-0 a/x-1", "b/p-0 b/p-1 b/extra"),
        "references: no shard corresponds to b/extra; the other 2 correspond",
    ),
    (
        ("r/0 r/1", "a/x a/y"),
        "candidates a: no shard corresponds to r/0, r/1; "
        "references: no shard corresponds to a/x, a/y; no shards correspond",
    ),
    (
        (" ".join(f"r/{i}" for i in range(9)), "a/0 a/8"),
        "candidates a: no shard corresponds to r/1, r/2, r/3 and 4 more; the other 2 correspond",
    ),
    (
        ("r/x_de r/x-b_de", "a/x a/x-b"),
        "a/x and r/x-b_de are in the same place, but are different shards by their names",
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
    require_same_lines(of_three, [[5, 6], [12], [5, 6]])
    require_same_lines(shards("r/0 r/1", "whole"), [[5, 6], [11]])
    require_same_lines(shards("one", "two"), [[5], [6]])  # named with the streams


ODD_LINES = [
    (
        [[100] * 10, [100] * 5 + [99] + [100] * 4],
        "a/part-6 has 99 lines, r/part-6 has 100; the other 9 are equal",
    ),
    (
        [[100, 101, 100] + [100] * 7, [100] * 10, [100] * 10],
        "r/part-2 has 101 lines, a/part-2 has 100; the other 9 are equal",
    ),
    (
        [[100] * 10, [100, 99] + [100] * 4 + [101] + [100] * 3, [100] * 10],
        "a/part-2 has 99 lines, r/part-2 has 100; also different: a/part-7; the other 8 are equal",
    ),
    ([[1] * 10, [2] * 10], "a/part-1 has 2 lines, r/part-1 has 1; also different: a/part-2, "),
]


@pytest.mark.parametrize(("lines", "cause"), ODD_LINES)
def test_the_message_begins_with_the_shard_that_is_unlike_the_others(lines, cause):
    names = [" ".join(f"{name}/part-{i}" for i in range(1, 11)) for name in "rab"[: len(lines)]]
    with pytest.raises(InputError) as error:
        require_same_lines(shards(*names), lines)
    assert error.value.cause.startswith(cause)
    assert "--cuts any" in error.value.remedy
