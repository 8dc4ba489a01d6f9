"""The sizes of texts are those that Python finds, and columns must have the same length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import find_sizes, padded, spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import count_batch

TEXTS = st.one_of(st.none(), st.text(max_size=9))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 3), st.integers(1, 3), st.integers(0, 5), st.data())
def test_sizes(references, systems, rows, data) -> None:
    """Also of missing references, and of a batch without segments."""
    texts = [data.draw(st.lists(TEXTS, min_size=rows, max_size=rows)) for _ in range(references)]
    texts += [
        data.draw(st.lists(st.text(max_size=9), min_size=rows, max_size=rows))
        for _ in range(systems)
    ]
    columns = [padded(pa.array(column, pa.large_string())) for column in texts]
    found = find_sizes(spans(columns), references)
    sizes = np.array([[len((text or "").encode()) for text in column] for column in texts])
    sizes = sizes.reshape(len(texts), rows)
    assert np.array_equal(found.candidate_bytes, sizes[references:])
    assert np.array_equal(found.reference_bytes, sizes[:references].sum(axis=0))
    counts = [sum(column[row] is not None for column in texts[:references]) for row in range(rows)]
    assert found.reference_counts.tolist() == counts
    assert found.bare_row == (counts.index(0) if 0 in counts else -1)
    if rows:
        of_segments = sizes.sum(axis=0).tolist()
        assert (found.longest, found.longest_row) == (
            max(of_segments),
            of_segments.index(max(of_segments)),
        )


def test_columns_of_different_lengths_are_refused() -> None:
    """Compiled code would read other memory."""
    for candidates, references in [(3, 1), (1, 3), (2, 3), (0, 1)]:
        one, other = (
            pa.array(["a"] * rows, pa.large_string()) for rows in (candidates, references)
        )
        with pytest.raises(ValueError, match="rows"):
            count_batch(SegmentBatch((one,), (other,)), BleuConfig("none").text, BleuConfig())
        with pytest.raises(ValueError, match="rows"):
            count_batch(SegmentBatch((one,), (one, other)), BleuConfig("none").text, BleuConfig())
