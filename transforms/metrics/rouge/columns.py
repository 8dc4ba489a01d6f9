"""The columns of ROUGE: the integers of a segment, and their facts.

Each fact is an inequality that is linear in the columns, as for BLEU. So it is true of the columns
of every unit, of their sums and of their weighted sums.
"""

from __future__ import annotations

import functools
from typing import Any

from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import ExactIntegers
from beam_bleu.transforms.native.fixed_point import LOW_BITS, fixed_point_is_possible
from beam_bleu.transforms.totals.unit_sums import columns_of_units

EMPTY, UNREAD = 1, 2
"""The columns after `SEGMENTS`: 1 if the candidate has no word; and 1 if each reference has more
characters beyond ASCII, which ROUGE ignores, than letters and digits that it reads."""

CANDIDATE_LENGTH, REFERENCE_LENGTH, HITS = 3, 4, 5
"""The words of the candidate; those of the reference with the largest F; and how many of its words,
or pairs of words, the candidate has, too."""

F_HIGH, F_LOW, PRECISION_HIGH, PRECISION_LOW, RECALL_HIGH, RECALL_LOW = range(6, 12)
"""The F-score, precision and recall, from 0 to 1, as `fixed_point`."""

WIDTH = 12
"""The columns that all metrics of the family have."""

SEVERAL = 12
"""The last column, of ROUGE-Lsum alone: 1 if the candidate or the reference has several sentences
with words."""

_ROUNDINGS = 2
"""The most by which rounding can change a comparison of the three values, in their last place."""


@functools.cache
def rouge_basis(has_sentences: bool) -> Basis:
    """The columns; `has_sentences` is whether they are those of ROUGE-Lsum."""
    names = ("segments", "empty_candidates", "unread", "candidate_length", "reference_length")
    values = ("f_high", "f_low", "precision_high", "precision_low", "recall_high", "recall_low")
    own = ("several_sentences",) if has_sentences else ()
    return Basis((*names, "hits", *values, *own), shared=(SEGMENTS, UNREAD))


def columns_are_possible(columns: ExactIntegers, of_pairs: bool) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W).
      of_pairs: whether pairs of words are hit, of which a text has one less than words.
    """
    rows = columns_of_units(columns, 2 ** (LOW_BITS + 2))
    if rows is None:
        return False
    segments, empty, unread, words, reference_words, hits = (
        rows[..., column] for column in range(F_HIGH)
    )
    high, low = rows[..., F_HIGH:WIDTH:2], rows[..., F_LOW:WIDTH:2]
    facts = [
        empty <= segments,
        unread <= segments,
        segments - empty <= words,
        hits <= (words + empty - segments if of_pairs else words),
        hits <= reference_words,
        # Without a hit, all three values are 0.
        *(high[..., value] <= hits << LOW_BITS for value in range(3)),
        *_facts_of_values(high, low, segments),
    ]
    if rows.shape[-1] > WIDTH:
        facts.append(rows[..., SEVERAL] <= segments)
    return all(bool(fact.all()) for fact in facts) and all(
        fixed_point_is_possible(high[..., value], low[..., value], segments) for value in range(3)
    )


def _facts_of_values(high: NDArray[Any], low: NDArray[Any], segments: NDArray[Any]) -> list[Any]:
    """What is true of F, the harmonic mean of precision and recall, of a sum of segments.

    It is at most the mean, at most twice each of the two, and at least their product, and so at
    least p + r - 1, because (1 - p) (1 - r) >= 0.
    """
    values = (high.astype(object) << LOW_BITS) + low
    f, precision, recall = (values[..., value] for value in range(3))
    roundings = _ROUNDINGS * segments.astype(object)
    one = segments.astype(object) << (2 * LOW_BITS)
    return [
        2 * f <= precision + recall + roundings,
        f <= 2 * precision + roundings,
        f <= 2 * recall + roundings,
        precision + recall - one <= f + roundings,
    ]


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments, whose candidates are empty or not.

    Args:
      full: (..., W, W), the sums of products.
      sums: (..., W), the sums of the columns.
    """
    signs = [EMPTY, UNREAD, *range(SEVERAL, sums.shape[-1])]  # 0 or 1
    are_signs = all((full[..., sign, sign] == sums[..., sign]).all() for sign in signs)
    of_empty = full[..., EMPTY, [CANDIDATE_LENGTH, *range(HITS, WIDTH)]]
    return are_signs and not of_empty.any()
