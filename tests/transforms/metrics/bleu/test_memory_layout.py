"""The counts do not depend on the place and the layout of the texts in memory."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import hostile_segment
from sacrebleu_counts import EVERY_TOKENIZATION, assert_same, counted, integers, name
from scoring import statistics_of

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


@pytest.fixture(scope="module")
def layout_segments():
    rng = random.Random(11)
    segments = [hostile_segment(rng) for _ in range(500)]
    return [(candidate, (references + [None] * 4)[:4]) for candidate, references in segments]


def sliced(texts):
    """The column as a slice of a larger array. Its validity bits begin within a byte."""
    around = ["5", None, "&amp;", "", "-", "."]
    column = pa.array([*around, *around, "b", *texts, "5", None, "amp;"], pa.large_string())
    return column.slice(13, len(texts))


def sliced_twice(texts):
    return sliced([*texts, "x"]).slice(0, len(texts) + 1).slice(0, len(texts))


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


@pytest.mark.parametrize(
    "layout", [sliced, sliced_twice, with_nothing_after, with_text_under_nulls], ids=name
)
@pytest.mark.parametrize("config", EVERY_TOKENIZATION, ids=name)
def test_the_memory_layout_of_columns_does_not_matter(layout, config, layout_segments):
    candidates = [candidate for candidate, _ in layout_segments]
    references = list(zip(*(references for _, references in layout_segments), strict=True))
    batch = SegmentBatch((layout(candidates),), tuple(layout(list(texts)) for texts in references))
    assert any(column.null_count for column in batch.references)
    statistics = statistics_of(batch, config)
    expected = counted(layout_segments, config)
    assert_same(layout_segments, config, integers(statistics)[0], expected)
    assert statistics.candidate_bytes[0].tolist() == [len(text.encode()) for text in candidates]
    assert statistics.reference_bytes.tolist() == [
        sum(len(text.encode()) for text in references if text is not None)
        for _, references in layout_segments
    ]
