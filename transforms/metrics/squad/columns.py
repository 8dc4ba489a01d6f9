"""The columns of exact match and of token F1: the integers of a segment, and their facts.

Each fact is an inequality that is linear in the columns, as for BLEU. So it is true of the columns
of every unit, of their sums and of their weighted sums.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import ExactIntegers
from beam_bleu.transforms.native.fixed_point import LOW_BITS, fixed_point_is_possible
from beam_bleu.transforms.totals.unit_sums import columns_of_units

EMPTY = 1
"""The column after `SEGMENTS`, of both metrics: 1 if the candidate has no word."""

EXACT = 2
"""The other column of exact match: 1 if the candidate equals a reference."""

CANDIDATE_LENGTH, REFERENCE_LENGTH, COMMON, F1_HIGH, F1_LOW = range(2, 7)
"""The other columns of token F1: the words of the candidate; those of the reference with the best
F1, and how many of them the candidate has, too; and the F1, from 0 to 1, as `fixed_point`."""


@functools.cache
def exact_match_basis() -> Basis:
    """The columns of exact match."""
    return Basis(("segments", "empty_candidates", "exact"), shared=(SEGMENTS,))


@functools.cache
def token_f1_basis() -> Basis:
    """The columns of token F1."""
    names = ("segments", "empty_candidates", "candidate_length", "reference_length", "common")
    return Basis((*names, "f1_high", "f1_low"), shared=(SEGMENTS,))


def exact_match_is_possible(columns: ExactIntegers) -> bool:
    """Whether columns of exact match, (..., 3), can be a sum of units with weights of 0 or more."""
    rows = columns_of_units(columns)
    if rows is None:
        return False
    segments, empty, exact = np.moveaxis(rows, -1, 0)
    facts = [empty <= segments, exact <= segments]
    return all(bool(fact.all()) for fact in facts)


def token_f1_is_possible(columns: ExactIntegers) -> bool:
    """Whether columns of token F1, (..., 7), can be a sum of units with weights of 0 or more."""
    rows = columns_of_units(columns, 2 ** (LOW_BITS + 1))
    if rows is None:
        return False
    segments, empty, words, reference_words, common, high, low = np.moveaxis(rows, -1, 0)
    facts = [
        empty <= segments,
        segments - empty <= words,
        common <= words,
        common <= reference_words,
        # Without a common word the F1 is 0, unless both texts are empty.
        high <= (common + empty) << LOW_BITS,
    ]
    return all(bool(fact.all()) for fact in facts) and fixed_point_is_possible(high, low, segments)


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments, whose candidates are empty or not.

    Args:
      full: (..., W, W), the sums of products of either metric.
      sums: (..., W), the sums of its columns.
    """
    is_right = (full[..., EMPTY, EMPTY] == sums[..., EMPTY]).all()
    if sums.shape[-1] == exact_match_basis().width:
        is_right &= (full[..., EXACT, EXACT] == sums[..., EXACT]).all()
    else:
        is_right &= not full[..., EMPTY, [CANDIDATE_LENGTH, COMMON]].any()
    return bool(is_right)
