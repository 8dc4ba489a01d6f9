"""The columns of error rates: the integers of a segment from which they are computed, and facts.

They are those of jiwer: substitutions, deletions and insertions, and the length of the reference.
The hits and the length of the candidate follow from them.

Each fact in `columns_are_possible` is an inequality that is linear in the columns, as for BLEU. So
it is true of the columns of every unit, of their sums and of their weighted sums.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import ExactIntegers
from beam_bleu.transforms.totals.unit_sums import columns_of_units

EMPTY, SUBSTITUTIONS, DELETIONS, INSERTIONS, REFERENCE_LENGTH = range(1, 6)
"""The columns after `SEGMENTS`: 1 if the candidate has no symbol, which is a word or a character;
the three kinds of edits; and the symbols of the reference with the fewest edits."""

WIDTH = 6
"""The number of columns, W."""


@functools.cache
def error_basis() -> Basis:
    """The columns of error rates."""
    names = ("segments", "empty_candidates", "substitutions", "deletions", "insertions")
    # With several references, the one that counts depends on the candidate.
    return Basis((*names, "ref_length"), shared=(SEGMENTS,))


def edits_of(columns: Sequence[Any] | NDArray[Any]) -> Any:
    """The edits.

    Args:
      columns: W columns: integers, numbers that carry their derivatives, or arrays of one shape.
    """
    return columns[SUBSTITUTIONS] + columns[DELETIONS] + columns[INSERTIONS]


def candidate_length(columns: Sequence[Any] | NDArray[Any]) -> Any:
    """The symbols of the candidates; see `edits_of`."""
    return columns[REFERENCE_LENGTH] - columns[DELETIONS] + columns[INSERTIONS]


def columns_are_possible(columns: ExactIntegers) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W), the columns of an error rate.
    """
    rows = columns_of_units(columns, 4)
    if rows is None:
        return False
    segments, empty, substitutions, deletions, insertions, length = np.moveaxis(rows, -1, 0)
    facts = [
        empty <= segments,
        segments - empty <= length - deletions + insertions,
        substitutions + deletions <= length,
    ]
    return all(bool(fact.all()) for fact in facts)


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments, whose candidates are empty or not."""
    of_empty: NDArray[Any] = full[..., EMPTY, :]
    return bool(
        (of_empty[..., EMPTY] == sums[..., EMPTY]).all()
        and not of_empty[..., SUBSTITUTIONS].any()
        and not of_empty[..., INSERTIONS].any()
        and (of_empty[..., DELETIONS] == of_empty[..., REFERENCE_LENGTH]).all()
    )
