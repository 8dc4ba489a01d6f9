"""Reading lines: every line of every portion, exactly; and the fields of lines."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MARK, STREAM, MemoryCorpus, corpora, read_file

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines.line_columns import split_fields
from beam_bleu.transforms.pairing.lines.line_counting import count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan

property_test = settings(derandomize=True, deadline=None, max_examples=60)

MEGABYTE = 1 << 20  # files are read in chunks of so many bytes


@property_test
@given(corpora(), st.integers(16, 200), st.integers(1, 20))
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
            reader = LineReader(corpus.streams[0], [piece], corpus.open)
            of_piece = []
            while taken := reader.available(most):
                of_piece += reader.take(taken).to_pylist()
            reader.finish()
            first = piece.first_line
            of_file = corpus.file(piece.file.path).lines
            assert tuple(of_piece) == of_file[first : first + piece.lines]
            lines += of_piece
    assert lines == expected


@pytest.mark.parametrize(
    ("text", "lines", "reason"),
    [
        (b"a\nb\n", ["a", "b"], "the plain case"),
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
        (b"a", ["a"], "shorter than a mark"),
        (b" a \t\n", [" a \t"], "spaces are kept"),
    ],
)
def test_what_a_line_is(text, lines, reason):
    if lines is None:
        lines = [text.decode().removesuffix("\n")]
    for suffix in COMPRESS:
        assert read_file(COMPRESS[suffix](text), "a" + suffix) == lines, reason
    assert read_file(text, range_bytes=16) == lines, reason


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
            assert file.tell() - 100_000 * read <= 7 * MEGABYTE
        reader.take(taken)
        read += taken
    assert read == len(lines)


WHITE_SPACE = [chr(code) for code in range(0x110000) if chr(code).isspace() and chr(code) != "\n"]
LOOKS_WHITE = ["\u200b", "\u180e", "\ufeff", "\0", "\u2800"]  # not for Python
PIECES = ["\t", "\t", "a", "é", "日本", "😀", *WHITE_SPACE, *LOOKS_WHITE]

LINES = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=6)


def column(lines: list[str]) -> pa.LargeStringArray:
    return padded(pa.array(lines, pa.large_string()))


def assert_is_split_as_by_python(lines: list[str], of: pa.LargeStringArray, fields: int) -> None:
    expected = [line.rstrip().split("\t") for line in lines]
    wrong = [row for row, each in enumerate(expected) if len(each) != fields]
    found = split_fields(of, fields)
    assert found.wrong.tolist() == wrong
    assert found.counts.tolist() == [len(expected[row]) for row in wrong]
    rows = [*zip(*(each.to_pylist() for each in found.columns), strict=True)]
    assert len(rows) == len(lines)
    for number, (line, row, texts) in enumerate(zip(lines, rows, expected, strict=True)):
        if number in wrong:
            assert set(row) == {""}
            continue
        assert [*row[:-1], row[-1].rstrip()] == texts
        assert "\t".join(row) == line  # nothing is lost, also no line end


@given(LINES, st.integers(2, 4))
@example(["a b c\tx y\t", "d e f\tz"], 2)
@example(["a\tb\t\u3000\t \t", "\tb\t\r"], 2)
@example(["a\t\t", "\t\tb"], 3)
def test_any_lines_are_split_as_by_python(lines, fields):
    assert_is_split_as_by_python(lines, column(lines), fields)
