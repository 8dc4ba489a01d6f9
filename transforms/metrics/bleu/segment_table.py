"""The columns of BLEU of each segment by itself, for every system of a batch.

With sacreBLEU's smoothing methods the scores equal those of its `sentence_score`. With NLTK's
methods they equal its `sentence_bleu` times 100.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns
from beam_bleu.transforms.metrics.bleu.metric import Bleu
from beam_bleu.transforms.metrics.bleu.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.row_scores import row_scores
from beam_bleu.transforms.metrics.bleu.scoring import Scoring, counted_order
from beam_bleu.transforms.score.segment_table import INTEGERS, list_array
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics


def bleu_segment_fields(metric: Bleu) -> Mapping[str, pa.DataType]:
    """The columns that only BLEU has, with their types.

    `sys_len` and `ref_len` are in tokens; `matches` and `totals` are N integers before smoothing.
    """
    ref_len = pa.float64() if _is_divided(metric.scoring) else pa.int64()
    return {"sys_len": pa.int64(), "ref_len": ref_len, "matches": INTEGERS, "totals": INTEGERS}


def bleu_segment_columns(statistics: BatchStatistics, metric: Bleu) -> Mapping[str, Any]:
    """The scores of a batch: a row for each segment and system, system by system.

    Args:
      statistics: the statistics of the batch, of the scoring's `counted_order` or a higher one.
      metric: BLEU of a segment (see `Scoring.for_segments`).

    Returns:
      `score`, 0..100, null if the smoothing is not defined, and the columns of
      `bleu_segment_fields`: (systems * segments) values each.

    Raises:
      ValueError: the statistics have a lower n-gram order than the scoring needs.
    """
    scoring = metric.scoring
    counts, needed = statistics.counts, counted_order([scoring])
    columns = BleuColumns(np.moveaxis(counts, 2, 0))
    if columns.max_order < needed:
        raise ValueError(
            f"statistics of order {columns.max_order} cannot be scored by a definition "
            f"that needs order {needed}"
        )
    orders = scoring.max_ngram_order
    scores = row_scores(counts.reshape(-1, counts.shape[2]), scoring)
    ref_len, divisor = columns.reference_length(scoring.reference_length)
    totals = np.maximum(columns.candidate_length[..., np.newaxis] - np.arange(orders), 0)
    return {
        "score": pa.array(scores, from_pandas=True),  # from_pandas: NaN becomes null
        "sys_len": columns.candidate_length.ravel(),
        "ref_len": (ref_len / divisor if _is_divided(scoring) else ref_len).ravel(),
        "matches": list_array(np.stack(columns.matches[:orders], axis=-1)),
        "totals": list_array(totals),
    }


def _is_divided(scoring: Scoring) -> bool:
    """Whether the length of a segment's references is divided by their number."""
    return REFERENCE_LENGTHS[scoring.reference_length].divided
