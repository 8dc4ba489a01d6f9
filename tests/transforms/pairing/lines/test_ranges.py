"""Ranges: each byte is in one range, and the number of ranges is small enough for a plan."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines.line_counting import cut, longest_first, range_bytes_for


def test_ranges_cover_a_plain_file_once():
    for size in (0, 1, 15, 16, 17, 1000):
        ranges = list(cut(Shard(0, 0, FoundFile("a.txt", size)), 16))
        assert [part.start for part in ranges] == list(range(0, max(size, 1), 16))
        assert [part.stop for part in ranges] == [*(part.start for part in ranges[1:]), size]


def test_ranges_grow_with_the_corpus():
    for corpus_bytes, range_bytes in (
        (0, 1 << 24),
        (1 << 32, 1 << 24),
        ((1 << 32) + 1, 1 << 25),
        (1 << 33, 1 << 25),
        (1 << 42, 1 << 26),
        ((1 << 42) + 1, 1 << 27),
        (10**17, 1 << 41),
    ):
        assert range_bytes_for(corpus_bytes) == range_bytes


@given(st.lists(st.integers(0, 100)), st.integers(1, 50))
def test_long_units_come_first_and_the_others_keep_their_order(sizes, usual):
    order = longest_first(np.array(sizes, np.int64), usual)
    assert sorted(order) == list(range(len(sizes)))
    long = [number for number in order if sizes[number] >= 2 * usual]
    others = [number for number in order if sizes[number] < 2 * usual]
    assert order == [*long, *others]
    assert others == sorted(others)
    sizes_of_long = [sizes[number] for number in long]
    assert sizes_of_long == sorted(sizes_of_long, reverse=True)
