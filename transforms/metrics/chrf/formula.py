"""chrF's formula: from the integers of a corpus, or of a segment, to a score.

Popović 2015 (https://aclanthology.org/W15-3049), section 2: chrF = (1 + beta^2) P R /
(beta^2 P + R), with the means P of the precisions and R of the recalls of all orders. As in
sacreBLEU, an order that the candidates or the references are too short for does not count. With
`eps_smoothing` chrF is the mean of the F-scores of all orders, as in Popović's own program. The
operations and their order are those of `CHRF._compute_f_score` in sacreBLEU 2.6, so that the
results are the same.

As in BLEU's formula.py, Python runs the function with unbounded integers and with numbers that
carry their derivatives, and numba compiles it, with int64. So it uses only loops and numbers.

For each order the columns are those of sacreBLEU's `_extract_corpus_statistics`: the n-grams of the
candidate, those of its best reference, and how many of them match. The orders of characters come
first, and then those of words. Characters are Unicode code points; white space does not count,
unless the definition says so. A candidate's n-grams count only if the reference has n-grams of this
order, so they do not follow from the candidate's length.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.compiling import callable_by_compiled, compiled

FIRST_NGRAMS = 2
"""The first of three columns for each order, after `SEGMENTS` and `EMPTY`."""

_EPSILON = 1e-16
"""What stands for a score of 0, and for a division by 0, with `eps_smoothing`."""


class ChrfColumns:
    """chrF's columns by their names: a value for each order, first those of characters.

    Args:
      columns: W columns: the integers of one segment or of a sum, numbers that carry their
        derivatives, or arrays of the same shape.

    Attributes:
      hyp_ngrams: n-grams of the candidates.
      ref_ngrams: n-grams of the references that were chosen.
      matches: n-grams that both have.
    """

    def __init__(self, columns: Sequence[Any] | NDArray[Any]) -> None:
        of_orders: Any = columns[FIRST_NGRAMS:]
        self.hyp_ngrams: Any = of_orders[0::3]
        self.ref_ngrams: Any = of_orders[1::3]
        self.matches: Any = of_orders[2::3]


def f_score(
    hyp_ngrams: Sequence[Number],
    ref_ngrams: Sequence[Number],
    matches: Sequence[Number],
    beta: int,
    eps_smoothing: bool,
) -> Number:
    """chrF, 0..100.

    Args:
      hyp_ngrams: n-grams of the candidates, for each of N orders.
      ref_ngrams: n-grams of the references.
      matches: n-grams that both have.
      beta: how many times as important as precision recall is.
      eps_smoothing: whether all orders count.
    """
    factor = beta * beta
    orders = len(matches)
    score = precisions = recalls = 0.0
    counted = 0
    for n in range(orders):
        hyp, ref, match = hyp_ngrams[n], ref_ngrams[n], matches[n]
        if eps_smoothing:
            precision = match / hyp if hyp > 0 else _EPSILON
            recall = match / ref if ref > 0 else _EPSILON
            denominator = factor * precision + recall
            if denominator > 0:
                score += (1 + factor) * precision * recall / denominator
            else:
                score += _EPSILON
        elif hyp > 0 and ref > 0:
            precisions += match / hyp
            recalls += match / ref
            counted += 1
    if eps_smoothing:
        return 100 * score / orders
    if counted == 0 or precisions + recalls == 0:
        return 0.0
    precisions /= counted
    recalls /= counted
    score = (1 + factor) * precisions * recalls
    score /= factor * precisions + recalls
    return 100 * score


callable_by_compiled(f_score)  # Python still runs it as before


@compiled
def score_rows(columns, beta, eps_smoothing, scores, of_row):
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
