"""The columns of TER: the integers of a segment from which it is computed, and their facts.

They are those of sacreBLEU's `_compute_segment_statistics`: the least edits over the references,
and the mean length of the references. That mean is a whole number of words, and parts of a word.

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

EMPTY, CANDIDATE_LENGTH, EDITS, REFERENCE_LENGTH, REFERENCE_PARTS = range(1, 6)
"""The columns after `SEGMENTS`: 1 if the candidate has no word; its words; the edits; the words of
the references, divided by their number and rounded down; and the rest of this division, in parts of
a word (`PARTS_OF_A_WORD`)."""

WIDTH = 6
"""The number of columns, W."""

PARTS_OF_A_WORD = 720_720
"""The unit of the column `REFERENCE_PARTS`: the least common multiple of 1 to 16. So the mean of up
to 16 references is exact. With more references it is rounded down, by less than a millionth of a
word in a segment."""


@functools.cache
def ter_basis() -> Basis:
    """The columns of TER."""
    names = ("segments", "empty_candidates", "candidate_length", "edits", "ref_words", "ref_parts")
    return Basis(names, shared=(SEGMENTS, REFERENCE_LENGTH, REFERENCE_PARTS))


def reference_parts(columns: Sequence[Any] | NDArray[Any]) -> Any:
    """The mean lengths of the references of all segments, added up, in parts of a word.

    Args:
      columns: W columns: integers, numbers that carry their derivatives, or arrays of one shape.
    """
    return columns[REFERENCE_LENGTH] * PARTS_OF_A_WORD + columns[REFERENCE_PARTS]


def columns_are_possible(columns: ExactIntegers, references: int) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W), the columns of TER.
      references: the largest number of references of a segment.
    """
    rows = columns_of_units(columns, PARTS_OF_A_WORD * 2)
    if rows is None:
        return False
    segments, empty, words, edits, length, parts = np.moveaxis(rows, -1, 0)
    facts = [
        empty <= segments,
        segments - empty <= words,
        parts <= segments * (PARTS_OF_A_WORD - 1),
        # An edit replaces a word, or removes, adds or moves one.
        edits <= words + length,
    ]
    if references == 1:
        facts += [parts == 0, words <= length + edits, length <= words + edits]
    return all(bool(fact.all()) for fact in facts)


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments, whose candidates are empty or not."""
    of_empty: NDArray[Any] = full[..., EMPTY, :]
    return bool(
        (of_empty[..., EMPTY] == sums[..., EMPTY]).all()
        and not of_empty[..., CANDIDATE_LENGTH].any()
    )
