"""BLEU of many sums at once: of each segment, or of each replicate of a corpus.

It compiles the functions of formula.py.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import functools
import math

import numpy as np

from beam_bleu.transforms.metrics import differentiation
from beam_bleu.transforms.metrics.bleu import formula
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.compiling import callable_by_compiled, compiled, inner

_EXP = formula.method_number("exp")

# Python still runs them as before, but compiled code can now call them, too.
for _function in (
    formula.brevity_penalty,
    formula._weighted_orders,
    formula._smooth_as_nltk,
    formula.smooth,
    formula.weighted_score,
):
    callable_by_compiled(_function)
# numba takes functions of Python only.
callable_by_compiled(differentiation.exp, instead=lambda number: math.exp(number))
callable_by_compiled(differentiation.log, instead=lambda number: math.log(number))


_LOOKED_UP = 64
"""The logarithms of the precisions of fewer n-grams are looked up: most segments are short."""

_LOGS = np.full((_LOOKED_UP, _LOOKED_UP), math.nan)
"""float64 (n-grams, matches): the logarithm of a precision in percent."""

for _total in range(1, _LOOKED_UP):
    for _matches in range(1, _total + 1):
        _LOGS[_total, _matches] = math.log(100.0 * _matches / _total)


@functools.partial(inner, error_model="numpy")
def _log_precision(matches, total):
    """The logarithm of a precision in percent; the total is a float above 0."""
    if matches <= total < _LOOKED_UP:
        return _LOGS[int(total), matches]
    return math.log(100.0 * matches / total)


# Each division is by a number that is not 0, so numba need not look for a division by 0.
@functools.partial(inner, error_model="numpy")
def _score_usual_rows(effective_order, columns, lengths, divisor, scores, orders):
    """`score_rows` for "exp" without weights: the same operations as in formula.py, in one loop.

    Nearly all runs score segments this way. It takes less than half the time of the general code.
    """
    max_order = (columns.shape[1] - FIRST_MATCHES) // 2
    for row in range(len(columns)):
        logs, halvings = 0.0, 1.0
        counted = any_match = 0
        length = total = columns[row, CANDIDATE_LENGTH]
        for n in range(orders):
            matched = columns[row, FIRST_MATCHES + n]
            any_match |= matched
            if total != 0:  # the orders before it are not 0, either
                counted += 1
                if matched == 0:
                    halvings *= 2
                    logs += _log_precision(1, halvings * total)
                else:
                    logs += _log_precision(matched, float(total))
            total += columns[row, FIRST_MATCHES + max_order + n] - columns[row, SEGMENTS]
        score = 0.0
        if any_match != 0 and (effective_order or counted == orders):
            reference_length = 0
            for i in range(len(lengths)):
                reference_length += columns[row, lengths[i, 0]] * lengths[i, 1]
            bp = formula.brevity_penalty(length, reference_length, divisor)
            score = bp * math.exp(logs / counted)
        scores[row] = score


@compiled
def score_rows(
    method,
    value,
    effective_order,
    weights,
    columns,
    lengths,
    divisor,
    scores,
    precisions,
    counted_orders,
):
    """Writes the score of each row; see formula.py.

    Args:
      method: the number of the smoothing method.
      value: its value, a float.
      effective_order: whether orders longer than every candidate are left out.
      weights: float64 (N,); (0,) if all orders have the same weight.
      columns: int64 (rows, W), of order N or higher.
      lengths: int64 (columns of the reference length, 2), as `ReferenceLength.columns` has them.
      divisor: the number by which the reference length is divided.
      scores: float64 (rows,), which is overwritten; nan if a score is not defined.
      precisions: float64 (N,), which is overwritten.
      counted_orders: int64 (3, orders of the columns), which is overwritten.
    """
    if method == _EXP and len(weights) == 0:
        _score_usual_rows(effective_order, columns, lengths, divisor, scores, len(precisions))
        return
    max_order = counted_orders.shape[1]
    # Each row is copied to the same arrays, because a view of an array takes longer.
    matches, totals, short = counted_orders[0], counted_orders[1], counted_orders[2]
    for row in range(len(columns)):
        length = total = columns[row, CANDIDATE_LENGTH]
        for n in range(max_order):
            matches[n] = columns[row, FIRST_MATCHES + n]
            short[n] = columns[row, FIRST_MATCHES + max_order + n]
            totals[n] = total
            total += short[n] - columns[row, SEGMENTS]
        reference_length = 0
        for i in range(len(lengths)):
            reference_length += columns[row, lengths[i, 0]] * lengths[i, 1]
        counted = formula.smooth(
            method, value, effective_order, weights, matches, totals, short, length, precisions
        )
        bp = formula.brevity_penalty(length, reference_length, divisor)
        scores[row] = formula.weighted_score(method, weights, precisions, counted, bp)
