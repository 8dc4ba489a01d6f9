"""The whole command with a kernel that does nothing, to measure everything else.

    python -m benchmarks.speed.without_kernel FLAGS...

The flags are those of beam-bleu. A batch is counted only if it has more rows than all batches
before it. All others get the integers of the first rows of the largest batch, so the scores are
wrong.
"""

from __future__ import annotations

import dataclasses
import threading

import numpy as np

from beam_bleu.pipeline.main import command
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.statistics import counting
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.text.text import Text

_count = counting.PreparedBatch.count
_counted: dict[tuple[int, int, Metric], BatchStatistics] = {}
_LOCK = threading.Lock()


def count_nothing(prepared: counting.PreparedBatch, text: Text, metric: Metric) -> BatchStatistics:
    """Statistics of the right size, usually those of another batch."""
    batch = prepared.batch
    kind = len(batch.candidates), len(batch.references), metric
    with _LOCK:  # several threads count
        counted = _counted.get(kind)
        if counted is None or len(counted) < len(batch):
            counted = _counted[kind] = _count(prepared, text, metric)
    return dataclasses.replace(
        _first_rows(counted, len(batch)),
        systems=batch.systems,
        numbers=batch.numbers,
        groups=batch.groups,
        labels=batch.labels,
    )


def _first_rows(statistics: BatchStatistics, rows: int) -> BatchStatistics:
    """The statistics of the first rows, in arrays of the usual layout."""
    signs = {
        field.name: np.ascontiguousarray(getattr(statistics.signs, field.name)[..., :rows])
        for field in dataclasses.fields(statistics.signs)
    }
    return dataclasses.replace(
        statistics,
        counts=np.ascontiguousarray(statistics.counts[:, :rows]),
        lengths=None if statistics.lengths is None else statistics.lengths[:rows],
        reference_counts=statistics.reference_counts[:rows],
        candidate_bytes=np.ascontiguousarray(statistics.candidate_bytes[:, :rows]),
        reference_bytes=statistics.reference_bytes[:rows],
        signs=BatchSigns(**signs),
    )


def _main() -> None:
    setattr(counting.PreparedBatch, "count", count_nothing)  # noqa: B010 - mypy
    command()


if __name__ == "__main__":
    _main()
