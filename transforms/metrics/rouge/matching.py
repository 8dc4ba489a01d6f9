"""Compiled code: the pairs of words, and the longest subsequences, that two texts have in common.

64 words of the reference are a block. For each number of a word there is a mask of its places in
the block. What a block passes on to the next one is kept for each word of the candidate.

The hits of ROUGE-Lsum (Lin 2004, section 3.2) are unions: a word of a sentence of the reference is
hit if it is in the longest common subsequence with a sentence of the candidate. If there are
several, it is that of rouge_score (`_backtrack_norec`), which goes back from the ends of both
sentences. It takes words that are equal. Otherwise it leaves out the candidate's word if without
the reference's word the subsequence would be shorter, and else the reference's word. If not all
rows fit in memory, some are kept, and those between them are computed again.

`candidate` and `reference` are addresses of the numbers of words, `words` and `columns` how many
there are. `masks` is the address of a word for each number, all 0 before and after, and `before`
that of a byte for each word of the candidate.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import callable_by_compiled, inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    clear,
    clear_lowest_bit,
    copy,
    count_bits,
    load_byte,
    load_count,
    load_int,
    load_word,
    lowest_bit,
    store_byte,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.text.byte_classes import (
    ascii_white_space_mask,
    newline_mask,
    read_by_rouge_masks,
)
from beam_bleu.transforms.text.numbering import (
    COLUMNS,
    MASK_BYTES,
    NUMBER_BYTES,
    clear_masks,
    columns_inside,
    length_of,
    number_at,
    set_masks,
)

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner
def count_common_pairs(candidate, words, reference, columns, masks, before):
    """How many pairs of neighbouring words are in both texts, each as often as in the text where it
    is rarer: a place in the reference can be claimed only once.
    """
    pairs = 0
    is_long = columns > COLUMNS
    if is_long:
        clear(before, words)
    for first in range(0, columns, COLUMNS):
        block = reference + first * NUMBER_BYTES
        width = min(columns - first, COLUMNS)
        set_masks(block, width, masks)
        # The number of the word before the block; no word has 0.
        last = load_count(block - NUMBER_BYTES) if first > 0 else 0
        claimed = previous = _NOTHING
        previous_number = -1
        for word in range(words):
            number = number_at(candidate, word)
            here = load_word(masks + number * MASK_BYTES)
            if is_long:
                free = ((previous << _ONE) | np.uint64(previous_number == last)) & here & ~claimed
                # A pair that is claimed in another block does not count again.
                free &= np.uint64(load_byte(before + word)) - _ONE
                store_byte(before + word, load_byte(before + word) | np.int64(free != _NOTHING))
                previous_number = number
            else:
                free = (previous << _ONE) & here & ~claimed
            claimed |= free & (_NOTHING - free)
            previous = here
        clear_masks(block, width, masks)
        pairs += count_bits(claimed)
    return pairs


@inlined
def next_row(row, here, carry):
    """The next row of a block of the table of the longest common subsequence, and its carry.

    Hyyrö 2004, "Bit-parallel LCS-length computation revisited": the bit of a column is 0 if the
    subsequence grows by 1 there. All bits of the row before the first one are 1. `here` are the
    columns whose word is that of the next row.
    """
    matched = row & here
    added = row + matched
    total = added + carry
    return total | (row - matched), np.uint64((added < row) | (total < added))


@inner
def count_longest_common(candidate, words, reference, columns, masks, before):
    length = 0
    is_long = columns > COLUMNS
    if is_long:
        clear(before, words)
    for first in range(0, columns, COLUMNS):
        block = reference + first * NUMBER_BYTES
        width = min(columns - first, COLUMNS)
        set_masks(block, width, masks)
        row = ALL
        for word in range(words):
            here = load_word(masks + number_at(candidate, word) * MASK_BYTES)
            if is_long:
                row, carry = next_row(row, here, np.uint64(load_byte(before + word)))
                store_byte(before + word, np.int64(carry))
            else:
                row = next_row(row, here, _NOTHING)[0]
        clear_masks(block, width, masks)
        length += count_bits(~row & columns_inside(width))
    return length


_ROW_BYTES = 8
_FEWEST_ROWS = 64
_LAST = np.uint64(BLOCK - 1)


@inlined
def _inside(block, end):
    return ALL if end - block >= BLOCK else (_ONE << np.uint64(end - block)) - _ONE


@inner
def is_unread(row, texts):
    """Whether each reference has more characters beyond ASCII than letters and digits."""
    for reference in range(texts.reference_count):
        at = reference * texts.rows + row
        start, end = load_int(texts.starts, at), load_int(texts.ends, at)
        read = others = 0
        for block in range(start, end, BLOCK):
            letters, beyond = read_by_rouge_masks(block)
            inside = _inside(block, end)
            read += count_bits(letters & inside)
            others += count_bits(beyond & inside)
        if start != 0 and others <= read:
            return False
    return True


@inner
def write_sentences(row, texts, bounds, text, sentences):
    """Finds the sentences of a text, which newlines separate.

    It writes an int64 for each sentence, and one more: where its numbers begin; the last one is
    where those of the text end. Returns (the number of sentences, how many of them have words).
    """
    at = text * texts.rows + row
    start, end = load_int(texts.starts, at), load_int(texts.ends, at)
    first = place = load_int(bounds, text)
    count = with_words = 0
    store_int(sentences, 0, first)
    was_word = _NOTHING
    for block in range(start, end, BLOCK):
        inside = _inside(block, end)
        of_words = ~ascii_white_space_mask(block) & inside
        words = of_words & ~((of_words << _ONE) | was_word)  # their first bytes
        was_word = of_words >> _LAST
        newlines = newline_mask(block) & inside
        while newlines != _NOTHING:
            before = (_ONE << np.uint64(lowest_bit(newlines))) - _ONE
            newlines = clear_lowest_bit(newlines)
            place += count_bits(words & before)
            words &= ~before
            with_words += place > load_int(sentences, count)
            count += 1
            store_int(sentences, count, place)
        place += count_bits(words)
    with_words += place > load_int(sentences, count)
    store_int(sentences, count + 1, first + length_of(bounds, text))
    return count + 1, with_words


@inlined
def sentence_words(sentences, sentence, numbers):
    place = load_int(sentences, sentence)
    return numbers + place * NUMBER_BYTES, load_int(sentences, sentence + 1) - place


def rows_of_band(words: int) -> int:
    """How many rows are computed again at a time: about as many as there are bands."""
    rows = _FEWEST_ROWS
    while rows * rows < words:
        rows *= 2
    return rows


callable_by_compiled(rows_of_band)


def memory_bytes(words: int) -> int:
    """The memory that `mark_common` needs for two sentences with at most `words` words in all."""
    rows = rows_of_band(words)
    bands = words // rows + 2
    return (words // COLUMNS + 2) * (bands + rows) * _ROW_BYTES


@inner
def _write_band(candidate, words, reference, columns, masks, before, state, rows):
    """Computes the rows of some words of the candidate from the row at `state`, which becomes the
    last row. `rows` is 0 if they are not kept.
    """
    blocks = (columns + COLUMNS - 1) // COLUMNS
    clear(before, words)
    for block in range(blocks):
        first = block * COLUMNS
        numbers = reference + first * NUMBER_BYTES
        width = min(columns - first, COLUMNS)
        set_masks(numbers, width, masks)
        row = load_word(state + block * _ROW_BYTES)
        for word in range(words):
            here = load_word(masks + number_at(candidate, word) * MASK_BYTES)
            row, carry = next_row(row, here, np.uint64(load_byte(before + word)))
            store_byte(before + word, np.int64(carry))
            if rows != 0:
                store_word(rows + (word * blocks + block) * _ROW_BYTES, row)
        clear_masks(numbers, width, masks)
        store_word(state + block * _ROW_BYTES, row)


@inner
def mark_common(candidate, words, reference, columns, masks, before, marks, memory):
    """Marks the words of a reference's sentence that are in the longest common subsequence."""
    row_bytes = (columns + COLUMNS - 1) // COLUMNS * _ROW_BYTES
    band = rows_of_band(words)
    bands = (words + band - 1) // band
    rows = memory + (bands + 1) * row_bytes  # after the row before each band, and one more
    for place in range(0, row_bytes, _ROW_BYTES):
        store_word(memory + place, ALL)
    for number in range(bands - 1):
        after = memory + (number + 1) * row_bytes
        copy(after, after - row_bytes, row_bytes)
        first = candidate + number * band * NUMBER_BYTES
        _write_band(first, band, reference, columns, masks, before, after, 0)
    column = columns
    for number in range(bands - 1, -1, -1):
        first = number * band
        of_band = min(words - first, band)
        state = memory + number * row_bytes
        numbers = candidate + first * NUMBER_BYTES
        _write_band(numbers, of_band, reference, columns, masks, before, state, rows)
        column = _walk(numbers, of_band, reference, column, rows, row_bytes, marks)
        if column == 0:
            break


