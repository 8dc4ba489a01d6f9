"""Digests of lines: the compiled code equals the definition, and parts add up in any order."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from murmur3 import digest, murmur3_x64_128

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, sum_of_hashes
from beam_bleu.transforms.pairing.paired import Digests

HOSTILE = [
    *("", "\0", "\0\0", "a", "a\r", "\r", "😀", "é" * 7, "e\u0301", "\u2028", "\ufeff"),
    *("x" * size for size in range(7, 34)),
    *("\0" * size for size in (8, 15, 16, 17)),
    "long line " * 100_000,
]


def column(lines: list[str]) -> pa.LargeStringArray:
    return padded(pa.array(lines, pa.large_string()))


def of(lines: list[str], first_line: int = 0) -> str:
    (text,) = Digests(len(lines), ((METHOD, sum_of_hashes(column(lines), first_line)),)).texts
    return text


def test_a_digest_that_was_recorded():
    assert METHOD == "lines-murmur3-128"
    assert of(HOSTILE) == digest([line.encode() for line in HOSTILE])
    assert of(["the cat", "", "größe"]) == "lines-murmur3-128:d0ce05ffa5d607807da49d7053c93ebf"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40)))
def test_any_lines_have_the_digest_of_the_definition(lines):
    assert of(lines) == digest([line.encode() for line in lines])


def test_the_number_of_a_line_is_its_seed():
    lines = ["a", "bc", ""]
    for first in (1, 2**32 - 2, 2**40):
        hashes = (murmur3_x64_128(line.encode(), first + n) for n, line in enumerate(lines, 1))
        assert sum_of_hashes(column(lines), first) == sum(hashes) % 2**128


def test_digests_of_parts_add_up():
    parts = [((METHOD, sum_of_hashes(column(HOSTILE[n : n + 1]), n)),) for n in range(len(HOSTILE))]
    added = sum((Digests(1, part) for part in parts[1:]), Digests(1, parts[0]))
    assert added.segments == len(HOSTILE)
    assert added.texts == (of(HOSTILE),)
