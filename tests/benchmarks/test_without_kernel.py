"""The kernel that does nothing counts only a few batches, also if all have different sizes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import PreparedBatch
from benchmarks.speed import without_kernel


def test_only_batches_larger_than_all_before_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    count = without_kernel._count

    def watched(prepared, text, counter):
        counted.append(len(prepared.batch))
        return count(prepared, text, counter)

    monkeypatch.setattr(without_kernel, "_count", watched)
    monkeypatch.setattr(without_kernel, "_counted", {})
    column = pa.array(["a b c"] * 100, pa.large_string())
    for rows in (90, 80, 100, 99, 1, 100):
        texts = (column.slice(0, rows), column.slice(0, rows))
        batch = SegmentBatch(texts, texts)
        prepared = PreparedBatch(batch)
        given = without_kernel.count_nothing(prepared, BleuConfig().text, BleuCounter(4))
        real = count(prepared, BleuConfig().text, BleuCounter(4))
        assert given.counts.tolist() == real.counts.tolist()
        assert given.counts.flags.c_contiguous
        assert given.signs.identical.shape == real.signs.identical.shape
        assert given.nbytes == real.nbytes
    assert counted == [90, 100]
