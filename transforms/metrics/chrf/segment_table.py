"""The columns of chrF of each segment by itself: the scores of sacreBLEU's `sentence_score`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.chrf.columns import ChrfColumns
from beam_bleu.transforms.metrics.chrf.metric import Chrf
from beam_bleu.transforms.metrics.chrf.presentation import FIELDS
from beam_bleu.transforms.score.segment_table import INTEGERS, list_array
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics


def chrf_segment_fields(metric: Chrf) -> Mapping[str, pa.DataType]:
    """The columns that only chrF has: `hyp_ngrams`, `ref_ngrams` and `matches`, N integers each."""
    return dict.fromkeys(FIELDS, INTEGERS)


def chrf_segment_columns(statistics: BatchStatistics, metric: Chrf) -> Mapping[str, Any]:
    """The scores of a batch: a row for each segment and system, system by system."""
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    columns = ChrfColumns(counts.T)
    lists = {name: list_array(np.stack(getattr(columns, name), axis=-1)) for name in FIELDS}
    return {"score": metric.values(counts), **lists}
