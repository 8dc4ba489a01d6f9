"""Ranges; and files of this machine are counted like others, with the same errors."""

from __future__ import annotations

import dataclasses
import io
import os
import pathlib
from collections.abc import Callable
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.listing import open_file
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import (
    COMPRESSED_DATA,
    count_lines,
    cut,
    longest_first,
    range_bytes_for,
)

STREAM = Stream("candidates x", "a")
MARK = b"\xef\xbb\xbf"
LONG = b"x" * (600 << 10)
"""Longer than a part."""


def found(
    path: str, size: int, opener: Callable[[str], BinaryIO], range_bytes: int, limit: int | None
) -> list[object]:
    """What is counted in each range of a file, or the error."""
    results: list[object] = []
    for part in cut(Shard(0, 0, FoundFile(path, size)), range_bytes):
        try:
            counts = count_lines(STREAM, part, opener, "1", limit)
        except InputError as error:
            results.append((error.cause, error.remedy))
        else:
            told = {field.name: getattr(counts, field.name) for field in dataclasses.fields(counts)}
            results.append(told | {"newlines": counts.newlines.tolist()})
    return results


def require_equal(
    folder: pathlib.Path, text: bytes, size: int, range_bytes: int, limit: int | None
) -> list[object]:
    file = folder / "a"
    file.write_bytes(text)
    path = os.fspath(file)
    here = found(path, size, open_file, range_bytes, limit)
    assert here == found(path, size, lambda _: io.BytesIO(text), range_bytes, limit)
    return here


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            [b"\n", b"a\n", b"\0", b"\x1b", b"\x0b", b"\xff", b"x" * 63, b"y" * 64, MARK]
        ),
        max_size=40,
    ).map(b"".join),
    st.sampled_from([16, 17, 1024, 1 << 26]),
    st.sampled_from([None, 5, 64, 1 << 26]),
    st.sampled_from([-1, 0, 1]),
)
def test_counts_and_errors_are_the_same(tmp_path_factory, text, range_bytes, limit, changed):
    """With a size in the list that is too small, right, or too large."""
    size = max(len(text) + changed, 0)
    require_equal(tmp_path_factory.getbasetemp(), text, size, range_bytes, limit)


@pytest.mark.parametrize(
    ("mark", "end", "limit"),
    [
        (b"", b"\n", None),
        (MARK, b"", len(LONG) - 1),
        (MARK, b"\nlast", len(LONG)),
        (b"", b"", 1 << 26),
    ],
)
def test_lines_that_are_longer_than_parts_are_counted(tmp_path, mark, end, limit):
    text = mark + LONG + b"\n" + b"some words\n" * 70_000 + LONG + LONG + end
    require_equal(tmp_path, text, len(text), 1 << 26, limit)


def test_compressed_data_is_refused(tmp_path):
    for data in (*COMPRESSED_DATA.values(), MARK + COMPRESSED_DATA[".gz"]):
        ((cause, _),) = require_equal(tmp_path, data, len(data), 1 << 26, None)
        assert "its text is ." in cause


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
