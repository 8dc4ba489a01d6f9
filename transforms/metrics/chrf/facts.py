"""What is true of chrF's columns of every unit, and so of their sums and weighted sums.

Each fact is an inequality that is linear in the columns, as for BLEU (bleu/facts.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.chrf.columns import EMPTY, ChrfColumns
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.totals.moments.exact import ExactIntegers


def columns_are_possible(columns: ExactIntegers, references: int) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W), the columns of chrF.
      references: the largest number of references of a segment, which does not matter here.
    """
    if not columns.size:
        return True
    rows: NDArray[Any] = np.atleast_2d(columns)
    if (rows < 0).any() or rows[rows[..., SEGMENTS] == 0].any():
        return False
    if (rows[..., EMPTY] > rows[..., SEGMENTS]).any():
        return False
    chrf = ChrfColumns(np.moveaxis(rows, -1, 0))
    hyp, ref, match = chrf.hyp_ngrams, chrf.ref_ngrams, chrf.matches
    return (
        bool((match <= np.minimum(hyp, ref)).all())
        # There are fewer longer n-grams, and only shorter n-grams that match can make a match.
        and all(bool((each[1:] <= each[:-1]).all()) for each in (hyp, ref, match))
        and bool((ref[:-1] - ref[1:] <= rows[..., SEGMENTS]).all())
    )


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments: what is true of all units is enough."""
    return True
