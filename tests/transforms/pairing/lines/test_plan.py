"""Streams correspond, and the plan has each line in one portion, read from the nearest block."""

from __future__ import annotations

import gzip
import io
import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_corpus import MARK, MemoryCorpus, MemoryFile, corpora

from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream, shards_in_order
from beam_bleu.transforms.pairing.lines.correspondence import (
    nul_notices,
    order_notes,
    require_equal_line_counts,
    require_same_lines,
    require_same_shards,
)
from beam_bleu.transforms.pairing.lines.line_counting import (
    LineCounts,
    block_bytes,
    count_lines,
    cut,
    longest_first,
    range_bytes_for,
)
from beam_bleu.transforms.pairing.lines.plan import make_plan

# A block is no smaller than 16 bytes, so that 1024 is where blocks begin to grow.
range_sizes = st.one_of(st.integers(16, 64), st.integers(65, 3000), st.just(1 << 26))


@settings(max_examples=40)
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
        pieces = [piece for portion in portions for piece in portion.pieces[stream]]
        opened = [piece.file.path for piece in pieces]
        for file in files:
            # Also an empty file, so that the job notices if it gets lines in the meantime.
            assert opened.count(file.path) == 1 if not file.lines else file.path in opened
        for portion in portions:
            assert portion.lines == sum(piece.lines for piece in portion.pieces[stream]) > 0
        for piece in pieces:
            if any(file.suffix for file in files):  # compressed files are read as a whole
                assert (piece.start, piece.skip, piece.first_line) == (0, 0, 0)
                assert piece.lines == len(corpus.file(piece.file.path).lines)


@settings(max_examples=40)
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
    data = ["".join(f"{line}\n" for line in text).encode() for text in texts]
    files = [MemoryFile(str(i), tuple(text), data[i]) for i, text in enumerate(texts)]
    corpus = MemoryCorpus(tuple((file,) for file in files))
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
            counts.append(LineCounts(part, newlines, b"\n"))
    plan = make_plan([Stream("references", "r"), Stream("candidates", "c")], counts)
    portions = list(plan.portions())
    assert sum(portion.lines for portion in portions) == 2000
    assert max(len(pieces) for portion in portions for pieces in portion.pieces) <= 64


@settings(max_examples=40)
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


STREAMS = [
    Stream("references", "r/*"),
    Stream("candidates a", "a/*"),
    Stream("candidates b", "b/*"),
]


def shards(*streams: str) -> list[list[Shard]]:
    """The shards of streams whose paths are written as words, in any order."""
    return [
        shards_in_order(i, STREAMS[i], [FoundFile(path, 1) for path in paths.split()])
        for i, paths in enumerate(streams)
    ]


def test_shards_correspond_or_those_that_are_missing_are_named():
    require_same_shards(STREAMS, shards("whole", "a/p10 a/p1 a/p2", "b/1.gz b/2.gz b/10.gz"))
    require_same_shards(STREAMS, shards("r/x r/y", "whole", "b/x b/y"))
    for one, other, missing in (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-2 a/p-3", ["r/p-1", "a/p-3"]),
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-1", ["r/p-2"]),
        (" ".join(f"r/{i}" for i in range(9)), "a/0 a/8", ["r/1", "r/2", "r/3", "7 of"]),
        ("r/x_de r/x-b_de", "a/x a/x-b", ["candidates a", "references", "order"]),
    ):
        with pytest.raises(InputError) as error:
            require_same_shards(STREAMS, shards(one, other))
        assert all(name in error.value.cause for name in missing)
        assert "--cuts any" in error.value.remedy


