"""BLEU of many corpora at once, from the columns of `totals/units.py`: one for each replicate."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# bleu_table.py makes the functions of formula.py callable from compiled code.
import beam_bleu.transforms.score.bleu_table  # noqa: F401
from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.score import formula
from beam_bleu.transforms.score.corpus_formula import require_scorable
from beam_bleu.transforms.score.unit_score import length_columns
from beam_bleu.transforms.totals import units

Scores = NDArray[np.float64]

# As constants for the compiled code.
_SEGMENTS, _CANDIDATE_LENGTH = units.SEGMENTS, units.CANDIDATE_LENGTH
_FIRST_MATCHES = units.FIRST_MATCHES


def replicate_scores(sums: Integers, max_order: int, scoring: Scoring) -> Scores:
    """BLEU of each replicate, 0..100: the number that `unit_score` gives.

    Args:
      sums: int64 (replicates, W), the columns of `totals/units.py`.
      max_order: the n-gram order of these columns, at least that of the scoring.
      scoring: how sums become a score.

    Returns:
      float64 (replicates,). A replicate without a segment has the score 0.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    require_scorable(max_order, scoring)
    lengths = length_columns(scoring.reference_length)
    divisor = lengths[-1][1]
    reference_length = np.zeros(len(sums), np.int64)
    for column, own in lengths:
        reference_length += sums[:, column] * (divisor // own)
    scores = np.empty(len(sums))
    _score_replicates(
        formula.method_number(scoring.smooth_method),
        float(scoring.effective_smooth_value),
        scoring.effective_order,
        np.array(scoring.weights or (), np.float64),
        np.ascontiguousarray(sums),
        reference_length,
        divisor,
        scores,
        np.empty(scoring.max_ngram_order, np.float64),
        np.empty(max_order, np.int64),
    )
    return scores


@compiled
def _score_replicates(
    method,
    value,
    effective_order,
    weights,
    sums,
    reference_length,
    divisor,
    scores,
    precisions,
    totals,
):
    """Writes the score of each replicate; see formula.py.

    Args:
      method: the number of the smoothing method.
      value: its value, a float.
      effective_order: whether orders longer than the candidates are left out.
      weights: float64 (N,); (0,) if all orders have the same weight.
      sums: int64 (replicates, W), of this order or a higher one.
      reference_length: int64 (replicates,).
      divisor: the number by which it is divided.
      scores: float64 (replicates,), which is overwritten.
      precisions: float64 (largest n-gram order of the score,), which is overwritten.
      totals: int64 (orders of the sums,), which is overwritten.
    """
    max_order = len(totals)
    for replicate in range(len(sums)):
        of_replicate = sums[replicate]
        matches = of_replicate[_FIRST_MATCHES : _FIRST_MATCHES + max_order]
        short = of_replicate[_FIRST_MATCHES + max_order :]
        length = of_replicate[_CANDIDATE_LENGTH]
        total = length
        for n in range(max_order):
            totals[n] = total
            total += short[n] - of_replicate[_SEGMENTS]
        counted = formula.smooth(
            method, value, effective_order, weights, matches, totals, short, length, precisions
        )
        bp = formula.brevity_penalty(length, reference_length[replicate], divisor)
        scores[replicate] = formula.weighted_score(method, weights, precisions, counted, bp)
