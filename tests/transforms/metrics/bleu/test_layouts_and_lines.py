"""Counts depend neither on the layout of texts in memory nor on their length; what is refused."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import hostile_segment
from sacrebleu_counts import EVERY_TOKENIZATION, counted, integers
from scoring import assert_same_rows, statistics_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch


def test_threads_count_at_the_same_time():
    rng = random.Random(9)
    batches = [to_batch([hostile_segment(rng) for _ in range(2000)]) for _ in range(8)]
    config = BleuConfig(lowercase=True)
    with ThreadPoolExecutor(4) as pool:
        threaded = list(pool.map(lambda batch: integers(statistics_of(batch, config)), batches))
    for batch, ours in zip(batches, threaded, strict=True):
        assert (ours == integers(statistics_of(batch, config))).all()


def sliced(texts):
    """The column as a slice of a larger array. Its validity bits begin within a byte."""
    around = ["5", None, "&amp;", "", "-", "."]
    column = pa.array([*around, *around, "b", *texts, "5", None, "amp;"], pa.large_string())
    return column.slice(13, len(texts))


def with_nothing_after(texts):
    """The column with buffers that end at the last byte of the last text."""
    column = pa.array(texts, pa.large_string())
    validity, offsets, data = column.buffers()
    size = np.frombuffer(offsets, np.int64)[len(texts)]
    exact = pa.py_buffer(bytes(data)[:size])
    return pa.LargeStringArray.from_buffers(len(texts), offsets, exact, validity)


def with_text_under_nulls(texts):
    """The column with text in the bytes of nulls. Arrow allows any bytes there."""
    column = pa.array([text if text is not None else "aΣİ 5." for text in texts], pa.large_string())
    validity = pa.array(texts, pa.large_string()).buffers()[0]
    _, offsets, data = column.buffers()
    return pa.LargeStringArray.from_buffers(len(texts), offsets, data, validity)


@pytest.mark.parametrize("layout", [sliced, with_nothing_after, with_text_under_nulls])
def test_the_memory_layout_of_columns_does_not_matter(layout):
    rng = random.Random(11)
    segments = [hostile_segment(rng) for _ in range(500)]
    segments = [(candidate, (references + [None] * 4)[:4]) for candidate, references in segments]
    candidates = [candidate for candidate, _ in segments]
    references = list(zip(*(references for _, references in segments), strict=True))
    batch = SegmentBatch((layout(candidates),), tuple(layout(list(texts)) for texts in references))
    assert any(column.null_count for column in batch.references)
    sizes = [[len((text or "").encode()) for text in references] for _, references in segments]
    for config in EVERY_TOKENIZATION:
        statistics = statistics_of(batch, config)
        assert_same_rows(segments, integers(statistics)[0], counted(segments, config))
        assert statistics.candidate_bytes[0].tolist() == [len(text.encode()) for text in candidates]
        assert statistics.reference_bytes.tolist() == list(map(sum, sizes))


def test_a_segment_without_any_reference_is_an_error():
    column = pa.array(["a", "b"], pa.large_string())
    references = (pa.array(["a", None], pa.large_string()), pa.array([None, None], column.type))
    for numbers, which in ((None, "a segment"), (np.array([7, 8]), "segment 9")):
        with pytest.raises(InputError, match=f"{which} has no reference"):
            statistics_of(SegmentBatch((column,), references, numbers), BleuConfig())


def test_a_segment_of_two_gigabytes_is_an_error():
    # The 32 texts of the segment are all the same 64 MiB in memory.
    text = np.zeros(2**26 + 128, np.uint8)
    offsets = pa.py_buffer(np.array([0, 0, 2**26]))
    column = pa.LargeStringArray.from_buffers(2, offsets, pa.py_buffer(text))
    batch = SegmentBatch((column,), (column,) * 31, np.array([1000, 1001]))
    error = f"segment 1002 has {2**31} bytes of text; {2**31 - 1} is the most"
    with pytest.raises(InputError, match=error):
        statistics_of(batch, BleuConfig("none"))


MEGABYTES_10 = 10_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "reference", "length", "matches"),
    [
        # Every symbol is a token, so all n-grams of the shorter text match.
        ("!" * MEGABYTES_10, "!" * (MEGABYTES_10 - 5), MEGABYTES_10, MEGABYTES_10 - 5),
        # One token.
        ("a" * MEGABYTES_10, "a" * MEGABYTES_10, 1, 1),
        ("a" * MEGABYTES_10, "a" * (MEGABYTES_10 - 1) + "b", 1, 0),
        # An even number of points: the last joins the digit after it, the others are alone.
        ("." * MEGABYTES_10 + "5", "...x", MEGABYTES_10, 3),
        # ... but not after a digit.
        ("5" + "." * MEGABYTES_10 + "5", "...5", MEGABYTES_10 + 2, 4),
        # Every hyphen is removed together with its newline.
        ("-\n" * (MEGABYTES_10 // 2) + "a", "a", 1, 1),
        (" " * MEGABYTES_10, "a", 0, 0),
    ],
    ids=["symbols", "token", "tokens", "even run", "digit and even run", "line ends", "blank"],
)
def test_degenerate_lines_of_ten_megabytes_are_exact(candidate, reference, length, matches):
    ours = counted([(candidate, [reference])], BleuConfig())[0]
    assert ours[0] == length
    assert ours[2:6].tolist() == [max(matches - n, 0) for n in range(4)]
