"""Bad text, files that change and long lines give errors that name the place."""

from __future__ import annotations

import functools
import io
import itertools
import re
import tracemalloc
import zlib
from collections.abc import Iterable
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from memory_corpus import MARK, STREAM, is_utf8, read_file, values_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.memory import BLOCK, READ_AHEAD
from beam_bleu.transforms.pairing.files.chunks import BYTE_ORDER_MARK, PartMemory
from beam_bleu.transforms.pairing.files.listing import open_file
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines import line_reader
from beam_bleu.transforms.pairing.lines.line_columns import copy_lines
from beam_bleu.transforms.pairing.lines.line_counting import COMPRESSED_DATA, count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan


def test_a_file_that_changes_after_it_was_counted_is_an_error():
    for counted, read in (
        (b"a\nb\nc\n", b"a\nb\n"),
        (b"a\nb\nc\n", b"a\nb\nc"),
        (b"a\nb\n", b""),
        (b"a\nb\nc\n", b"a\nbbc\n"),  # as many bytes, but a newline fewer
        (b"x" * 15 + b"\n" + b"y" * 5, b"x" * 20 + b"\n"),  # as many bytes, but a line fewer
        (b"line\n" * 60, b"line\n" * 59 + b"line"),
        (b"a\nb\n", b"a\nb\nc\n"),
        (b"a\nb", b"a\nbcd\n"),  # the unfinished line was cut: its score would be wrong
        (b"line\n" * 60, b"line\n" * 61),
    ):
        for range_bytes in (16, 1 << 26):
            with pytest.raises(InputError, match=r"^candidates LIUM: .*: a\.txt"):
                read_file(read, range_bytes=range_bytes, counted=counted)


class Unanswering(io.BytesIO):
    """A file on a filesystem that fails in the middle."""

    def readinto(self, memory: object) -> int:
        raise TimeoutError("the store does not answer")


def test_errors_of_the_filesystem_name_stream_and_file():
    (part,) = cut(Shard(0, 0, FoundFile("/data/a.txt", 6)), 16)
    refused = PermissionError(13, "Permission denied", "/data/a.txt")
    for opener, reason in (
        (mock.Mock(side_effect=refused), "Permission denied"),
        (lambda _: Unanswering(), "the store does not answer"),
    ):
        with pytest.raises(InputError) as error:
            count_lines(STREAM, part, opener)
        assert re.fullmatch(
            f"candidates LIUM: cannot be read: .*{reason}.*: /data/a.txt", error.value.cause
        )


