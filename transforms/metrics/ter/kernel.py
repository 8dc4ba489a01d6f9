"""The kernel of TER: makes the columns of TER of every segment from columns of text.

The edits of TER are shifts, and then the edits of an edit distance. As in sacreBLEU and in Tercom,
the best shift is made, and the search begins again, until no shift makes the distance smaller, or
until 1,000 shifts have been tried.

A shift moves a run of words that is also in the reference, by at most 50 words: to where the
alignment has one of these words of the reference, or the word before them. One of the moved words
must be wrong, and so must one of the reference's. The alignment is sacreBLEU's: from the end of the
table back, it prefers to keep or replace a word, then to delete one, and then to insert one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.metric import EMPTY, PARTS_OF_A_TOKEN, SEGMENTS, ReadyTexts
from beam_bleu.transforms.metrics.ter.edit_rows import (
    DELETE,
    INSERT,
    MOST_BITS,
    NOP,
    ROW_BYTES,
    SURELY_WITHIN_BAND,
    WITHIN_BAND,
    moved_distance,
    needs_wide_band,
    place_band,
    step_back,
    wide_step_back,
    write_rows,
    write_steps,
)
from beam_bleu.transforms.metrics.ter.metric import (
    CANDIDATE_LENGTH,
    EDITS,
    REFERENCE_LENGTH,
    REFERENCE_PARTS,
    TerConfig,
)
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.lanes import equal_numbers
from beam_bleu.transforms.native.memory import (
    BLOCK,
    KeptMemory,
    clear_lowest_bit,
    copy,
    lowest_bit,
    store_count,
    store_int,
)
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    is_missing,
    number_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of, number_at

ALL_CELLS, IN_BAND, IN_WIDE_BAND = range(3)
"""How distances are computed: by rows of bits without and with a band, or by cell."""

MOST_TRIALS = 1000
"""After this number of trials the search ends, and their best shift is not made."""

LONGEST_SHIFT = 10
_FURTHEST = 50
_NO_ERROR = LONGEST_SHIFT + 1
_NOTHING = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_equal = equal_numbers(BLOCK)


@inner
def align(words, reference_words, way, rows, errors, reference_errors, targets):
    """Writes where the next wrong words are, and the targets of shifts.

    Args:
      errors, reference_errors: addresses of a count for each word: how many words there are to the
        next wrong one, with both; more than LONGEST_SHIFT if there are more. A word of the
        reference is wrong if no word of the candidate is kept for it.
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
    """Lets the words first..middle and middle..end change places."""
    front, back = (middle - first) * NUMBER_BYTES, (end - middle) * NUMBER_BYTES
    start = numbers + first * NUMBER_BYTES
    copy(spare, start, front + back)
    copy(start, spare + front, back)
    copy(start + back, spare, front)


@inner
def best_shift(
    numbers, words, reference, reference_words, other, way, rows, before, trials, spaces
):
    """The shift that makes the distance smallest; of several, the longest and first, and of its
    targets the first. `other` is the number of the words that no reference has, `before` the
    distance before the shift, `trials` how many shifts were tried before. `rows` are overwritten if
    the band is wide.
    Returns (by how much it makes the distance smaller; first, middle and end for `move`; trials).
    """
    errors, reference_errors, targets, distances, spare = spaces
    gain = length_of_best = start_of_best = target_of_best = 0
    best_first = best_middle = best_end = 0
    for start in range(words):
        nearest = number_at(errors, start)
        word = number_at(numbers, start)
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
                fewest = max(nearest, number_at(reference_errors, start_in_reference))
                aligned = number_at(targets, start_in_reference + 1) - 1
                most = min(LONGEST_SHIFT, words - start, reference_words - start_in_reference)
                length = 0
                while length < most and number_at(numbers, start + length) == number_at(
                    reference, start_in_reference + length
                ):
                    length += 1
                    if start <= aligned < start + length:
                        break
                    if length < fewest:
                        continue
                    former = -1
                    for offset in range(length + 1):
                        target = number_at(targets, start_in_reference + offset)
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
                                *(first, middle, end, numbers, words, reference, reference_words),
                                *(rows, before, way == IN_BAND),
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


_MEMORY = KeptMemory()


def memory_bytes(words: int) -> int:
    """The memory for the edits of two texts with this number of words in all.

    For n words of the candidate and m of the reference, there are n + 1 rows, or the steps of a
    wide band, at most 2 m + 53 n + 53 bytes; 16 n bytes for words and where they are wrong; and
    16 (m + 1) bytes for distances and the reference.
    """
    return (words + 2) * (ROW_BYTES + 16)


def write_counts(metric: TerConfig, texts: ReadyTexts, counts: Integers) -> None:
    numbered, _memory = texts.numbered(_MEMORY)
    # A word has one byte or more, and a space after it.
    edits = _MEMORY.memory_for("edits", memory_bytes(texts.sizes.longest // 2 + 2))
    count_rows(numbered, edits.address, counts)


@compiled
def count_rows(texts, memory, counts):
    for row in range(texts.rows):
        known = number_texts(row, texts, False)
        length = count = 0  # of the references that are not missing
        for reference in range(texts.reference_count):
            if not is_missing(texts, row, reference):
                length += length_of(texts.bounds, reference)
                count += 1
        for text in range(texts.reference_count, texts.texts):
            words = length_of(texts.bounds, text)
            fewest = -1
            for reference in range(texts.reference_count):
                if is_missing(texts, row, reference):
                    continue
                # The edits move the words.
                copy(memory, numbers_of(texts, text), words * NUMBER_BYTES)
                edits = count_edits(
                    memory,
                    words,
                    numbers_of(texts, reference),
                    length_of(texts.bounds, reference),
                    known + 1,
                    memory + words * NUMBER_BYTES,
                )
                if fewest < 0 or edits < fewest:
                    fewest = edits
            columns = columns_of(counts, texts, row, text)
            store_int(columns, SEGMENTS, 1)
            store_int(columns, EMPTY, words == 0)
            store_int(columns, CANDIDATE_LENGTH, words)
            store_int(columns, EDITS, fewest)
            store_int(columns, REFERENCE_LENGTH, length // count)
            store_int(columns, REFERENCE_PARTS, length % count * PARTS_OF_A_TOKEN // count)


@inner
def count_edits(numbers, words, reference, reference_words, other, memory):
    """The edits of a candidate, whose numbers are overwritten, by one reference."""
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
            # The trials have overwritten the steps.
            distance = write_steps(numbers, words, reference, reference_words, distances, rows)
        if distance <= difference:  # no shift can help
            return shifts + distance
        align(words, reference_words, way, rows, errors, reference_errors, targets)
        gain, first, middle, end, trials = best_shift(
            *(numbers, words, reference, reference_words, other, way, rows, distance, trials),
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
