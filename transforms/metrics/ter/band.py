"""Compiled code: the part of the edit table that sacreBLEU computes.

sacreBLEU computes only the cells near the diagonal. All others count as infinitely far. So its
distance can be larger than the edit distance, and the score depends on the band. The diagonal has a
slope, the ratio of the lengths. If the reference is much longer than the candidate, the band is
wider, so that the bands of neighbouring rows meet.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math

from beam_bleu.transforms.native.compiling import inner

BEAM = 25
"""How far the band usually reaches on both sides of the diagonal."""

_WIDEST_USUAL = 2 * BEAM
"""The largest ratio of the lengths with which it is no wider."""

WITHIN_BAND = 24
"""With a reference of up to this number of words, the usual band has all cells."""

SURELY_WITHIN_BAND = 46
"""If the distance and the difference of the lengths add up to no more, all shortest ways are in the
usual band.

On a way with x insertions and y deletions, j - i is from -y to x. The diagonal, rounded down, is
from 0 to x - y before i if x >= y, and otherwise from y - x + 1 after it to 0. So the way is at
most max(x, y) + 1 from the diagonal, and 2 max(x, y) is not more than the distance and the
difference of the lengths, x + y + |x - y|. Up to 23 + 1 columns after the diagonal and 25 before it
are in the band.
"""


@inner
def needs_wide_band(words, reference_words):
    """Whether the band is wider than usual."""
    return reference_words / words > _WIDEST_USUAL


@inner
def reach(words, reference_words):
    """How far the band reaches on both sides of the diagonal."""
    half = reference_words / words / 2
    return math.ceil(half + BEAM) if half > BEAM else BEAM


@inner
def band(row, words, reference_words, reach):
    """(first column, column after the last) of the band in a row.

    Args:
      row: the number of words of the candidate before it, 0 or more.
      words: the words of the candidate, 1 or more.
      reference_words: the words of the reference.
      reach: as the function `reach` gives it.
    """
    if row == 0:
        return 0, reference_words + 1
    diagonal = math.floor(row * (reference_words / words))
    end = reference_words + 1
    if row < words:
        end = min(end, diagonal + reach)
    return max(0, diagonal - reach), end
