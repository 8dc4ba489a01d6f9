"""Compiled code: the edit distance of a reference more than 50 times as long as the candidate.

There sacreBLEU's band is wider than the bits of edit_rows.py (band.py). So each cell is computed by
itself. The candidate is short compared with the reference, so that all rows of the band together
have little more than two cells for each word of the reference.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.ter.band import band, reach
from beam_bleu.transforms.metrics.ter.edit_rows import DELETE, INSERT, NOP, REPLACE
from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import (
    load_byte,
    load_count,
    load_int,
    store_byte,
    store_int,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

_OUTSIDE = 2**40
"""The distance of a cell outside of the band."""


@inner
def table_bytes(words, reference_words):
    """The memory for the steps: one byte for each cell of the band."""
    return (words + 1) * 2 * reach(words, reference_words)


@inner
def write_steps(numbers, words, reference, reference_words, distances, steps):
    """Writes the last step of the way to each cell of the band; returns the distance.

    Args:
      numbers: address of the numbers of the candidate's words.
      words: their number, 1 or more.
      reference: address of those of the reference.
      reference_words: their number.
      distances: address of reference_words + 1 int64, which are overwritten.
      steps: address of `table_bytes`.
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
