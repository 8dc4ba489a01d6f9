"""Compiled code: the edits of TER, which are shifts and then the edits of an edit distance.

As in sacreBLEU and in Tercom, shifts are chosen greedily: the best one is made, and the search
begins again, until no shift makes the distance smaller.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.ter.alignment import ALL_CELLS, IN_BAND, IN_WIDE_BAND, align
from beam_bleu.transforms.metrics.ter.band import (
    SURELY_WITHIN_BAND,
    WITHIN_BAND,
    needs_wide_band,
)
from beam_bleu.transforms.metrics.ter.edit_rows import MOST_BITS, ROW_BYTES, place_band, write_rows
from beam_bleu.transforms.metrics.ter.shifts import MOST_TRIALS, best_shift, move
from beam_bleu.transforms.metrics.ter.wide_table import table_bytes, write_steps
from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.text.numbering import NUMBER_BYTES


@inner
def memory_bytes(words, reference_words):
    """The memory that `count_edits` needs, for at least one word in each text."""
    rows = (words + 1) * ROW_BYTES
    if needs_wide_band(words, reference_words):
        rows = table_bytes(words, reference_words)
    of_words = 3 * words * NUMBER_BYTES
    return rows + of_words + (reference_words + 1) * (8 + 2 * NUMBER_BYTES)


@inner
def count_edits(numbers, words, reference, reference_words, other, memory):
    """The edits of a candidate by one reference.

    Args:
      numbers: address of the numbers of the candidate's words, which are overwritten.
      words: their number.
      reference: address of the numbers of the reference, and 64 more numbers.
      reference_words: their number.
      other: the number of the words that no reference has.
      memory: address of `memory_bytes`.
    """
    if words == 0 or reference_words == 0:
        return words + reference_words
    distances = memory
    targets = distances + (reference_words + 1) * 8
    reference_errors = targets + (reference_words + 1) * NUMBER_BYTES
    errors = reference_errors + reference_words * NUMBER_BYTES
    spare = errors + words * NUMBER_BYTES
    rows = spare + 2 * words * NUMBER_BYTES
    difference = abs(words - reference_words)
    way, distance = IN_BAND, 0
    if reference_words <= MOST_BITS:
        distance = write_rows(0, numbers, words, reference, reference_words, rows, False)
        if reference_words <= WITHIN_BAND or distance + difference <= SURELY_WITHIN_BAND:
            way = ALL_CELLS
    if way == IN_BAND:
        if needs_wide_band(words, reference_words):
            way = IN_WIDE_BAND
        else:
            place_band(rows, words, reference_words)
            distance = write_rows(0, numbers, words, reference, reference_words, rows, True)
    shifts = trials = 0
    while True:
        if way == IN_WIDE_BAND:
            # The trials have written their own steps.
            distance = write_steps(numbers, words, reference, reference_words, distances, rows)
        if distance <= difference:  # no shift can help
            return shifts + distance
        align(words, reference_words, way, rows, errors, reference_errors, targets)
        gain, first, middle, end, trials = best_shift(
            numbers,
            words,
            reference,
            reference_words,
            other,
            way,
            rows,
            distance,
            trials,
            (errors, reference_errors, targets, distances, spare),
        )
        if gain == 0 or trials >= MOST_TRIALS:
            return shifts + distance
        move(numbers, first, middle, end, spare)
        shifts += 1
        if way != IN_WIDE_BAND:
            distance = write_rows(
                first, numbers, words, reference, reference_words, rows, way == IN_BAND
            )
