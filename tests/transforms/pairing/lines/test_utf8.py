"""The check of UTF-8 while lines are copied: the same lines are refused as by Python's decoder."""

from __future__ import annotations

import functools
import io
import itertools
import tempfile
from collections.abc import Callable, Iterable
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_corpus import STREAM, is_utf8, values_of

from beam_bleu.transforms.native.memory import BLOCK, READ_AHEAD
from beam_bleu.transforms.pairing.files.chunks import BYTE_ORDER_MARK, PartMemory
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines import line_reader
from beam_bleu.transforms.pairing.lines.line_columns import copy_lines
from beam_bleu.transforms.pairing.lines.line_counting import count_lines, cut
from beam_bleu.transforms.pairing.lines.plan import make_plan

BORDERS = bytes.fromhex(
    "00 41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff"
)
"""The first and last byte of each kind that the definition of UTF-8 has."""


def check(lines: Iterable[bytes], shift: int) -> None:
    """Copying finds an error in the same lines as Python, if they begin after `shift` letters."""
    for line in lines:
        text = b"x" * shift + line + b"\n"
        memory = PartMemory(len(text))
        memory.put(text)
        texts = np.empty(len(text) + 2 * BLOCK + READ_AHEAD, np.uint8)
        offsets = np.zeros(2, np.int64)
        part, no_file = (memory.begin, memory.end), (0, -1, 0, 0)
        *_, rows, end, may_be_bad = copy_lines(
            memory.array, part, no_file, texts, offsets, 0, 0, 1, 1 << 26
        )
        assert (rows, texts[:end].tobytes()) == (1, text[:-1])
        assert may_be_bad == (not is_utf8(line)), (line, shift)


def test_all_short_lines_of_bytes_at_the_borders_of_their_kinds():
    for size, shift in ((1, 0), (2, 0), (1, BLOCK - 2), (2, BLOCK - 2), (3, BLOCK - 2)):
        check(map(bytes, itertools.product(BORDERS, repeat=size)), shift)


def test_four_bytes_across_the_end_of_a_block():
    for first in (0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5):
        rests = itertools.islice(itertools.product(BORDERS, repeat=3), first % 5, None, 5)
        for number, rest in enumerate(rests):
            check([bytes([first, *rest])], BLOCK - 5 + number % 6)


def test_every_character_and_every_surrogate():
    for point in itertools.chain(range(0, 0x11000, 23), range(0xD700, 0xE100), [0x10FFFF]):
        if point != ord("\n"):
            line = chr(point).encode(errors="surrogatepass")
            check([line, line[:-1]], BLOCK - 2)


def as_local_file(text: bytes) -> Callable[[str], BinaryIO]:
    """Opens a file of this machine with this text, whatever path is asked for."""

    def opened(_: str) -> BinaryIO:
        with tempfile.NamedTemporaryFile() as file:
            file.write(text)
            file.flush()
            return open(file.name, "rb")

    return opened


LINE = st.lists(
    st.one_of(
        st.text(st.characters(exclude_characters="\n"), max_size=40).map(
            functools.partial(str.encode, errors="surrogatepass")
        ),
        st.lists(st.sampled_from(list(BORDERS)), max_size=5).map(bytes),
        st.integers(0, 70).map(lambda size: b"x" * size),
    ),
    max_size=4,
).map(b"".join)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.lists(LINE, min_size=1, max_size=20),
    st.integers(3, 200),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_lines_across_parts_of_a_file(lines, part_bytes, most, is_marked, is_local):
    """Also if the last line has no newline, after a byte order mark, and in compiled code."""
    text = b"".join(b"line " + line + b"\n" for line in lines)
    text = text.removesuffix(b"\n")
    lines = [b"line " + line for line in lines]
    text = BYTE_ORDER_MARK * is_marked + text
    open_file = as_local_file(text) if is_local else lambda _: io.BytesIO(text)
    (part,) = cut(Shard(0, 0, FoundFile("a.txt", len(text))), 1 << 26)
    counts = [count_lines(STREAM, part, open_file)]
    (portion,) = make_plan([STREAM], counts).portions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_reader, "PartMemory", functools.partial(PartMemory, part_bytes))
        reader = line_reader.LineReader(STREAM, portion.pieces[0], open_file)
        bad, read = [], []
        while taken := reader.available(most):
            column = reader.take(taken)
            read += values_of(column)
            bad += [each.number for each in reader.bad]
        reader.finish()
    assert read == lines
    assert bad == [row for row, line in enumerate(lines) if not is_utf8(line)]
