"""chrF's formula: from the integers of a corpus, or of a segment, to a score.

Popović 2015 (https://aclanthology.org/W15-3049), section 2: chrF = (1 + beta^2) P R /
(beta^2 P + R), with the means P of the precisions and R of the recalls of all orders. As in
sacreBLEU, an order that the candidates or the references are too short for does not count. The
operations and their order are those of `CHRF._compute_f_score` in sacreBLEU 2.6, so that the
results are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.chrf.columns import ChrfColumns
from beam_bleu.transforms.metrics.dual_numbers import Number
from beam_bleu.transforms.metrics.metric import Scores


def f_score(columns: ChrfColumns, beta: int) -> Number:
    """chrF, 0..100, of integers or of numbers that carry their derivatives."""
    precision = recall = 0.0
    orders = 0
    factor = beta**2
    for of_order in zip(columns.hyp_ngrams, columns.ref_ngrams, columns.matches, strict=True):
        hyp, ref, match = of_order
        if hyp > 0 and ref > 0:
            precision += match / hyp
            recall += match / ref
            orders += 1
    if orders == 0 or precision + recall == 0:
        return 0.0
    precision /= orders
    recall /= orders
    score = (1 + factor) * precision * recall
    score /= (factor * precision) + recall
    return 100 * score


def f_scores(columns: ChrfColumns, beta: int) -> Scores:
    """The chrF of many sums at once: the same operations on arrays.

    Args:
      columns: arrays of one shape.
      beta: the weight of the recall.

    Returns:
      float64, of this shape.
    """
    shape = np.shape(columns.matches[0])
    precision, recall, orders = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    factor = beta**2
    for of_order in zip(columns.hyp_ngrams, columns.ref_ngrams, columns.matches, strict=True):
        hyp, ref, match = of_order
        counts = (hyp > 0) & (ref > 0)
        precision += _divided(match, hyp, counts)
        recall += _divided(match, ref, counts)
        orders += counts
    precision = _divided(precision, orders, orders > 0)
    recall = _divided(recall, orders, orders > 0)
    score = (1 + factor) * precision * recall
    found: Scores = 100 * _divided(score, (factor * precision) + recall, precision + recall > 0)
    return found


def _divided(one: NDArray[Any], other: NDArray[Any], where: NDArray[np.bool_]) -> Scores:
    quotients: Scores = np.divide(one, other, out=np.zeros(np.shape(one)), where=where)
    return quotients
