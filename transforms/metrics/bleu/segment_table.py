"""The table with BLEU of each segment by itself, for every system of a batch.

With sacreBLEU's smoothing methods the scores equal those of its `sentence_score`. With NLTK's
methods they equal its `sentence_bleu` times 100.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns, width
from beam_bleu.transforms.metrics.bleu.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.row_scores import row_scores
from beam_bleu.transforms.metrics.bleu.scoring import Scoring, counted_order
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns


def bleu_table_schema(scoring: Scoring, labels: Sequence[str] = ()) -> pa.Schema:
    """The columns of the table. Only `score`, if it is not defined, and labels can be null.

    Args:
      scoring: the scoring of a segment.
      labels: the names of the labels. They are the last columns.
    """
    integers = pa.list_(pa.field("element", pa.int64(), nullable=False))
    ref_len = pa.float64() if _is_divided(scoring) else pa.int64()
    return pa.schema(
        [
            pa.field("index", pa.int64(), nullable=False),
            pa.field("system", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("score", pa.float64()),
            pa.field("sys_len", pa.int64(), nullable=False),
            pa.field("ref_len", ref_len, nullable=False),
            pa.field("matches", integers, nullable=False),
            pa.field("totals", integers, nullable=False),
            *(pa.field(name, pa.string()) for name in labels),
        ]
    )


def bleu_table(
    statistics: BatchStatistics, scoring: Scoring, labels: Sequence[str] = ()
) -> pa.Table:
    """The scores of a batch: a row for each segment and system, system by system.

    Args:
      statistics: the statistics of the batch, of the scoring's `counted_order` or a higher one.
      scoring: the scoring of a segment (see `Scoring.for_segments`).
      labels: the names of the columns of `BatchStatistics.labels`.

    Returns:
      A table of (systems * segments) rows: `index`, the segment's number; `system`, the
      system's name; `score`, 0..100, null if the smoothing is not defined; `sys_len` and
      `ref_len`, in tokens; `matches` and `totals`, N integers before smoothing; and the labels.

    Raises:
      ValueError: the statistics have a lower n-gram order than the scoring needs, or their
        segments have no numbers.
    """
    if statistics.numbers is None:
        raise ValueError("segments without numbers have no rows: set the numbers of the batch")
    counts, needed = statistics.counts, counted_order([scoring])
    columns = BleuColumns(np.moveaxis(counts, 2, 0))
    if columns.max_order < needed:
        raise ValueError(
            f"statistics of order {columns.max_order} cannot be scored by a definition "
            f"that needs order {needed}"
        )
    systems = len(statistics.systems)
    rows = systems * len(statistics)
    orders = scoring.max_ngram_order
    scores = row_scores(counts.reshape(rows, counts.shape[2]), scoring)
    ref_len, divisor = columns.reference_length(scoring.reference_length)
    matches = np.stack(columns.matches[:orders], axis=-1)
    totals = np.maximum(columns.candidate_length[..., np.newaxis] - np.arange(orders), 0)
    bounds = pa.array(np.arange(0, rows * orders + 1, orders, dtype=np.int32))
    schema = bleu_table_schema(scoring, labels)
    integers = schema.field("matches").type
    of_system = np.repeat(np.arange(systems, dtype=np.int32), len(statistics))
    names = pa.array(statistics.systems, pa.string())
    arrays = [
        np.tile(statistics.numbers, systems),
        pa.DictionaryArray.from_arrays(pa.array(of_system), names),
        pa.array(scores, from_pandas=True),  # from_pandas: NaN becomes null
        columns.candidate_length.ravel(),
        (ref_len / divisor if _is_divided(scoring) else ref_len).ravel(),
        *(pa.ListArray.from_arrays(bounds, shown.ravel(), integers) for shown in (matches, totals)),
        *(pa.concat_arrays([column.cast(pa.string())] * systems) for column in statistics.labels),
    ]
    return pa.table(arrays, schema=schema)


def _is_divided(scoring: Scoring) -> bool:
    """Whether the length of a segment's references is divided by their number."""
    return REFERENCE_LENGTHS[scoring.reference_length].divided


def compile_bleu_table(scoring: Scoring) -> None:
    """Compiles the code that scores segments, or loads it, unless this process has done so."""
    one = np.ones(1, np.int64)
    counts = np.zeros((1, 1, width(counted_order([scoring]))), np.int64)
    signs = BatchSigns.none(systems=1, reference_count=1, segments=1)
    statistics = BatchStatistics(counts, one, one[None], one, signs, ("a",), numbers=one)
    bleu_table(statistics, scoring)
