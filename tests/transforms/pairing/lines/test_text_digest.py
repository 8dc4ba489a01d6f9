"""Digests of lines: the compiled code equals the definition, and parts add up in any order."""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from murmur3 import digest, murmur3_x64_128

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, LineDigests, sum_of_hashes

HOSTILE = [
    *("", "\0", "\0\0", "a", "a\r", "\r", "😀", "é" * 7, "e\u0301", "\u2028", "\ufeff"),
    *("x" * size for size in range(7, 34)),
    *("\0" * size for size in (8, 15, 16, 17)),
    "long line " * 100_000,
]


def column(lines: list[str]) -> pa.LargeStringArray:
    return padded(pa.array(lines, pa.large_string()))


def of(lines: list[str], first_line: int = 0) -> str:
    (text,) = LineDigests.of([column(lines)], first_line).texts
    return text


@pytest.mark.parametrize(
    ("text", "seed", "expected"),
    [
        # The example of the original's users, and those in the documentation of mmh3 for Python.
        (b"The quick brown fox jumps over the lazy dog", 0, 0x7A433CA9C49A9347E34BBC7BBC071B6C),
        (b"foo", 0, 168394135621993849475852668931176482145),
        (b"foo", 42, 215966891540331383248189432718888555506),
        (b"", 0, 0),
    ],
)
def test_the_oracle_is_murmur3(text, seed, expected):
    assert murmur3_x64_128(text, seed) == expected


def test_hostile_lines_have_the_digest_of_the_definition():
    assert of(HOSTILE) == digest([line.encode() for line in HOSTILE])
    for line in HOSTILE:
        assert of([line]) == digest([line.encode()])


def test_a_digest_that_was_recorded():
    assert METHOD == "lines-murmur3-128"
    assert of(["the cat", "", "größe"]) == "lines-murmur3-128:d0ce05ffa5d607807da49d7053c93ebf"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40)))
def test_any_lines_have_the_digest_of_the_definition(lines):
    assert of(lines) == digest([line.encode() for line in lines])


@pytest.mark.parametrize("first_line", [0, 1, 2**32 - 2, 2**40])
def test_the_number_of_a_line_is_its_seed(first_line):
    lines = ["a", "bc", ""]
    hashes = (
        murmur3_x64_128(line.encode(), first_line + number) for number, line in enumerate(lines, 1)
    )
    assert sum_of_hashes(column(lines), first_line) == sum(hashes) % 2**128


def test_parts_add_up_in_any_order():
    draw = random.Random(1)
    streams = [[draw.choice(HOSTILE[:-1]) for _ in range(200)] for _ in range(3)]
    whole = LineDigests.of([column(lines) for lines in streams], 0)
    assert whole.texts == tuple(digest([line.encode() for line in lines]) for lines in streams)
    bounds = [0, *sorted(draw.sample(range(1, 200), 9)), 200]
    parts = [
        LineDigests.of([column(lines[first:last]) for lines in streams], first)
        for first, last in itertools.pairwise(bounds)
    ]
    zero = LineDigests.zero(3)
    for _ in range(5):
        draw.shuffle(parts)
        assert sum(parts, start=zero) == whole
        left, right = sum(parts[:4], start=zero), sum(parts[4:], start=zero)
        assert left + right == right + left == whole
    assert zero + whole == whole
