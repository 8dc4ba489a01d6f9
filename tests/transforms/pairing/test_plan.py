"""The plan: every line in one unit, in order, read from as near as its blocks allow."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MARK, MemoryCorpus, MemoryFile, corpora, plain_file

from transforms.errors import InputError
from transforms.pairing.plan import LineCounts, block_bytes, cut, make_plan
from transforms.pairing.streams import Shard, Stream

property_test = settings(derandomize=True, deadline=None, max_examples=200)
# A block is no smaller than 16 bytes, so that 1024 is where blocks begin to grow.
range_sizes = st.one_of(st.integers(16, 64), st.integers(65, 3000), st.just(1 << 26))

COMPRESSED = tuple(suffix for suffix in COMPRESS if suffix)


@property_test
@given(corpora(), range_sizes)
def test_every_line_is_in_one_unit_in_order(corpus, range_bytes):
    plan = corpus.plan(range_bytes)
    assert plan.segments == len(corpus.lines(0))
    assert sum(unit.lines for unit in plan.units) == plan.segments
    for stream, files in enumerate(corpus.files):
        expected = [(file.path, line) for file in files for line in range(len(file.lines))]
        planned = []
        for unit in plan.units:
            assert unit.lines == sum(piece.lines for piece in unit.pieces[stream]) > 0
            for piece in unit.pieces[stream]:
                first = piece.first_line
                planned += [(piece.path, first + line) for line in range(piece.lines)]
        assert planned == expected


@property_test
@given(corpora(suffixes=("",)), range_sizes)
def test_a_piece_of_a_plain_file_starts_at_most_a_block_before_its_line(corpus, range_bytes):
    block = block_bytes(range_bytes)
    for unit in corpus.plan(range_bytes).units:
        for piece in (piece for pieces in unit.pieces for piece in pieces):
            file = corpus.file(piece.path)
            starts = file.line_starts()
            line_start = starts[piece.first_line]
            if piece.start == 0:
                assert piece.skip == piece.first_line
            before = file.text[piece.start : line_start]
            assert before.count(b"\n") == piece.skip
            # The newline that ends the line before is in the block that is read first.
            block_text = file.text[piece.start : piece.start + block]
            assert piece.skip <= block_text.count(b"\n")
            assert piece.first_line == 0 or piece.skip >= 1


@property_test
@given(corpora(), range_sizes)
def test_a_unit_of_a_stream_with_compressed_files_takes_whole_files(corpus, range_bytes):
    units = corpus.plan(range_bytes).units
    for stream, files in enumerate(corpus.files):
        if not any(file.suffix for file in files):
            continue
        for unit in units:
            for piece in unit.pieces[stream]:
                assert (piece.start, piece.skip, piece.first_line) == (0, 0, 0)
                assert piece.lines == len(corpus.file(piece.path).lines)


@property_test
@given(corpora(), range_sizes, st.randoms(use_true_random=False))
def test_the_order_of_the_counts_does_not_matter(corpus, range_bytes, generator):
    counts = corpus.counts(range_bytes)
    plan = make_plan(corpus.streams, counts, range_bytes)
    generator.shuffle(counts)
    assert make_plan(corpus.streams, counts, range_bytes) == plan


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_units_start_where_all_compressed_streams_start_a_file(suffix):
    def shards(stream: int, sizes: list[int]) -> tuple[MemoryFile, ...]:
        lines = ["yes", "no"] * (sum(sizes) // 2)
        files = []
        for number, size in enumerate(sizes):
            of_file, lines = tuple(lines[:size]), lines[size:]
            text = "".join(f"{line}\n" for line in of_file).encode()
            files.append(MemoryFile(f"{stream}-{number}{suffix}", of_file, text, suffix))
        return tuple(files)

    # The plain stream is the largest, and has no block that starts at line 1001.
    plain = plain_file("plain", *"x" * 3000)
    corpus = MemoryCorpus((shards(0, [1001, 500, 0, 1499]), shards(1, [1001, 1999]), (plain,)))
    assert [unit.lines for unit in corpus.plan(16).units] == [1001, 1999]
    assert corpus.read(corpus.plan(16), 700) == [corpus.lines(stream) for stream in range(3)]


@pytest.mark.parametrize(
    "longest",
    [(20, 20, 20), (0, 300, 2), (300, 0, 2), (2, 0, 300)],
    ids=["alike", "a long second", "a long first", "a long last"],
)
def test_units_hold_about_as_many_bytes_as_a_range(longest):
    generator = random.Random(3)
    texts = [["x" * generator.randint(0, most) for _ in range(5000)] for most in longest]
    corpus = MemoryCorpus(tuple((plain_file(str(i), *text),) for i, text in enumerate(texts)))
    size = sum(len(file.text) for (file,) in corpus.files)
    range_bytes = 8000
    units = corpus.plan(range_bytes).units
    assert size / range_bytes - 1 <= len(units) <= size / range_bytes + 1
    first = 0
    for unit in units:
        rows = slice(first, first + unit.lines)
        in_unit = sum(len(line) + 1 for text in texts for line in text[rows])
        assert in_unit <= 1.5 * range_bytes
        first += unit.lines


@pytest.mark.parametrize("gigabytes", [1, 4, 20, 100, 1000])
@pytest.mark.parametrize("shards", [1, 50])
def test_a_massive_corpus_is_cut_into_as_many_units_as_it_has_ranges(gigabytes, shards):
    # Counts alone, as workers would send them: two streams of lines of about 100 bytes.
    range_bytes = 1 << 26 if gigabytes < 1000 else 1 << 30
    size = (gigabytes << 30) // shards
    streams = [Stream("references", "r"), Stream("candidates", "c")]
    counts = []
    for stream in range(2):
        for number in range(shards):
            for part in cut(Shard(stream, number, f"{stream}-{number:02}", size), range_bytes):
                blocks = -(-(part.stop - part.start) // block_bytes(range_bytes))
                newlines = np.full(blocks, block_bytes(range_bytes) // 100)
                counts.append(LineCounts(part, newlines, False))
    units = make_plan(streams, counts, range_bytes).units
    expected = 2 * shards * size / range_bytes
    assert 0.9 * expected <= len(units) <= 1.1 * expected
    lines = [unit.lines for unit in units]
    assert max(lines) <= 2.1 * sum(lines) / len(lines)


def test_unequal_streams_are_told_with_every_count():
    corpus = MemoryCorpus(
        (
            (plain_file("r-1", "a", "b"), plain_file("r-2", "c")),
            (plain_file("c", "a", "b", "c", "d"),),
            (plain_file("d", "a", "b", "c"),),
        )
    )
    with pytest.raises(InputError) as error:
        corpus.plan(16)
    assert error.value.cause == (
        "the streams have different numbers of lines: stream 0 (pattern 0): 3; "
        "stream 1 (pattern 1): 4; stream 2 (pattern 2): 3"
    )


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("text", [b"", MARK], ids=["empty", "mark only"])
def test_streams_without_a_line_are_an_empty_corpus(suffix, text):
    def empty(path: str) -> MemoryFile:
        return MemoryFile(path + suffix, (), text, suffix)

    corpus = MemoryCorpus(((empty("r"),), (empty("c-1"), empty("c-2"))))
    with pytest.raises(InputError) as error:
        corpus.plan(16)
    assert error.value.cause == (
        "the corpus is empty: stream 0 (pattern 0), stream 1 (pattern 1) have no line"
    )


def test_a_stream_without_a_line_is_unequal_to_one_with_lines():
    corpus = MemoryCorpus(((plain_file("r", "a"),), (plain_file("c"),)))
    with pytest.raises(InputError, match=r"stream 0 \(pattern 0\): 1; stream 1 \(pattern 1\): 0"):
        corpus.plan(16)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 99, 100, 101, 1000])
@pytest.mark.parametrize("range_bytes", [16, 100])
def test_ranges_cover_a_plain_file_once(size, range_bytes):
    ranges = list(cut(Shard(0, 0, "a.txt", size), range_bytes))
    assert [part.start for part in ranges] == list(range(0, max(size, 1), range_bytes))
    assert [part.stop for part in ranges] == [*(part.start for part in ranges[1:]), size]


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_a_compressed_file_is_one_range(suffix):
    (part,) = cut(Shard(0, 0, "a" + suffix, 5000), 16)
    assert (part.start, part.stop) == (0, 5000)


@pytest.mark.parametrize(
    ("range_bytes", "block"),
    [(16, 16), (1024, 16), (1040, 16), (6400, 100), (1 << 26, 1 << 20)],
)
def test_a_range_has_64_blocks_unless_they_would_be_too_small(range_bytes, block):
    assert block_bytes(range_bytes) == block
