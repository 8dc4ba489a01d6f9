"""chrF of many sums at once: of each segment, or of each replicate of a corpus.

It compiles the function of formula.py.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.chrf.columns import FIRST_NGRAMS, orders_of
from beam_bleu.transforms.metrics.chrf.formula import f_score
from beam_bleu.transforms.metrics.metric import SEGMENTS, Scores
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import callable_by_compiled, compiled

callable_by_compiled(f_score)  # Python still runs it as before


def row_scores(columns: Integers, beta: int, eps_smoothing: bool) -> Scores:
    """The chrF of each row, 0..100; 0 for sums of no segment.

    Args:
      columns: int64 (rows, W), the columns of chrF.
      beta: how many times as important as precision recall is.
      eps_smoothing: whether all orders count.

    Returns:
      float64 (rows,).
    """
    scores = np.empty(len(columns))
    of_row = np.empty((3, orders_of(columns.shape[1])), np.int64)
    _score_rows(np.ascontiguousarray(columns), beta, eps_smoothing, scores, of_row)
    return scores


@compiled
def _score_rows(columns, beta, eps_smoothing, scores, of_row):
    """Writes the score of each row; `of_row` is int64 (3, N), which is overwritten."""
    # Each row is copied to the same arrays, because a view of an array takes longer.
    hyp_ngrams, ref_ngrams, matches = of_row[0], of_row[1], of_row[2]
    for row in range(len(columns)):
        for n in range(len(matches)):
            first = FIRST_NGRAMS + 3 * n
            hyp_ngrams[n] = columns[row, first]
            ref_ngrams[n] = columns[row, first + 1]
            matches[n] = columns[row, first + 2]
        scores[row] = 0.0
        if columns[row, SEGMENTS] != 0:
            scores[row] = f_score(hyp_ngrams, ref_ngrams, matches, beta, eps_smoothing)
