"""The plan: every line is in one portion, in order, and is read from the nearest possible block."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_corpus import MARK, MemoryCorpus, corpora, plain_file

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import (
    LineCounts,
    block_bytes,
    cut,
    longest_first,
    range_bytes_for,
)
from beam_bleu.transforms.pairing.lines.plan import make_plan

property_test = settings(derandomize=True, deadline=None, max_examples=40)
# A block is no smaller than 16 bytes, so that 1024 is where blocks begin to grow.
range_sizes = st.one_of(st.integers(16, 64), st.integers(65, 3000), st.just(1 << 26))


@property_test
@given(corpora(), range_sizes, st.randoms(use_true_random=False))
def test_every_line_is_in_one_portion_in_order(corpus, range_bytes, generator):
    counts = corpus.counts(range_bytes)
    generator.shuffle(counts)
    plan = make_plan(corpus.streams, counts, "any")
    portions = list(plan.portions())
    assert portions == list(corpus.plan(range_bytes).portions())  # whatever the counts' order
    assert plan.segments == len(corpus.lines(0))
    assert sum(portion.lines for portion in portions) == plan.segments
    assert portions[0].first_line == 0
    read = plan.portions_to_read()  # in another order
    assert sorted(read, key=lambda portion: portion.first_line) == portions
    for portion, following in itertools.pairwise(portions):
        assert following.first_line == portion.first_line + portion.lines
    for stream, files in enumerate(corpus.files):
        expected = [(file.path, line) for file in files for line in range(len(file.lines))]
        planned = []
        pieces = [piece for portion in portions for piece in portion.pieces[stream]]
        opened = [piece.file.path for piece in pieces]
        for file in files:
            # Also an empty file, so that the job notices if it gets lines in the meantime.
            assert opened.count(file.path) == 1 if not file.lines else file.path in opened
        for portion in portions:
            assert portion.lines == sum(piece.lines for piece in portion.pieces[stream]) > 0
        for piece in pieces:
            lines = range(piece.first_line, piece.first_line + piece.lines)
            planned += [(piece.file.path, line) for line in lines]
            if any(file.suffix for file in files):  # compressed files are read as a whole
                assert (piece.start, piece.skip, piece.first_line) == (0, 0, 0)
                assert piece.lines == len(corpus.file(piece.file.path).lines)
        assert planned == expected


@property_test
@given(corpora(suffixes=("",)), range_sizes)
def test_a_piece_of_a_plain_file_starts_at_most_a_block_before_its_line(corpus, range_bytes):
    block = block_bytes(range_bytes)
    for portion in corpus.plan(range_bytes).portions():
        for piece in (piece for pieces in portion.pieces for piece in pieces):
            file = corpus.file(piece.file.path)
            if not file.lines:
                assert (piece.start, piece.lines) == (0, 0)
                continue
            mark = len(MARK) if file.text.startswith(MARK) else 0
            lines = file.lines[: piece.first_line]
            line_start = mark + sum(len(line.encode()) + 1 for line in lines)
            if piece.start == 0:
                assert piece.skip == piece.first_line
            before = file.text[piece.start : line_start]
            assert before.count(b"\n") == piece.skip
            # The newline that ends the previous line is in the block that is read first.
            block_text = file.text[piece.start : piece.start + block]
            assert piece.skip <= block_text.count(b"\n")
            assert piece.first_line == 0 or piece.skip >= 1


@pytest.mark.parametrize("longest", [(20, 20, 20), (0, 300, 2)], ids=["alike", "a long one"])
def test_a_portion_is_about_as_large_as_a_range(longest):
    generator = random.Random(3)
    texts = [["x" * generator.randint(0, most) for _ in range(5000)] for most in longest]
    corpus = MemoryCorpus(tuple((plain_file(str(i), *text),) for i, text in enumerate(texts)))
    size = sum(len(file.text) for (file,) in corpus.files)
    range_bytes = 8000
    portions = list(corpus.plan(range_bytes).portions())
    assert size / range_bytes - 1 <= len(portions) <= size / range_bytes + 1
    first = 0
    for portion in portions:
        rows = slice(first, first + portion.lines)
        in_portion = sum(len(line) + 1 for text in texts for line in text[rows])
        assert in_portion <= 1.5 * range_bytes
        first += portion.lines


@pytest.mark.parametrize("sizes", [[100] * 2000, [60_000_000]], ids=["tiny", "large"])
def test_a_portion_has_a_limited_number_of_tiny_files(sizes):
    # Opening a file costs time, too: 2,000 files of 100 bytes are not one portion.
    range_bytes = 1 << 26
    counts = []
    for stream, of_stream in enumerate([[100] * 2000, sizes]):
        for number, size in enumerate(of_stream):
            file = FoundFile(f"{stream}-{number:05}", size)
            (part,) = cut(Shard(stream, number, file), range_bytes)
            blocks, lines = -(-size // block_bytes(range_bytes)), 2000 // len(of_stream)
            newlines = np.diff(np.arange(blocks + 1) * lines // blocks)
            counts.append(LineCounts(part, newlines, False))
    plan = make_plan([Stream("references", "r"), Stream("candidates", "c")], counts)
    portions = list(plan.portions())
    assert sum(portion.lines for portion in portions) == 2000
    assert max(len(pieces) for portion in portions for pieces in portion.pieces) <= 64


@property_test
@given(corpora(), st.data())
def test_counts_that_were_lost_or_repeated_fail_the_plan(corpus, data):
    # Even if they were lost in all streams, so that the line numbers still agree.
    counts = corpus.counts(20)
    lost = data.draw(st.integers(0, len(counts) - 1))
    repeated = data.draw(st.integers(0, len(counts) - 1))
    first_shards = [count for count in counts if count.range.shard.number == 0]
    for wrong in (
        counts[:lost] + counts[lost + 1 :],
        [*counts, counts[repeated]],
        [],
        first_shards if len(first_shards) < len(counts) else [],
    ):
        with pytest.raises(JobError, match="not every byte was counted exactly once"):
            make_plan(corpus.streams, wrong)


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
