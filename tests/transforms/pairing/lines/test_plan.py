"""The plan: every line is in one portion, in order, and is read from the nearest possible block."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MemoryCorpus, corpora, plain_file

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import LineCounts, block_bytes, cut
from beam_bleu.transforms.pairing.lines.plan import make_plan

property_test = settings(derandomize=True, deadline=None, max_examples=60)
# A block is no smaller than 16 bytes, so that 1024 is where blocks begin to grow.
range_sizes = st.one_of(st.integers(16, 64), st.integers(65, 3000), st.just(1 << 26))

COMPRESSED = tuple(suffix for suffix in COMPRESS if suffix)


@property_test
@given(corpora(), range_sizes)
def test_every_line_is_in_one_portion_in_order(corpus, range_bytes):
    plan = corpus.plan(range_bytes)
    portions = list(plan.portions())
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
        opened = [piece.file.path for portion in portions for piece in portion.pieces[stream]]
        for file in files:
            # Also an empty file, so that the job notices if it gets lines in the meantime.
            assert opened.count(file.path) == 1 if not file.lines else file.path in opened
        for portion in portions:
            assert portion.lines == sum(piece.lines for piece in portion.pieces[stream]) > 0
            for piece in portion.pieces[stream]:
                first = piece.first_line
                planned += [(piece.file.path, first + line) for line in range(piece.lines)]
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
            starts = file.line_starts()
            line_start = starts[piece.first_line]
            if piece.start == 0:
                assert piece.skip == piece.first_line
            before = file.text[piece.start : line_start]
            assert before.count(b"\n") == piece.skip
            # The newline that ends the previous line is in the block that is read first.
            block_text = file.text[piece.start : piece.start + block]
            assert piece.skip <= block_text.count(b"\n")
            assert piece.first_line == 0 or piece.skip >= 1


@property_test
@given(corpora(), range_sizes)
def test_a_portion_of_a_stream_with_compressed_files_takes_whole_files(corpus, range_bytes):
    portions = list(corpus.plan(range_bytes).portions())
    for stream, files in enumerate(corpus.files):
        if not any(file.suffix for file in files):
            continue
        for portion in portions:
            for piece in portion.pieces[stream]:
                assert (piece.start, piece.skip, piece.first_line) == (0, 0, 0)
                assert piece.lines == len(corpus.file(piece.file.path).lines)


@property_test
@given(corpora(), range_sizes, st.randoms(use_true_random=False))
def test_the_order_of_the_counts_does_not_matter(corpus, range_bytes, generator):
    counts = corpus.counts(range_bytes)
    portions = list(make_plan(corpus.streams, counts, "any").portions())
    generator.shuffle(counts)
    assert list(make_plan(corpus.streams, counts, "any").portions()) == portions


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


@pytest.mark.parametrize("sizes", [[100] * 20_000, [60_000_000]], ids=["tiny", "large"])
def test_a_portion_has_a_limited_number_of_tiny_files(sizes):
    # Opening a file costs time, too: 20,000 files of 100 bytes are not one portion.
    range_bytes = 1 << 26
    counts = []
    for stream, of_stream in enumerate([[100] * 20_000, sizes]):
        for number, size in enumerate(of_stream):
            (part,) = cut(
                Shard(stream, number, FoundFile(f"{stream}-{number:05}", size)), range_bytes
            )
            blocks = -(-size // block_bytes(range_bytes))
            lines = 20_000 // len(of_stream)
            newlines = np.diff(np.arange(blocks + 1) * lines // blocks)
            counts.append(LineCounts(part, newlines, False))
    portions = list(
        make_plan([Stream("references", "r"), Stream("candidates", "c")], counts).portions()
    )
    assert sum(portion.lines for portion in portions) == 20_000
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
