"""Lines are read exactly, each once; and their fields, counts and digests."""

from __future__ import annotations

import dataclasses
import io

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MARK, STREAM, MemoryCorpus, corpora, read_file, read_pieces
from murmur3 import digest, murmur3_x64_128

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.files.listing import open_file
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines.line_columns import split_fields
from beam_bleu.transforms.pairing.lines.line_counting import count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, sum_of_hashes
from beam_bleu.transforms.pairing.paired import Digests

property_test = settings(derandomize=True, deadline=None, max_examples=60)


@property_test
@given(corpora(), st.integers(16, 200) | st.just(1 << 26), st.integers(1, 20))
def test_every_line_of_every_portion_is_read_once_in_order(corpus, range_bytes, most):
    texts = corpus.read(corpus.plan(range_bytes), most)
    assert texts == [corpus.lines(stream) for stream in range(len(corpus.files))]


@property_test
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


@property_test
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
