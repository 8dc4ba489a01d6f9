"""Segment scores: BLEU of each segment by itself, for every system of a batch, as rows.

The functions of formula.py, compiled: for sacreBLEU's smoothing the scores are
those of its `sentence_score`, for NLTK's those of its `sentence_bleu` (times 100).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numba.extending import register_jitable

from beam_bleu.transforms.definition.config import REFERENCE_LENGTHS, BleuConfig
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.score import formula
from beam_bleu.transforms.statistics.segment_statistics import (
    CANDIDATE_LENGTH,
    FIRST_MATCHES,
    FIRST_REFERENCE_LENGTH,
    SegmentStatistics,
    width,
)
from beam_bleu.transforms.statistics.signs import SegmentSigns

# To Python they stay what they are; to compiled code they become callable.
for _function in (
    formula.brevity_penalty,
    formula._weighted_orders,
    formula._smooth_as_nltk,
    formula.smooth,
    formula.weighted_score,
):
    register_jitable(_function)


def segment_scores_schema(config: BleuConfig) -> pa.Schema:
    """The columns of segment scores: only `score` has nulls, where it is not defined."""
    integers = pa.list_(pa.field("element", pa.int64(), nullable=False))
    ref_len = pa.float64() if config.reference_length == "average" else pa.int64()
    return pa.schema(
        [
            pa.field("index", pa.int64(), nullable=False),
            pa.field("system", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("score", pa.float64()),
            pa.field("sys_len", pa.int64(), nullable=False),
            pa.field("ref_len", ref_len, nullable=False),
            pa.field("matches", integers, nullable=False),
            pa.field("totals", integers, nullable=False),
        ]
    )


def segment_scores(
    statistics: SegmentStatistics, config: BleuConfig, systems: Sequence[str]
) -> pa.Table:
    """The scores of a batch: a row for each segment and system, system by system.

    Args:
      statistics: the batch's, counted up to the config's `counting_order` or further.
      config: the definition of a segment's score (see `BleuConfig.for_segments`).
      systems: the systems' names, in order.

    Returns:
      A table of (systems * segments) rows: `index`, the segment's number; `system`,
      its name; `score`, 0..100, null where the smoothing is not defined; `sys_len`
      and `ref_len`, in tokens; `matches` and `totals`, N integers before smoothing.

    Raises:
      ValueError: the statistics are of a lower n-gram order than the config needs.
    """
    if statistics.max_order < config.counting_order:
        raise ValueError(
            f"statistics of order {statistics.max_order} cannot be scored by a definition "
            f"that needs order {config.counting_order}"
        )
    rows = statistics.systems * len(statistics)
    orders = config.max_ngram_order
    is_average = config.reference_length == "average"
    divisors = statistics.references if is_average else np.ones(len(statistics), np.int64)
    scores = np.empty((statistics.systems, len(statistics)))
    _score_rows(
        formula.method_number(config.smooth_method),
        float(config.effective_smooth_value),
        config.effective_order,
        np.array(config.weights or (), np.float64),
        orders,
        statistics.counts,
        FIRST_REFERENCE_LENGTH + REFERENCE_LENGTHS.index(config.reference_length),
        divisors,
        scores,
    )
    ref_len = statistics.reference_length(config.reference_length)
    numbers = np.arange(statistics.first_segment, statistics.first_segment + len(statistics))
    bounds = pa.array(np.arange(0, rows * orders + 1, orders, dtype=np.int32))
    schema = segment_scores_schema(config)
    integers = schema.field("matches").type
    of_system = np.repeat(np.arange(statistics.systems, dtype=np.int32), len(statistics))
    columns = [
        np.tile(numbers, statistics.systems),
        pa.DictionaryArray.from_arrays(pa.array(of_system), pa.array(systems, pa.string())),
        pa.array(scores.ravel(), from_pandas=True),  # which takes what is not a number for null
        statistics.candidate_length.ravel(),
        (ref_len / divisors if is_average else ref_len).ravel(),
        *(
            pa.ListArray.from_arrays(bounds, counts[:, :, :orders].ravel(), integers)
            for counts in (statistics.matches, statistics.totals)
        ),
    ]
    return pa.table(columns, schema=schema)


def compile_segment_scores(config: BleuConfig) -> None:
    """Compiles what scores segments, or loads it, if this process has not done so yet."""
    one = np.ones(1, np.int64)
    counts = np.zeros((1, 1, width(config.counting_order)), np.int64)
    signs = SegmentSigns.none(systems=1, references=1, segments=1)
    segment_scores(SegmentStatistics(counts, one, one[None], one, signs), config, ["a"])


@compiled
def _score_rows(
    method, value, effective_order, weights, orders, counts, reference_column, divisors, scores
):
    """Writes the score of each segment; see formula.py.

    Args:
      method: the number of the smoothing method.
      value: its value, a float.
      effective_order: whether orders longer than the candidate are left out.
      weights: float64 (N,), or (0,) where all orders weigh the same.
      orders: the largest n-gram order, N.
      counts: int64 (systems, segments, width), of order N or higher.
      reference_column: the count that is the length of the references.
      divisors: int64 (segments,), by what this length is divided.
      scores: float64 (systems, segments), written; nan where a score is not defined.
    """
    max_order = (counts.shape[2] - FIRST_MATCHES) // 2
    precisions: Any = np.empty(orders, np.float64)
    short: Any = np.empty(max_order, np.int64)
    for system in range(counts.shape[0]):
        for row in range(counts.shape[1]):
            mine = counts[system, row]
            matches = mine[FIRST_MATCHES : FIRST_MATCHES + max_order]
            totals = mine[FIRST_MATCHES + max_order :]
            for n in range(max_order):
                short[n] = totals[n] == 0
            length = mine[CANDIDATE_LENGTH]
            counted = formula.smooth(
                method, value, effective_order, weights, matches, totals, short, length, precisions
            )
            bp = formula.brevity_penalty(length, mine[reference_column], divisors[row])
            scores[system, row] = formula.weighted_score(method, weights, precisions, counted, bp)
