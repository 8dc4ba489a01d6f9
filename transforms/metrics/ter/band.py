"""Compiled code: the part of the edit table that sacreBLEU computes.

sacreBLEU computes only the cells near the diagonal; all others count as infinitely far. So its
distance can be larger than the edit distance. The diagonal has a slope, the ratio of the lengths.
If the reference is much longer than the candidate, the band is wider, so that the bands of
neighbouring rows meet.

If the reference is more than 50 times as long as the candidate, the band is wider than the bits of
edit_rows.py. Then each cell is computed by itself: all rows together have little more than two
cells for each word of the reference.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import (
    load_byte,
    load_count,
    load_int,
    store_byte,
    store_int,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

NOP, REPLACE, DELETE, INSERT = range(4)

BEAM = 25

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
    return reference_words / words > _WIDEST_USUAL


@inner
def reach(words, reference_words):
    """How far the band reaches on both sides of the diagonal."""
    half = reference_words / words / 2
    return math.ceil(half + BEAM) if half > BEAM else BEAM


@inner
def band(row, words, reference_words, reach):
    """(first column, column after the last) of the band in the row after `row` words."""
    if row == 0:
        return 0, reference_words + 1
    diagonal = math.floor(row * (reference_words / words))
    end = reference_words + 1
    if row < words:
        end = min(end, diagonal + reach)
    return max(0, diagonal - reach), end


_OUTSIDE = 2**40


@inner
def write_steps(numbers, words, reference, reference_words, distances, steps):
    """Writes the last step of the way to each cell of the band; returns the distance.

    `distances` is the address of reference_words + 1 int64, and `steps` that of a byte for each
    cell of the band: (words + 1) * 2 * reach(words, reference_words).
    """
    reaching = reach(words, reference_words)
    first_before, end_before = band(0, words, reference_words, reaching)
    for column in range(end_before):
        store_int(distances, column, column)
    for number in range(1, words + 1):
        first, end = band(number, words, reference_words, reaching)
        word = load_count(numbers + (number - 1) * NUMBER_BYTES)
        left = diagonal = _OUTSIDE
        if first_before < first:
            diagonal = load_int(distances, first - 1)
        for column in range(first, end):
            above = load_int(distances, column) if column < end_before else _OUTSIDE
            if column == 0:
                best, step = above + 1, DELETE
            else:
                is_equal = load_count(reference + (column - 1) * NUMBER_BYTES) == word
                best, step = (diagonal, NOP) if is_equal else (diagonal + 1, REPLACE)
                if above + 1 < best:
                    best, step = above + 1, DELETE
                if left + 1 < best:
                    best, step = left + 1, INSERT
            store_int(distances, column, best)
            store_byte(steps + number * 2 * reaching + column - first, step)
            diagonal, left = above, best
        first_before, end_before = first, end
    return load_int(distances, reference_words)


@inner
def wide_step_back(number, column, words, reference_words, steps):
    """The last step of the way to a cell, which is in the band and has no index 0."""
    reaching = reach(words, reference_words)
    first, _ = band(number, words, reference_words, reaching)
    return load_byte(steps + number * 2 * reaching + column - first)
