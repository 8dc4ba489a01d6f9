"""What is true of the columns of every unit, and so of their sums and weighted sums.

Each fact is an inequality that is linear in the columns. So it holds for the sums of units, for
those of a replicate, and for each row of the sums of products: a row is a sum of units whose
weights are a column, and no column is negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import LARGEST_INTEGER
from beam_bleu.transforms.totals.moments.exact import ExactIntegers, largest
from beam_bleu.transforms.totals.units import (
    AVERAGE,
    CANDIDATE_LENGTH,
    CLOSEST,
    CLOSEST_FIRST,
    FIRST_MATCHES,
    LONGEST,
    PARTS_OF_A_TOKEN,
    SEGMENTS,
    SHORTEST,
    first_short,
)

Fact = tuple[str, bool]
"""What is checked, as messages name it, and whether it can be true."""

EXACT_REFERENCES = 16
"""The average length of more references than these is rounded down (`PARTS_OF_A_TOKEN`)."""


def columns_are_possible(columns: ExactIntegers, max_order: int, references: int) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W), with the columns of `totals.units`.
      max_order: the largest n-gram order, N.
      references: the largest number of references of a segment.
    """
    if not columns.size:
        return True
    rows: NDArray[Any] = np.atleast_2d(columns)
    if (rows < 0).any():
        return False
    if largest(rows) * PARTS_OF_A_TOKEN * (references + max_order + 2) > LARGEST_INTEGER:
        rows = rows.astype(object)
    return all(_facts(rows, max_order, references))


def _facts(columns: NDArray[Any], max_order: int, references: int) -> Iterator[bool]:
    segments, tokens = columns[..., SEGMENTS], columns[..., CANDIDATE_LENGTH]
    shortest, above = columns[..., SHORTEST], columns[..., AVERAGE]
    spread = columns[..., LONGEST] * PARTS_OF_A_TOKEN
    matches = columns[..., FIRST_MATCHES : FIRST_MATCHES + max_order]
    short = columns[..., first_short(max_order) :]
    yield not columns[segments == 0].any()
    yield bool((short[..., :-1] <= short[..., 1:]).all() and (short[..., -1] <= segments).all())
    # The n-th tokens of all candidates, for n up to N.
    nth = segments[..., np.newaxis] - short
    all_nth = nth.sum(axis=-1)
    yield bool((tokens >= all_nth).all())
    yield bool((tokens == all_nth)[short[..., -1] == segments].all())
    # t_1 = c, and a candidate with n tokens or more has one n-gram less than (n-1)-grams.
    ngrams = tokens[..., np.newaxis] - np.cumsum(nth, axis=-1) + nth
    yield bool((matches <= ngrams).all())
    # A candidate is matched with one reference or with several ones.
    yield bool((matches[..., 1:] <= references * matches[..., :-1]).all())
    rounded = segments if references > EXACT_REFERENCES else 0
    of_references = references * (shortest * PARTS_OF_A_TOKEN + above + rounded)
    yield bool((matches * PARTS_OF_A_TOKEN <= of_references[..., np.newaxis]).all())
    yield bool((columns[..., CLOSEST] + columns[..., CLOSEST_FIRST] <= columns[..., LONGEST]).all())
    yield bool((references * above <= (references - 1) * spread).all())
    yield bool((references * (above + rounded) >= spread).all())