def test_shards_must_have_the_same_numbers_of_lines():
    of_three = shards("r/0 r/1", "whole", "b/0 b/1")
    require_same_lines(STREAMS, of_three, [[5, 6], [12], [5, 6]])
    require_same_lines(STREAMS, shards("r/0 r/1", "whole"), [[5, 6], [11]])
    require_same_lines(STREAMS, shards("one", "two"), [[5], [6]])  # named with the streams
    names = [" ".join(f"{name}/part-{i}" for i in range(1, 11)) for name in "ra"]
    with pytest.raises(InputError) as error:
        require_same_lines(STREAMS, shards(*names), [[1] * 10, [1, 1200] * 5])
    said = "shard 2 has 1 line in references, 1,200 in candidates a: r/part-2, a/part-2"
    assert error.value.cause.startswith("5 of 10 shards do not have the same number of lines")
    assert error.value.cause.endswith(said)


def test_shards_in_another_order_than_that_of_cat_are_told_if_a_stream_is_one_file():
    numbers, padded = (" ".join(f"a/p{i:{form}}" for i in range(1, 11)) for form in ("", "02"))
    (note,) = order_notes(STREAMS, shards("r/whole", numbers, numbers.replace("a/", "b/")))
    assert note == (
        "candidates a: the 10 shards are not read in the order of `cat`, but a/p2 before a/p10; "
        "check the order of the lines of references (r/*)"
    )
    assert order_notes(STREAMS[:2], shards("r/whole", padded)) == ()
    assert order_notes(STREAMS[:2], shards(numbers, numbers)) == ()


def test_the_message_begins_with_the_stream_that_is_unlike_the_others():
    streams = [*(Stream(f"candidates {i}", f"/data/{i}") for i in range(20)), STREAMS[0]]
    for lines, cause in (
        ([71] + [72] * 20, "candidates 0 have 71 lines, candidates 1 have 72: /data/0, /data/1"),
        ([1, 72], "candidates 19 have 1 line, references have 72: /data/19, r/*"),
        ([72, 72, 71], "references have 71 lines, candidates 18 have 72: r/*, /data/18"),
        (
            [0] * 21,
            "the corpus is empty, no stream has a line: /data/0, /data/1, /data/2, /data/3 and 17",
        ),
    ):
        with pytest.raises(InputError) as error:
            require_equal_line_counts(streams[-len(lines) :], lines)
        assert error.value.cause.startswith(cause)


LATIN = "".join(f"a plain sentence of text, number {i}\n" for i in range(40))


def counted(*texts: bytes, range_bytes: int = 64, suffix: str = "") -> list[LineCounts]:
    """The counts of each text, as the files of the first stream."""
    return [
        count_lines(STREAMS[0], part, lambda path, text=text: io.BytesIO(text))
        for number, text in enumerate(texts)
        for part in cut(
            Shard(0, number, FoundFile(f"/data/{number}{suffix}", len(text))), range_bytes
        )
    ]


def test_utf_16_and_utf_32_without_a_mark_are_bad_data():
    thai, malayalam = "ประโยคภาษาไทยที่ไม่มีช่องว่าง\n" * 40, "ഒരുവാക്യം\n" * 40
    encodings = ["utf-16-le", "utf-16-be", "utf-32-le"]
    for encoding, text in itertools.product(encodings, (LATIN, thai, malayalam)):
        with pytest.raises(InputError, match=": /data/1"):  # one bad shard among good ones
            nul_notices(STREAMS, counted(LATIN.encode() * 50, text.encode(encoding)))
    bad = gzip.compress(LATIN.encode("utf-16-le"))  # judged by its text
    with pytest.raises(InputError, match=r"\d+ of \d+ bytes are NUL .*: /data/0\.gz"):
        nul_notices(STREAMS, counted(bad, suffix=".gz"))


def test_a_rare_nul_is_counted_whatever_the_ranges():
    text = LATIN.replace("number 7", "number\x007\x00").encode()
    for range_bytes in (16, 1000, 1 << 26):
        (warning,) = sentences(nul_notices(STREAMS, counted(text, range_bytes=range_bytes)))
        assert warning.startswith("references: the text has 2 NUL characters (U+0000)")