@inlined
def _walk(candidate, words, reference, column, rows, row_bytes, marks):
    """Walks back through some rows; returns the column where it leaves them."""
    word = words - 1
    while word >= 0 and column > 0:
        place = column - 1
        if number_at(reference, place) == load_count(candidate + word * NUMBER_BYTES):
            store_byte(marks + place, 1)
            column -= 1
            word -= 1
            continue
        bits = load_word(rows + word * row_bytes + place // COLUMNS * _ROW_BYTES)
        if (bits >> np.uint64(place % COLUMNS)) & _ONE == _NOTHING:
            word -= 1
        else:
            column -= 1
    return column


@inner
def count_union(
    candidate,
    sentences,
    reference,
    reference_sentences,
    numbers,
    times,
    masks,
    before,
    marks,
    memory,
):
    """The hits of ROUGE-Lsum, for each word at most as many as the candidate has. `times`, a count
    for each number, `masks` and `marks` are 0 before and after.
    """
    first_word = numbers + load_int(candidate, 0) * NUMBER_BYTES
    all_words = load_int(candidate, sentences) - load_int(candidate, 0)
    for word in range(all_words):
        count = times + number_at(first_word, word) * NUMBER_BYTES
        store_count(count, load_count(count) + 1)
    hits = 0
    for sentence in range(reference_sentences):
        column, columns = sentence_words(reference, sentence, numbers)
        if columns == 0:
            continue
        for other in range(sentences):
            word, words = sentence_words(candidate, other, numbers)
            if words > 0:
                mark_common(word, words, column, columns, masks, before, marks, memory)
        for place in range(columns):
            if load_byte(marks + place):
                store_byte(marks + place, 0)
                count = times + number_at(column, place) * NUMBER_BYTES
                left = load_count(count)
                if left > 0:
                    store_count(count, left - 1)
                    hits += 1
    for word in range(all_words):
        store_count(times + number_at(first_word, word) * NUMBER_BYTES, 0)
    return hits
