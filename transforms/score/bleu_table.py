"""The table with BLEU of each segment by itself, for every system of a batch.

It compiles the functions of formula.py. With sacreBLEU's smoothing methods the scores equal
those of its `sentence_score`. With NLTK's methods they equal its `sentence_bleu` times 100.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.definition.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.definition.scoring import Scoring, counted_order
from beam_bleu.transforms.native.compiling import callable_by_compiled, compiled, inner
from beam_bleu.transforms.score import dual_numbers, formula
from beam_bleu.transforms.statistics.batch_statistics import (
    CANDIDATE_LENGTH,
    FIRST_MATCHES,
    BatchStatistics,
    reference_length_column,
    width,
)
from beam_bleu.transforms.statistics.signs import BatchSigns

_EXP = formula.method_number("exp")

# Python still runs them as before. Now compiled code can call them, too.
for _function in (
    formula.brevity_penalty,
    formula._weighted_orders,
    formula._smooth_as_nltk,
    formula.smooth,
    formula.weighted_score,
):
    callable_by_compiled(_function)
callable_by_compiled(dual_numbers.exp, instead=math.exp)
callable_by_compiled(dual_numbers.log, instead=math.log)


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
    needed = counted_order([scoring])
    if statistics.max_order < needed:
        raise ValueError(
            f"statistics of order {statistics.max_order} cannot be scored by a definition "
            f"that needs order {needed}"
        )
    systems = len(statistics.systems)
    rows = systems * len(statistics)
    orders = scoring.max_ngram_order
    is_divided = _is_divided(scoring)
    divisors = statistics.reference_counts if is_divided else np.ones(len(statistics), np.int64)
    shape = systems, len(statistics)
    scores = np.empty(shape)
    sys_len, ref_len = np.empty((2, *shape), np.int64)
    matches, totals = np.empty((2, *shape, orders), np.int64)
    _score_rows(
        formula.method_number(scoring.smooth_method),
        float(scoring.effective_smooth_value),
        scoring.effective_order,
        np.array(scoring.weights or (), np.float64),
        statistics.counts,
        reference_length_column(scoring.reference_length),
        divisors,
        scores,
        sys_len,
        ref_len,
        matches,
        totals,
        np.empty(orders, np.float64),
        np.empty((3, statistics.max_order), np.int64),
    )
    bounds = pa.array(np.arange(0, rows * orders + 1, orders, dtype=np.int32))
    schema = bleu_table_schema(scoring, labels)
    integers = schema.field("matches").type
    of_system = np.repeat(np.arange(systems, dtype=np.int32), len(statistics))
    names = pa.array(statistics.systems, pa.string())
    columns = [
        np.tile(statistics.numbers, systems),
        pa.DictionaryArray.from_arrays(pa.array(of_system), names),
        pa.array(scores.ravel(), from_pandas=True),  # from_pandas: NaN becomes null
        sys_len.ravel(),
        (ref_len / divisors if is_divided else ref_len).ravel(),
        *(
            pa.ListArray.from_arrays(bounds, counts.ravel(), integers)
            for counts in (matches, totals)
        ),
        *(pa.concat_arrays([column.cast(pa.string())] * systems) for column in statistics.labels),
    ]
    return pa.table(columns, schema=schema)


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


# Each division is by a number that is not 0, so numba need not look for a division by 0.
@functools.partial(inner, error_model="numpy")
def _score_rows_usually(
    effective_order, counts, ref_len_column, divisors, scores, sys_len, ref_len, matches, totals
):
    """`_score_rows` for "exp" without weights: the same operations as in formula.py, in one loop.

    Nearly all runs score segments so. It takes two thirds of the time of the general code.
    """
    orders = matches.shape[2]
    max_order = (counts.shape[2] - FIRST_MATCHES) // 2
    for system in range(counts.shape[0]):
        for row in range(counts.shape[1]):
            logs, halvings = 0.0, 1.0
            counted = any_match = 0
            for n in range(orders):
                matched = counts[system, row, FIRST_MATCHES + n]
                total = counts[system, row, FIRST_MATCHES + max_order + n]
                matches[system, row, n] = matched
                totals[system, row, n] = total
                any_match |= matched
                if total != 0:  # the orders before it are not 0, either
                    counted += 1
                    if matched == 0:
                        halvings *= 2
                        logs += math.log(100.0 / (halvings * total))
                    else:
                        logs += math.log(100.0 * matched / total)
            length = counts[system, row, CANDIDATE_LENGTH]
            of_references = counts[system, row, ref_len_column]
            sys_len[system, row] = length
            ref_len[system, row] = of_references
            score = 0.0
            if any_match != 0 and (effective_order or counted == orders):
                bp = formula.brevity_penalty(length, of_references, divisors[row])
                score = bp * math.exp(logs / counted)
            scores[system, row] = score


@compiled
def _score_rows(
    method,
    value,
    effective_order,
    weights,
    counts,
    ref_len_column,
    divisors,
    scores,
    sys_len,
    ref_len,
    matches,
    totals,
    precisions,
    counted_orders,
):
    """Writes the score of each segment, and the integers that are shown beside it; see formula.py.

    Args:
      method: the number of the smoothing method.
      value: its value, a float.
      effective_order: whether orders longer than the candidate are left out.
      weights: float64 (N,); (0,) if all orders have the same weight.
      counts: int64 (systems, segments, width), of order N or higher.
      ref_len_column: the column of the references' length.
      divisors: int64 (segments,), the numbers by which this length is divided.
      scores: float64 (systems, segments), which is overwritten; nan if a score is not defined.
      sys_len: int64 (systems, segments), which is overwritten, too, and so are the next three.
      ref_len: int64 (systems, segments), not divided.
      matches: int64 (systems, segments, N).
      totals: int64 (systems, segments, N).
      precisions: float64 (N,), which is overwritten.
      counted_orders: int64 (3, orders of the counts), which is overwritten.
    """
    if method == _EXP and len(weights) == 0:
        _score_rows_usually(
            effective_order,
            counts,
            ref_len_column,
            divisors,
            scores,
            sys_len,
            ref_len,
            matches,
            totals,
        )
        return
    orders, max_order = len(precisions), counted_orders.shape[1]
    # Each segment is copied to the same arrays, because a view of an array takes longer.
    matched, total, short = counted_orders[0], counted_orders[1], counted_orders[2]
    for system in range(counts.shape[0]):
        for row in range(counts.shape[1]):
            for n in range(max_order):
                matched[n] = counts[system, row, FIRST_MATCHES + n]
                total[n] = counts[system, row, FIRST_MATCHES + max_order + n]
                short[n] = total[n] == 0
            for n in range(orders):
                matches[system, row, n] = matched[n]
                totals[system, row, n] = total[n]
            length = counts[system, row, CANDIDATE_LENGTH]
            of_references = counts[system, row, ref_len_column]
            sys_len[system, row] = length
            ref_len[system, row] = of_references
            counted = formula.smooth(
                method, value, effective_order, weights, matched, total, short, length, precisions
            )
            bp = formula.brevity_penalty(length, of_references, divisors[row])
            scores[system, row] = formula.weighted_score(method, weights, precisions, counted, bp)
