"""Lines are read exactly, each once; bad lines and files that change are errors with a place."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import re
import tracemalloc
import zlib
from collections.abc import Iterable
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MARK, MemoryCorpus, corpora, read_pieces
from murmur3 import digest, murmur3_x64_128

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.memory import BLOCK, READ_AHEAD
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.files.chunks import PartMemory
from beam_bleu.transforms.pairing.files.listing import open_file
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines import line_reader
from beam_bleu.transforms.pairing.lines.line_columns import copy_lines, split_fields
from beam_bleu.transforms.pairing.lines.line_counting import COMPRESSED_DATA, count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, sum_of_hashes
from beam_bleu.transforms.pairing.paired import Digests

STREAM = Stream("candidates LIUM", "a*")


def read_file(text, path="a.txt", range_bytes=1 << 26, limit=1 << 26, counted=None):
    """The lines of a file with these bytes; it may have had others when its lines were counted."""
    counted = text if counted is None else counted
    parts = cut(Shard(0, 0, FoundFile(path, len(counted))), range_bytes)
    counts = [
        count_lines(STREAM, part, lambda _: io.BytesIO(counted), None, limit) for part in parts
    ]
    lines = []
    for portion in make_plan([STREAM], counts).portions():
        reader = LineReader(STREAM, portion.pieces[0], lambda _: io.BytesIO(text), limit)
        lines += read_pieces(reader, 1000)
    return lines


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def values_of(column: pa.LargeStringArray) -> list[bytes]:
    """The texts of a column as they are in memory, which need not be UTF-8."""
    return column.cast(pa.large_binary()).to_pylist()


@settings(max_examples=60)
@given(corpora(), st.integers(16, 200) | st.just(1 << 26), st.integers(1, 20))
def test_every_line_of_every_portion_is_read_once_in_order(corpus, range_bytes, most):
    texts = corpus.read(corpus.plan(range_bytes), most)
    assert texts == [corpus.lines(stream) for stream in range(len(corpus.files))]


@settings(max_examples=60)
@given(corpora(), st.integers(16, 200), st.integers(1, 20))
def test_the_header_of_each_file_is_no_line_of_the_stream(corpus, range_bytes, most):
    corpus = MemoryCorpus(corpus.files[:1])
    expected = [line for file in corpus.files[0] for line in file.lines[1:]]
    counts = corpus.counts(range_bytes)
    if not expected:
        with pytest.raises(InputError, match="the corpus is empty"):
            make_plan(corpus.streams, counts, header_lines=1)
        return
    plan = make_plan(corpus.streams, counts, header_lines=1)
    assert plan.segments == len(expected)
    lines = []
    for portion in plan.portions():
        assert portion.first_line == len(lines)
        for piece in portion.pieces[0]:
            of_piece = read_pieces(LineReader(corpus.streams[0], [piece], corpus.open), most)
            first = piece.first_line
            of_file = corpus.file(piece.file.path).lines
            assert tuple(of_piece) == of_file[first : first + piece.lines]
            lines += of_piece
    assert lines == expected


def test_what_a_line_is():
    for text, lines, reason in (
        (b"a\nb", ["a", "b"], "the last line needs no newline"),
        (b"\n", [""], "an empty line"),
        (b"\n\na", ["", "", "a"], "empty lines first"),
        (b"a\n\n", ["a", ""], "an empty line last"),
        (b"a\r\nb\rc\n", ["a\r", "b\rc"], "a carriage return is text"),
        ("a\u2028b\x85c\u2029d\x0be\x0cf\x1cg\n".encode(), None, "no other line end"),
        (b"a\x00b\n\x00\n", ["a\0b", "\0"], "zero bytes are text"),
        (MARK + b"a\nb\n", ["a", "b"], "the byte order mark is dropped"),
        (MARK + b"\n", [""], "an empty line after the mark"),
        (MARK + b"a", ["a"], "a mark and one unfinished line"),
        (MARK + MARK + b"a\n", ["\ufeffa"], "only the first mark is one"),
        (b"a\n" + MARK + b"b\n", ["a", "\ufeffb"], "a mark in the middle is text"),
        (b"\xef\xbb\xbe\n", ["\ufefe"], "almost a mark"),
        (b" a \t\n", [" a \t"], "spaces are kept"),
    ):
        expected = lines or [text.decode().removesuffix("\n")]
        for suffix in COMPRESS:
            assert read_file(COMPRESS[suffix](text), "a" + suffix) == expected, reason
        assert read_file(text, range_bytes=16) == expected, reason


def test_a_reader_does_not_read_far_ahead():
    lines = ["x" * 99_999] * 200  # 20 MB
    file = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
    (part,) = cut(Shard(0, 0, FoundFile("a", len(file.getvalue()))), 1 << 26)
    counts = count_lines(STREAM, part, lambda _: io.BytesIO(file.getvalue()))
    (portion,) = make_plan([STREAM], [counts]).portions()
    reader = LineReader(STREAM, portion.pieces[0], lambda _: file)
    read = 0
    while taken := reader.available(len(lines)):
        # `taken` lines are ready, and at most the next few megabytes were read.
        if not file.closed:
            assert file.tell() - 100_000 * read <= 7 << 20
        reader.take(taken)
        read += taken
    assert read == len(lines)


WHITE_SPACE = [chr(code) for code in range(0x110000) if chr(code).isspace() and chr(code) != "\n"]
LOOKS_WHITE = ["\u200b", "\u180e", "\ufeff", "\0", "\u2800"]  # not for Python
PIECES = ["\t", "\t", "a", "é", "日本", "😀", *WHITE_SPACE, *LOOKS_WHITE]

LINES = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=6)


def column(lines: list[str]) -> pa.LargeStringArray:
    return padded(pa.array(lines, pa.large_string()))


@given(LINES, st.integers(2, 4))
@example(["a b c\tx y\t", "d e f\tz"], 2)
@example(["a\tb\t\u3000\t \t", "\tb\t\r"], 2)
@example(["a\t\t", "\t\tb"], 3)
def test_any_lines_are_split_as_by_python(lines, fields):
    expected = [line.rstrip().split("\t") for line in lines]
    wrong = [row for row, each in enumerate(expected) if len(each) != fields]
    found = split_fields(column(lines), fields)
    assert found.wrong.tolist() == wrong
    assert found.counts.tolist() == [len(expected[row]) for row in wrong]
    rows = [*zip(*(each.to_pylist() for each in found.columns), strict=True)]
    for number, (line, row, texts) in enumerate(zip(lines, rows, expected, strict=True)):
        if number in wrong:
            assert set(row) == {""}
            continue
        assert [*row[:-1], row[-1].rstrip()] == texts
        assert "\t".join(row) == line  # nothing is lost, also no line end


# Files of this machine are counted by compiled code: like others, with the same errors.


def counts_of(path, size, opener, range_bytes, limit):
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


def require_equal_counts(folder, text, changed=0, range_bytes=1 << 26, limit=None):
    (folder / "a").write_bytes(text)
    path, size = str(folder / "a"), max(len(text) + changed, 0)
    here = counts_of(path, size, open_file, range_bytes, limit)
    assert here == counts_of(path, size, lambda _: io.BytesIO(text), range_bytes, limit)
    return here


COUNTED = [b"\n", b"a\n", b"\0", b"\x1b", b"\x0b", b"\xff", b"x" * 63, b"y" * 64, MARK]


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(COUNTED), max_size=40).map(b"".join),
    st.sampled_from([-1, 0, 1]),
    st.sampled_from([16, 17, 1024, 1 << 26]),
    st.sampled_from([None, 5, 64, 1 << 26]),
)
def test_counts_and_errors_are_the_same(tmp_path_factory, text, changed, range_bytes, limit):
    """With a size in the list that is too small, right, or too large."""
    require_equal_counts(tmp_path_factory.getbasetemp(), text, changed, range_bytes, limit)


def test_lines_that_are_longer_than_parts_are_counted(tmp_path):
    long = b"x" * (600 << 10)
    for mark, end, limit in (
        (b"", b"\n", None),
        (MARK, b"", len(long) - 1),
        (MARK, b"\nlast", len(long)),
        (b"", b"", 1 << 26),
    ):
        text = mark + long + b"\n" + b"some words\n" * 70_000 + long + long + end
        require_equal_counts(tmp_path, text, limit=limit)


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
def test_compressed_data_in_place_of_text_is_an_error(tmp_path, suffix):
    data = COMPRESS[suffix](b"some text\n" * 100)
    for text in (data, MARK + data):
        ((cause, _),) = require_equal_counts(tmp_path, text)
        assert f"its text is {suffix} data" in cause
    with pytest.raises(InputError, match=f"its text is {suffix} data"):
        read_file(COMPRESS[suffix](data), f"a{suffix}")


# Digests of lines


HOSTILE = [
    *("", "\0", "\0\0", "a", "a\r", "\r", "😀", "é" * 7, "e\u0301", "\u2028", "\ufeff"),
    *("x" * size for size in range(7, 34)),
    *("\0" * size for size in (8, 15, 16, 17)),
    "long line " * 100_000,
]


def digest_of(lines: list[str]) -> str:
    (text,) = Digests(len(lines), ((METHOD, sum_of_hashes(column(lines), 0)),)).texts
    return text


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40)))
@example(HOSTILE)
def test_any_lines_have_the_digest_of_the_definition(lines):
    assert digest_of(lines) == digest([line.encode() for line in lines])


def test_the_number_of_a_line_is_its_seed_so_digests_of_parts_add_up():
    recorded = "lines-murmur3-128:d0ce05ffa5d607807da49d7053c93ebf"
    assert digest_of(["the cat", "", "größe"]) == recorded
    lines = ["a", "bc", ""]
    for first in (1, 2**32 - 2, 2**40):
        hashes = (murmur3_x64_128(line.encode(), first + n) for n, line in enumerate(lines, 1))
        assert sum_of_hashes(column(lines), first) == sum(hashes) % 2**128
    parts = [((METHOD, sum_of_hashes(column(HOSTILE[n : n + 1]), n)),) for n in range(len(HOSTILE))]
    added = sum((Digests(1, part) for part in parts[1:]), Digests(1, parts[0]))
    assert added.segments == len(HOSTILE)
    assert added.texts == (digest_of(HOSTILE),)


# Files that change or cannot be read, and bad lines


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


@settings(max_examples=80)
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


@settings(max_examples=100)
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
    text = MARK * is_marked + text
    path = tmp_path_factory.getbasetemp() / "a.txt"
    path.write_bytes(text)
    opener = open_file if is_local else lambda _: io.BytesIO(text)
    (part,) = cut(Shard(0, 0, FoundFile(str(path), len(text))), 1 << 26)
    counts = [count_lines(STREAM, part, opener)]
    (portion,) = make_plan([STREAM], counts).portions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_reader, "PartMemory", functools.partial(PartMemory, part_bytes))
        reader = LineReader(STREAM, portion.pieces[0], opener)
        bad, read = [], []
        while taken := reader.available(most):
            column = reader.take(taken)
            read += values_of(column)
            bad += [each.number for each in reader.bad]
        reader.finish()
    assert read == lines
    assert bad == [row for row, line in enumerate(lines) if not is_utf8(line)]