def test_a_line_that_is_too_long_is_not_kept():
    texts = [b"a\n" + b"x" * (20 << 20) + end for end in (b"", b"\n")]
    tracemalloc.start()
    for text in texts:
        with pytest.raises(InputError, match=r"line 2 has more than 1000000 bytes: a\.txt"):
            read_file(text, limit=1_000_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12 << 20


def test_a_bomb_is_refused_before_it_is_decompressed():
    read = 0

    class Endless(io.RawIOBase):
        """Gigabytes of zeros, compressed."""

        def __init__(self) -> None:
            self._compressor = zlib.compressobj(wbits=31)

        def read(self, size: int = -1) -> bytes:
            nonlocal read
            assert read < 200 << 20
            read += 1 << 20
            return self._compressor.compress(bytes(1 << 20)) or self.read(size)

    (part,) = cut(Shard(0, 0, FoundFile("/data/a.gz", 4 << 20)), 1 << 26)
    with pytest.raises(InputError, match=r"line 1 has more than 1048576 bytes: /data/a.gz"):
        count_lines(STREAM, part, lambda _: Endless(), None, 1 << 20)


LINE = st.one_of(
    st.binary(max_size=9).map(lambda text: text.replace(b"\n", b"")),
    st.sampled_from([b"a\tb", b"\tb", b"a\t", b"a b", b"x" * 40, b"\xff" * 40, b"a\tb\tc"]),
)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(
    st.lists(LINE, min_size=1, max_size=40),
    st.sampled_from([1, 2]),
    st.integers(1, 20),
    st.sampled_from([16, 1 << 26]),
    st.integers(0, 1 << 40),
    st.sampled_from([b"", b"\n"]),
)
def test_all_bad_lines_are_told_and_the_others_are_read(
    lines, fields, limit, range_bytes, first, end
):
    text = b"\n".join(lines) + (end if lines[-1] else b"\n")
    assume(not text.startswith((*COMPRESSED_DATA.values(), MARK)))
    counts = [
        count_lines(STREAM, part, lambda _: io.BytesIO(text), None, None)
        for part in cut(Shard(0, 0, FoundFile("a.txt", len(text))), range_bytes)
    ]
    found: dict[int, tuple[str, bytes]] = {}
    texts: list[str] = []
    bytes_read: list[bytes] = []
    for portion in make_plan([STREAM], counts).portions():
        number = first + portion.first_line
        reader = LineReader(STREAM, portion.pieces[0], lambda _: io.BytesIO(text), limit, number)
        while taken := reader.available(7):
            column = reader.take(taken)
            bytes_read += values_of(column)
            parts = reader.split(column, fields)
            bad_rows = {each.number - first: (each.reason, each.raw) for each in reader.bad}
            assert [each.place for each in reader.bad] == [f"line {row + 1}" for row in bad_rows]
            assert not bad_rows.keys() & found.keys()
            found |= bad_rows
            for row, values in enumerate(zip(*map(list, parts), strict=True), len(texts)):
                is_bad = row in bad_rows
                texts.append("" if is_bad else "\t".join(each.as_py() for each in values))
        reader.finish()
    expected: dict[int, tuple[str, bytes]] = {}
    for row, line in enumerate(lines):
        if len(line) > limit:
            expected[row] = ("line-too-long", line[: limit + 1])
        elif not is_utf8(line):
            expected[row] = ("invalid-utf8", line)
        elif fields == 2 and len(line.decode().rstrip().split("\t")) != 2:
            expected[row] = ("wrong-number-of-fields", line)
    assert found == expected
    # Digests are made of these bytes, so they must not depend on the division of the work.
    assert bytes_read == [line[: limit + 1] for line in lines]
    assert texts == ["" if row in expected else line.decode() for row, line in enumerate(lines)]


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
    # Four bytes lie across the end of a block, too.
    for first in (0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5):
        rests = itertools.islice(itertools.product(BORDERS, repeat=3), first % 5, None, 5)
        for number, rest in enumerate(rests):
            check([bytes([first, *rest])], BLOCK - 5 + number % 6)


PARTS_OF_LINE = st.lists(
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
    st.lists(PARTS_OF_LINE, min_size=1, max_size=20),
    st.integers(3, 200),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_lines_across_parts_of_a_file(
    tmp_path_factory, lines, part_bytes, most, is_marked, is_local
):
    """Also if the last line has no newline, after a byte order mark, and in compiled code."""
    text = b"".join(b"line " + line + b"\n" for line in lines)
    text = text.removesuffix(b"\n")
    lines = [b"line " + line for line in lines]
    text = BYTE_ORDER_MARK * is_marked + text
    path = tmp_path_factory.getbasetemp() / "a.txt"
    path.write_bytes(text)
    opener = open_file if is_local else lambda _: io.BytesIO(text)
    (part,) = cut(Shard(0, 0, FoundFile(str(path), len(text))), 1 << 26)
    counts = [count_lines(STREAM, part, opener)]
    (portion,) = make_plan([STREAM], counts).portions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_reader, "PartMemory", functools.partial(PartMemory, part_bytes))
        reader = line_reader.LineReader(STREAM, portion.pieces[0], opener)
        bad, read = [], []
        while taken := reader.available(most):
            column = reader.take(taken)
            read += values_of(column)
            bad += [each.number for each in reader.bad]
        reader.finish()
    assert read == lines
    assert bad == [row for row, line in enumerate(lines) if not is_utf8(line)]
