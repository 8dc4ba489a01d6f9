"""Compiled counting: how many n-grams of each candidate occur in one reference.

The tokens are numbers: of characters, or of words. Each number has a row, the set of the positions
where the reference has the token. Let M be the row of token i of a candidate. Then

    T[1] = M,  T[n] = (T[n - 1] of token i - 1, shifted by one) & M

are the positions where the reference has the n-gram that ends at token i. A match is counted by
claiming a position that no earlier n-gram has claimed, as in BLEU's matching.py, so there is no
hash table, and no branch.

A set has 64 positions in a word. References of up to 512 tokens have sets of one to eight words.
For longer ones, and those of segments with very many different tokens, n-grams have numbers
(statistics/ngrams.py). There the tokens of the reference get new numbers from 1 on: the fewer there
are, the more orders are counted without hashing.

`rows` is the address of the row of number 0. All rows are 0 before a reference is entered, and are
set back to 0 after it. `number` and `end` are the addresses of the numbers of a text and their end.
`matches` is the address of an int64 for each order of the first candidate, and `stride` the bytes
from these to those of the next one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.lanes import (
    claim_positions,
    following_positions,
    no_positions,
    store_sizes,
)
from beam_bleu.transforms.native.memory import (
    load_count,
    load_word,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.statistics.ngrams import match_long_segment
from beam_bleu.transforms.text.numbered_texts import numbers_of
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of

LONGEST_REFERENCE = 512

MOST_NUMBERS = 2**16
"""Numbers from here on have no row. So the memory for rows does not depend on the texts."""

_POSITIONS = 64
_WORD_BYTES = 8

ROWS_BYTES = MOST_NUMBERS * LONGEST_REFERENCE // _POSITIONS * _WORD_BYTES

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)

_FEW_ORDERS, _USUAL_ORDERS, _MANY_ORDERS = 4, 8, 16


@inner
def enter_reference(number, end, rows, row_bytes):
    """Enters the positions of the tokens of a reference into their rows of `row_bytes`."""
    position = 0
    while number < end:
        word = rows + load_count(number) * row_bytes + (position >> 6) * _WORD_BYTES
        store_word(word, load_word(word) | _ONE << np.uint64(position & (_POSITIONS - 1)))
        position += 1
        number += NUMBER_BYTES


@inner
def leave_reference(number, end, rows, row_bytes):
    while number < end:
        row = rows + load_count(number) * row_bytes
        row_end = row + row_bytes
        while row < row_end:
            store_word(row, _NOTHING)
            row += _WORD_BYTES
        number += NUMBER_BYTES


def _matching(most_orders: int, words: int) -> Any:
    """Makes the function that counts a candidate, with rows of this number of words."""
    none = no_positions(most_orders, words)

    @inner
    def match(number, end, rows, matches, orders):
        grams = claimed = none()
        while number < end:
            grams = following_positions(grams, rows + load_count(number) * (words * _WORD_BYTES))
            claimed = claim_positions(claimed, grams)
            number += NUMBER_BYTES
        store_sizes(matches, claimed, orders)

    return match


_match_few_1, _match_few_8 = (_matching(_FEW_ORDERS, words) for words in (1, 8))
_match_usual_1, _match_usual_2, _match_usual_3, _match_usual_4, _match_usual_8 = (
    _matching(_USUAL_ORDERS, words) for words in (1, 2, 3, 4, 8)
)
_match_many = _matching(_MANY_ORDERS, 8)


@inner
def words_of_row(tokens, orders):
    """The number of words of the rows for a reference of this number of tokens."""
    words = max((tokens + _POSITIONS - 1) // _POSITIONS, 1)
    if orders > _USUAL_ORDERS:
        return 8
    if orders <= _FEW_ORDERS:
        return 1 if words == 1 else 8
    return words if words <= 4 else 8


@inner
def match_reference(reference, texts, orders, rows, matches, stride):
    """Writes the matches of every candidate of a segment in one reference, for each order.

    The reference has at most LONGEST_REFERENCE tokens, and `texts` this segment's numbers, below
    MOST_NUMBERS.
    """
    tokens = length_of(texts.bounds, reference)
    first = numbers_of(texts, reference)
    last = first + tokens * NUMBER_BYTES
    words = words_of_row(tokens, orders)
    enter_reference(first, last, rows, words * _WORD_BYTES)
    for text in range(texts.reference_count, texts.texts):
        number = numbers_of(texts, text)
        end = number + length_of(texts.bounds, text) * NUMBER_BYTES
        if orders > _USUAL_ORDERS:
            _match_many(number, end, rows, matches, orders)
        elif orders <= _FEW_ORDERS:
            if words == 1:
                _match_few_1(number, end, rows, matches, orders)
            else:
                _match_few_8(number, end, rows, matches, orders)
        elif words == 1:
            _match_usual_1(number, end, rows, matches, orders)
        elif words == 2:
            _match_usual_2(number, end, rows, matches, orders)
        elif words == 3:
            _match_usual_3(number, end, rows, matches, orders)
        elif words == 4:
            _match_usual_4(number, end, rows, matches, orders)
        else:
            _match_usual_8(number, end, rows, matches, orders)
        matches += stride
    leave_reference(first, last, rows, words * _WORD_BYTES)


@inner
def match_long_reference(reference, texts, of_reference, orders, digits, table, matches, stride):
    """Writes the matches of every candidate of a segment in one reference, for each order.

    Args:
      texts: the `NumberedTexts` of the batch, with this segment's numbers.
      of_reference: the same for this reference and the candidates, with memory for NUMBERS_BYTES
        for each token and SPARE_NUMBERS more: its bounds and numbers are written.
      digits: address of memory for another number for each number; all of it is 0 before and
        afterwards.
      table: address of memory for a table for the reference's tokens (see `match_long_segment`).
    """
    first = numbers_of(texts, reference)
    end = first + length_of(texts.bounds, reference) * NUMBER_BYTES
    known = 0
    number, place = first, of_reference.numbers
    while number < end:
        digit = digits + load_count(number) * NUMBER_BYTES
        if load_count(digit) == 0:
            known += 1
            store_count(digit, known)
        store_count(place, load_count(digit))
        number += NUMBER_BYTES
        place += NUMBER_BYTES
    store_int(of_reference.bounds, 0, 0)
    for text in range(texts.reference_count, texts.texts):
        place += NUMBER_BYTES  # the gap
        bound = (place - of_reference.numbers) // NUMBER_BYTES
        store_int(of_reference.bounds, text - texts.reference_count + 1, bound)
        number = numbers_of(texts, text)
        end_of_text = number + length_of(texts.bounds, text) * NUMBER_BYTES
        while number < end_of_text:
            digit = load_count(digits + load_count(number) * NUMBER_BYTES)
            store_count(place, digit if digit != 0 else known + 1)
            number += NUMBER_BYTES
            place += NUMBER_BYTES
    bound = (place - of_reference.numbers) // NUMBER_BYTES + 1
    store_int(of_reference.bounds, of_reference.texts, bound)
    number = first
    while number < end:
        store_count(digits + load_count(number) * NUMBER_BYTES, 0)
        number += NUMBER_BYTES
    match_long_segment(of_reference, orders, known, table, matches, stride)
