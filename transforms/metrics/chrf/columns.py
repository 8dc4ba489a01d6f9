"""The columns of chrF: the integers of a segment from which it is computed.

For each order they are those of sacreBLEU's `_extract_corpus_statistics`: the n-grams of the
candidate, those of its best reference, and how many of them match. The orders of characters come
first, and then those of words. Characters are Unicode code points; white space does not count,
unless the definition says so. A candidate's n-grams count only if the reference has n-grams of this
order, so they do not follow from the candidate's length.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis

EMPTY, FIRST_NGRAMS = 1, 2
"""The columns after `SEGMENTS`: 1 if the candidate has no character, then three for each order."""

_OF_AN_ORDER = ("hyp", "ref", "match")


@functools.cache
def chrf_basis(orders: int) -> Basis:
    """The columns of chrF for N orders.

    The orders have the numbers 1 to N: first come those of characters, and then those of words.

    >>> chrf_basis(1).names
    ('segments', 'empty_candidates', 'hyp_1', 'ref_1', 'match_1')
    """
    names = (f"{name}_{n}" for n in range(1, orders + 1) for name in _OF_AN_ORDER)
    # The best reference depends on the candidate.
    return Basis(("segments", "empty_candidates", *names), shared=(SEGMENTS,))


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
