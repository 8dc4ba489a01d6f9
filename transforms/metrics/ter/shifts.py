"""Compiled code: the search for the best shift, which moves some words of a candidate.

As in sacreBLEU and in Tercom, a shift moves words that the reference has in the same order, at most
50 words before or after their place in the candidate. One of the words must be wrong, and so must
one of those of the reference. They move to the places that the alignment has for the words of the
reference, and for the one before them. All such shifts are tried, until there were 1,000 trials.

Which words are wrong, and where the words of the reference belong, follows from the shortest way
through the edit table. Of several ones it is that of sacreBLEU: from the end of the table back to
its beginning, it prefers to keep or replace a word, then to delete one, and then to insert one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.ter.band import DELETE, INSERT, NOP, wide_step_back, write_steps
from beam_bleu.transforms.metrics.ter.edit_rows import moved_distance, step_back
from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.lanes import equal_numbers
from beam_bleu.transforms.native.memory import (
    BLOCK,
    clear_lowest_bit,
    copy,
    load_count,
    lowest_bit,
    store_count,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

ALL_CELLS, IN_BAND, IN_WIDE_BAND = range(3)
"""How distances are computed: by edit_rows.py without and with a band, or by cell (band.py)."""

LONGEST_SHIFT = 10

MOST_TRIALS = 1000
"""With this number of trials the search ends, and the best shift of them is not made."""

_FURTHEST = 50

_NO_ERROR = LONGEST_SHIFT + 1

_NOTHING = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_equal = equal_numbers(BLOCK)


@inlined
def _number(numbers, index):
    return load_count(numbers + index * NUMBER_BYTES)


@inner
def align(words, reference_words, way, rows, errors, reference_errors, targets):
    """Writes where the next wrong words are, and the targets of shifts.

    Args:
      way: how distances are computed.
      rows: address of the edit rows, or of the steps of a wide band.
      errors: address of a count for each word of the candidate: how many words there are from this
        one to the next wrong one, both included; more than LONGEST_SHIFT if there are more, or if
        none is wrong.
      reference_errors: the same for the words of the reference. One is wrong if no word of the
        candidate is kept for it.
      targets: address of a count for the start of the reference and for the end of each of its
        words: how many words the candidate has up to there.
    """
    number, column = words, reference_words
    error = reference_error = _NO_ERROR
    while number > 0 or column > 0:
        if number == 0:
            step = INSERT
        elif column == 0:
            step = DELETE
        elif way == IN_WIDE_BAND:
            step = wide_step_back(number, column, words, reference_words, rows)
        else:
            step = step_back(number, column, rows, way == IN_BAND)
        if step != DELETE:
            reference_error = min(reference_error + 1, _NO_ERROR) if step == NOP else 1
            store_count(targets + column * NUMBER_BYTES, number)
            column -= 1
            store_count(reference_errors + column * NUMBER_BYTES, reference_error)
        if step != INSERT:
            error = min(error + 1, _NO_ERROR) if step == NOP else 1
            number -= 1
            store_count(errors + number * NUMBER_BYTES, error)
    store_count(targets, 0)


@inner
def move(numbers, first, middle, end, spare):
    """Lets the words first..middle and middle..end change places; `spare` has room for as many."""
    front, back = (middle - first) * NUMBER_BYTES, (end - middle) * NUMBER_BYTES
    start = numbers + first * NUMBER_BYTES
    copy(spare, start, front + back)
    copy(start, spare + front, back)
    copy(start + back, spare, front)


@inner
def best_shift(
    numbers, words, reference, reference_words, other, way, rows, before, trials, spaces
):
    """The shift that makes the distance smallest: the longest, first one, with the first target.

    Args:
      other: the number of the words that no reference has.
      way: how distances are computed.
      rows: as for `align`; they are overwritten if the band is wide.
      before: the distance before the shift.
      trials: how many shifts were tried before, for these two texts.
      spaces: the addresses that `align` writes to; and for a wide band of memory for distances, and
        for twice as many numbers as the candidate has.

    Returns:
      (by how much it makes the distance smaller, 0 if no shift does; first, middle and end for
      `move`; trials)
    """
    errors, reference_errors, targets, distances, spare = spaces
    gain = length_of_best = start_of_best = target_of_best = 0
    best_first = best_middle = best_end = 0
    for start in range(words):
        nearest = _number(errors, start)
        word = _number(numbers, start)
        if nearest > LONGEST_SHIFT or word == other:
            continue
        place, end_place = max(0, start - _FURTHEST), min(reference_words, start + _FURTHEST + 1)
        while place < end_place:
            mask = _equal(reference + place * NUMBER_BYTES, np.uint64(word))
            if end_place - place < BLOCK:
                mask &= _ALL >> np.uint64(BLOCK - (end_place - place))
            while mask != _NOTHING:
                start_in_reference = place + lowest_bit(mask)
                mask = clear_lowest_bit(mask)
                fewest = max(nearest, _number(reference_errors, start_in_reference))
                aligned = _number(targets, start_in_reference + 1) - 1
                most = min(LONGEST_SHIFT, words - start, reference_words - start_in_reference)
                length = 0
                while length < most and _number(numbers, start + length) == _number(
                    reference, start_in_reference + length
                ):
                    length += 1
                    if start <= aligned < start + length:
                        break
                    if length < fewest:
                        continue
                    former = -1
                    for offset in range(length + 1):
                        target = _number(targets, start_in_reference + offset)
                        if target == former:
                            continue
                        former = target
                        trials += 1
                        if target < start:
                            first, middle, end = target, start, start + length
                        elif target > start + length:
                            first, middle, end = start, start + length, target
                        else:
                            first, middle, end = start, start + length, min(length + target, words)
                        if middle == end:  # nothing moves
                            continue
                        if way == IN_WIDE_BAND:
                            copy(spare, numbers, words * NUMBER_BYTES)
                            move(spare, first, middle, end, spare + words * NUMBER_BYTES)
                            distance = write_steps(
                                spare, words, reference, reference_words, distances, rows
                            )
                        else:
                            distance = moved_distance(
                                first,
                                middle,
                                end,
                                numbers,
                                words,
                                reference,
                                reference_words,
                                rows,
                                before,
                                way == IN_BAND,
                            )
                        more = before - distance - gain
                        if more == 0 and gain > 0:
                            more = length - length_of_best
                            if more == 0 and start == start_of_best:
                                more = target_of_best - target
                        if more > 0:
                            gain = before - distance
                            length_of_best = length
                            start_of_best = start
                            target_of_best = target
                            best_first, best_middle, best_end = first, middle, end
                    if trials >= MOST_TRIALS:
                        return gain, best_first, best_middle, best_end, trials
            place += BLOCK
    return gain, best_first, best_middle, best_end, trials
