"""What is true of BLEU's columns of every unit, and so of their sums and weighted sums.

Each fact is an inequality that is linear in the columns. So it holds for the sums of units, for
those of a replicate, and for each row of the sums of products: a row is a sum of units whose
weights are a column, and no column is negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    CANDIDATE_LENGTH,
    CLOSEST,
    CLOSEST_FIRST,
    FIRST_MATCHES,
    LONGEST,
    PARTS_OF_A_TOKEN,
    SHORTEST,
    first_short,
    order_of,
)
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import LARGEST_INTEGER
from beam_bleu.transforms.totals.moments.exact import ExactIntegers, largest

_EXACT_REFERENCES = 16
"""The average length of more references than these is rounded down (`PARTS_OF_A_TOKEN`)."""


def columns_are_possible(columns: ExactIntegers, references: int) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W), the columns of BLEU.
      references: the largest number of references of a segment.
    """
    if not columns.size:
        return True
    rows: NDArray[Any] = np.atleast_2d(columns)
    if (rows < 0).any():
        return False
    max_order = order_of(rows.shape[-1])
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
    rounded = segments if references > _EXACT_REFERENCES else 0
    of_references = references * (shortest * PARTS_OF_A_TOKEN + above + rounded)
    yield bool((matches * PARTS_OF_A_TOKEN <= of_references[..., np.newaxis]).all())
    yield bool((columns[..., CLOSEST] + columns[..., CLOSEST_FIRST] <= columns[..., LONGEST]).all())
    yield bool((references * above <= (references - 1) * spread).all())
    yield bool((references * (above + rounded) >= spread).all())


def segments_are_possible(full: NDArray[Any], sums: NDArray[Any]) -> bool:
    """Whether products are those of segments, of which each one has a short candidate or not."""
    orders = order_of(sums.shape[-1])
    first = first_short(orders)
    for n in range(orders):
        short = full[..., first + n, :]
        # A candidate that is too short for n tokens is too short for more.
        if (short[..., first + n :] != sums[..., first + n, np.newaxis]).any():
            return False
        # It has no match of this order, nor of a larger one.
        if short[..., FIRST_MATCHES + n : first].any():
            return False
    return not full[..., first, CANDIDATE_LENGTH].any()
