"""Computes edit distances for TER, in compiled code: by rows of bits, or by cell in a wide band.

D[i][j] is the distance of the first i words of the candidate and the first j of the reference.
Neighbours in D differ by at most 1, so a row of it is a few words of bits (Myers 1999,
https://doi.org/10.1145/316542.316550; Hyyrö 2003). All rows are kept: if words of the candidate are
moved, the distance is computed again only from the first moved word on.

sacreBLEU computes only a band of cells near the diagonal, whose slope is the ratio of the lengths;
all others count as infinitely far. If the reference is more than 50 times as long as the candidate,
the band is wider than the bits of a row, and each cell is computed by itself. `in_band` says
whether a band makes a difference. If not, bit b is of column b + 1. Otherwise each row has a base,
and bit b is of column base + 1 + b: from a row to the next one, the bits move down. A cell outside
of the band must be worse than each cell inside:

* A column that enters the band counts as 1 more than the column before it, in the row before.
* The base counts as 1 more than in the row before.
* A step from the cell before, in the row before, counts only if that cell is in the band.

A row has eight words (see `_MORE` to `_BASE`). `numbers` is the address of the numbers of the
candidate's words, `reference` that of the reference's and of 64 more numbers, `rows` that of words
+ 1 rows.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.lanes import equal_numbers
from beam_bleu.transforms.native.memory import (
    count_bits,
    load_byte,
    load_int,
    load_word,
    store_byte,
    store_int,
    store_word,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, number_at

NOP, REPLACE, DELETE, INSERT = range(4)
_BEAM = 25
WITHIN_BAND = 24
"""With a reference of up to this number of words, the usual band has all cells."""

SURELY_WITHIN_BAND = 46
"""If the distance and the difference of the lengths add up to no more, all shortest ways are in the
usual band: a way with x insertions and y deletions is at most max(x, y) + 1 from the diagonal, and
2 max(x, y) <= x + y + |x - y|."""


@inner
def needs_wide_band(words, reference_words):
    return reference_words / words > 2 * _BEAM


@inner
def reach(words, reference_words):
    half = reference_words / words / 2
    return math.ceil(half + _BEAM) if half > _BEAM else _BEAM


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
    """Writes the last step of the way to each cell of the band; returns the distance."""
    reaching = reach(words, reference_words)
    first_before, end_before = band(0, words, reference_words, reaching)
    for column in range(end_before):
        store_int(distances, column, column)
    for number in range(1, words + 1):
        first, end = band(number, words, reference_words, reaching)
        word = number_at(numbers, number - 1)
        left = diagonal = _OUTSIDE
        if first_before < first:
            diagonal = load_int(distances, first - 1)
        for column in range(first, end):
            above = load_int(distances, column) if column < end_before else _OUTSIDE
            if column == 0:
                best, step = above + 1, DELETE
            else:
                is_equal = number_at(reference, column - 1) == word
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
    reaching = reach(words, reference_words)
    first, _ = band(number, words, reference_words, reaching)
    return load_byte(steps + number * 2 * reaching + column - first)


MOST_BITS = ROW_BYTES = 64
_MORE, _LESS, _MORE_BELOW, _LESS_BELOW, _EQUAL, _REACHED, _AT_BASE, _BASE = range(0, 64, 8)
"""What a row has, and at which byte: masks of the columns where D[i][j] - D[i][j - 1] is 1 and -1,
and where D[i][j] - D[i - 1][j] is; of those whose word equals that of the row; with a band, of
those whose neighbour before is in the band of the row before; then D[i][base]; and the base."""

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_equal = equal_numbers(MOST_BITS)


@inlined
def _next(more, less, equal):
    """(more, less, more below, less below) of the next row; `equal` is its mask."""
    changed = equal | less
    below = (((equal & more) + more) ^ more) | equal
    more_below = less | ~(below | more)
    less_below = more & below
    one_more = (more_below << _ONE) | _ONE  # the column before the first one always grows
    one_less = less_below << _ONE
    return one_less | ~(changed | one_more), one_more & changed, more_below, less_below


@inlined
def _enter(more, less, at_base, base, row):
    """(more, less, D[i - 1][base], base) of the row before a row, at the base of that row."""
    new_base = load_int(row, _BASE // 8)
    move = np.uint64(new_base - base)
    passed = (_ONE << move) - _ONE
    at_base += count_bits(more & passed) - count_bits(less & passed)
    outside = ~((load_word(row + _REACHED) | _ONE) >> _ONE)
    return (more >> move) | outside, (less >> move) & ~outside, at_base, new_base


@inner
def place_band(rows, words, reference_words):
    reaching = reach(words, reference_words)
    first_before, end_before = band(0, words, reference_words, reaching)
    for number in range(1, words + 1):
        first, end = band(number, words, reference_words, reaching)
        base = max(first, 1) - 1
        row = rows + number * ROW_BYTES
        reached = _ALL if number == 1 else (_ONE << np.uint64(end_before - base)) - _ONE
        if first == first_before and first > 0:
            reached &= ~_ONE
        store_word(row + _REACHED, reached)
        store_int(row, _BASE // 8, base)
        if number == 1:
            # The whole row 0 is in the band, but its bits begin at the base of the next one.
            store_int(rows, _BASE // 8, base)
            store_int(rows, _AT_BASE // 8, base)
        first_before, end_before = first, end


@inlined
def _distance(more, less, at_base, base, reference_words):
    inside = _ALL >> np.uint64(MOST_BITS - (reference_words - base))
    return at_base + count_bits(more & inside) - count_bits(less & inside)


@inlined
def write_rows(first, numbers, words, reference, reference_words, rows, in_band):
    """Writes the rows after row `first`; returns the distance of the whole texts."""
    row = rows + first * ROW_BYTES
    if first == 0:
        store_word(row + _MORE, _ALL)
        store_word(row + _LESS, _NOTHING)
    more, less = load_word(row + _MORE), load_word(row + _LESS)
    at_base, base = first, 0
    if in_band:
        at_base, base = load_int(row, _AT_BASE // 8), load_int(row, _BASE // 8)
    for number in range(first, words):
        row += ROW_BYTES
        if in_band:
            more, less, at_base, base = _enter(more, less, at_base, base, row)
        at_base += 1
        equal = _equal(reference + base * NUMBER_BYTES, np.uint64(number_at(numbers, number)))
        if in_band:
            equal &= load_word(row + _REACHED)
            store_int(row, _AT_BASE // 8, at_base)
        else:
            equal &= _ALL >> np.uint64(MOST_BITS - reference_words)
        more, less, more_below, less_below = _next(more, less, equal)
        store_word(row + _MORE, more)
        store_word(row + _LESS, less)
        store_word(row + _MORE_BELOW, more_below)
        store_word(row + _LESS_BELOW, less_below)
        store_word(row + _EQUAL, equal)
    return _distance(more, less, at_base, base, reference_words)


@inlined
def moved_distance(
    first, middle, end, numbers, words, reference, reference_words, rows, before, in_band
):
    """The distance after the words first..middle and middle..end change places; it was `before`."""
    row = rows + first * ROW_BYTES
    more, less = load_word(row + _MORE), load_word(row + _LESS)
    at_base, base = first, 0
    if in_band:
        at_base, base = load_int(row, _AT_BASE // 8), load_int(row, _BASE // 8)
    source = middle
    for _ in range(first, end):
        row += ROW_BYTES
        if in_band:
            more, less, at_base, base = _enter(more, less, at_base, base, row)
            equal = _equal(
                reference + base * NUMBER_BYTES,
                np.uint64(number_at(numbers, source)),
            )
            equal &= load_word(row + _REACHED)
        else:
            equal = load_word(rows + (source + 1) * ROW_BYTES + _EQUAL)
        at_base += 1
        more, less, _, _ = _next(more, less, equal)
        source += 1
        if source == end:
            source = first
    last = rows + words * ROW_BYTES
    while row < last:
        if more == load_word(row + _MORE) and less == load_word(row + _LESS):
            # From here on, nothing differs from the rows.
            return before + (at_base - load_int(row, _AT_BASE // 8) if in_band else 0)
        row += ROW_BYTES
        if in_band:
            more, less, at_base, base = _enter(more, less, at_base, base, row)
        at_base += 1
        more, less, _, _ = _next(more, less, load_word(row + _EQUAL))
    return _distance(more, less, at_base, base, reference_words)


@inlined
def step_back(number, column, rows, in_band):
    """The last step of the way to a cell, which is in the band and has no index 0."""
    row = rows + number * ROW_BYTES
    before = row - ROW_BYTES
    more, less = load_word(before + _MORE), load_word(before + _LESS)
    base, can_replace = 0, True
    if in_band:
        base = load_int(before, _BASE // 8)
        more, less, _, base = _enter(more, less, 0, base, row)
    bit = np.uint64(column - base - 1)
    if (load_word(row + _EQUAL) >> bit) & _ONE:
        return NOP
    below = np.int64((load_word(row + _MORE_BELOW) >> bit) & _ONE)
    below -= np.int64((load_word(row + _LESS_BELOW) >> bit) & _ONE)
    diagonal = below + np.int64((more >> bit) & _ONE) - np.int64((less >> bit) & _ONE)
    if in_band:
        can_replace = (load_word(row + _REACHED) >> bit) & _ONE != _NOTHING
    if diagonal == 1 and can_replace:
        return REPLACE
    return DELETE if below == 1 else INSERT
