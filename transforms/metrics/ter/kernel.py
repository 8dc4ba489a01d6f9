"""The kernel: from columns of text to the columns of TER of every segment.

The edits of TER are shifts and then the edits of an edit distance. As in sacreBLEU and in Tercom,
shifts are chosen greedily: the best one is made, and the search begins again, until no shift makes
the distance smaller.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.metric import EMPTY, PARTS_OF_A_TOKEN, SEGMENTS, ReadyTexts
from beam_bleu.transforms.metrics.ter.band import (
    SURELY_WITHIN_BAND,
    WITHIN_BAND,
    needs_wide_band,
    write_steps,
)
from beam_bleu.transforms.metrics.ter.edit_rows import MOST_BITS, ROW_BYTES, place_band, write_rows
from beam_bleu.transforms.metrics.ter.metric import (
    CANDIDATE_LENGTH,
    EDITS,
    REFERENCE_LENGTH,
    REFERENCE_PARTS,
    TerConfig,
)
from beam_bleu.transforms.metrics.ter.shifts import (
    ALL_CELLS,
    IN_BAND,
    IN_WIDE_BAND,
    MOST_TRIALS,
    align,
    best_shift,
    move,
)
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import KeptMemory, copy, store_int
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    is_missing,
    number_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of

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
    """The edits of a candidate, whose numbers are overwritten, by one reference.

    `other` is the number of the words that no reference has, `memory` the address of
    `memory_bytes`.
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
