"""What is counted beside n-grams, and the segments that are refused."""

import numpy as np
import pyarrow as pa
import pytest
from scoring import statistics_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch


def test_statistics_have_references_and_bytes_of_each_segment():
    batch = to_batch([("é!", ["ab", None]), ("", ["", "日本"]), ("ÀB", ["x"])])
    statistics = statistics_of(batch, BleuConfig(lowercase=True))
    assert statistics.reference_counts.tolist() == [1, 2, 1]
    assert statistics.candidate_bytes.tolist() == [[3, 0, 3]]
    assert statistics.reference_bytes.tolist() == [2, 6, 1]


def test_a_segment_without_any_reference_is_an_error():
    column = pa.array(["a", "b"], pa.large_string())
    references = (pa.array(["a", None], pa.large_string()), pa.array([None, None], column.type))
    with pytest.raises(InputError, match="a segment has no reference"):
        statistics_of(SegmentBatch((column,), references), BleuConfig())
    with pytest.raises(InputError, match="segment 9 has no reference"):
        statistics_of(SegmentBatch((column,), references, np.array([7, 8])), BleuConfig())


def test_a_segment_of_two_gigabytes_is_an_error():
    # The 32 texts of the segment are all the same 64 MiB in memory.
    text = np.zeros(2**26 + 128, np.uint8)
    offsets = pa.py_buffer(np.array([0, 0, 2**26]))
    column = pa.LargeStringArray.from_buffers(2, offsets, pa.py_buffer(text))
    error = f"has {2**31} bytes of text; {2**31 - 1} is the most"
    with pytest.raises(InputError, match=f"a segment {error}"):
        statistics_of(SegmentBatch((column,), (column,) * 31), BleuConfig("none"))
    with pytest.raises(InputError, match=f"segment 1002 {error}"):
        statistics_of(
            SegmentBatch((column,), (column,) * 31, np.array([1000, 1001])), BleuConfig("none")
        )
