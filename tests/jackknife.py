"""Standard errors by leaving out one segment after the other, with the numbers of sacreBLEU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU

_ORDERS = 4


def segment_counts(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray:
    """sacreBLEU's integers of each segment: two lengths, the matches and the totals."""
    found = BLEU(force=True)._extract_corpus_statistics(candidates, references)
    return np.array(found, np.int64)


def score_of(sums: NDArray) -> float:
    """sacreBLEU's score of the sums of some segments."""
    sys_len, ref_len, *counts = sums.tolist()
    found = BLEU.compute_bleu(
        counts[:_ORDERS], counts[_ORDERS:], sys_len, ref_len, smooth_method="exp"
    )
    return found.score


def standard_error(of_sums: Callable[[NDArray], float], counts: NDArray) -> float:
    """The jackknife's standard error of a function of the sums of all units.

    Args:
      of_sums: the function.
      counts: (units, integers).
    """
    whole, number = counts.sum(axis=0), len(counts)
    values = np.array([of_sums(whole - each) for each in counts])
    return float(np.sqrt((number - 1) * values.var()))
