"""Numbers the tokens or characters of a segment, in compiled code: equal ones get equal numbers.

The number of an ASCII character is its code plus 1, so nothing has to be looked up. The other
characters of references get the next numbers, in the order in which they come, by a table of all
code points, from which they are taken out again at the end of the segment. All characters that no
reference has share one number. Nothing has the number 0.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.masks import code_point, letter_size
from beam_bleu.transforms.native.memory import (
    BLOCK,
    KeptMemory,
    Memory,
    address_of,
    load_byte,
    load_count,
    load_int,
    store_count,
    store_int,
)
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.text.byte_classes import WHITE_CODES
from beam_bleu.transforms.text.numbering import (
    INDEX_SLOT_BYTES,
    NUMBER,
    NUMBER_BYTES,
    VOCABULARY_BYTES,
    begin_vocabulary,
    end_references,
    most_different,
    most_index_bits,
    number_at,
    number_tokens,
)
from beam_bleu.transforms.text.tokenization import ANY, TOKENS_IN_CACHE, number_text
from beam_bleu.transforms.text.tokens import KEYS_BYTES, TOKEN_BYTES, Seed, new_seed

CLASSES = 0x3001  # the code points up to the last white space
CODE_POINTS_BYTES = 0x110000 * NUMBER_BYTES
_ASCII = 0x80
FIRST_NUMBER = _ASCII + 1


@cache
def counted_bytes(whitespace: bool) -> Bytes:
    """NUMBER_BYTES for each of the first code points that counts, otherwise 0: uint8 (CLASSES,)."""
    counted = np.full(CLASSES, NUMBER_BYTES, np.uint8)
    if not whitespace:
        counted[WHITE_CODES] = 0
    return counted


@inlined
def _number_text(start, end, counted, code_points, entered, known, number, is_reference):
    at = start
    while at < end:
        code = load_byte(at)
        if code < _ASCII:
            at += 1
            store_count(number, code + 1)
            # No branch, because a branch predictor cannot learn where words end.
            number += load_byte(counted + code)
            continue
        size = letter_size(code)
        code = code_point(at, size)
        at += size
        if code < CLASSES and load_byte(counted + code) == 0:
            continue
        place = code_points + code * NUMBER_BYTES
        known_number = load_count(place)
        if known_number == 0:
            known_number = known + 1
            if is_reference:
                known = known_number
                store_count(place, known_number)
                store_count(entered + (known - FIRST_NUMBER) * NUMBER_BYTES, code)
        store_count(number, known_number)
        number += NUMBER_BYTES
    return number, known


@inner
def number_characters(row, texts):
    """Numbers the characters of a segment; returns the largest number in the references."""
    counted, code_points, entered = texts.counted, texts.code_points, texts.entered
    bounds = texts.bounds
    known = FIRST_NUMBER - 1
    numbers = number = texts.numbers
    for text in range(texts.texts):
        store_int(bounds, text, (number - numbers) // NUMBER_BYTES)
        at = text * texts.rows + row
        start, end = load_int(texts.starts, at), load_int(texts.ends, at)
        if text < texts.reference_count:
            number, known = _number_text(
                start, end, counted, code_points, entered, known, number, True
            )
        else:
            number, _ = _number_text(
                start, end, counted, code_points, entered, known, number, False
            )
        number += NUMBER_BYTES  # a gap after each text
    store_int(bounds, texts.texts, (number - numbers) // NUMBER_BYTES)
    # The table is empty again for the next segment.
    for place in range(known + 1 - FIRST_NUMBER):
        code = number_at(entered, place)
        store_count(code_points + code * NUMBER_BYTES, 0)
    return known


_BOUND_BYTES = 8


class NumberedTexts(NamedTuple):
    """The texts of a batch, and memory for the numbers of one segment at a time: all are addresses.

    Text t of a segment has the tokens bounds[t] <= i < bounds[t + 1] - 1; the last one is the gap.
    """

    seed: Seed
    starts: int  # of int64 (texts, rows), the addresses of texts; 0 if one is missing
    ends: int
    rows: int
    texts: int  # of a segment; the references are the first ones
    reference_count: int
    rule: int
    bounds: int  # of texts + 1 int64
    numbers: int  # of all tokens, 32 bits each, and BLOCK more
    tokens: int  # three times TOKENS_IN_CACHE
    vocabulary: int  # VOCABULARY_BYTES; or KEYS_BYTES, where tokens have masks
    different: int  # all different tokens of the references
    token_index: int
    counted: int  # `counted_bytes`, for characters in place of tokens
    code_points: int  # CODE_POINTS_BYTES, all 0 before and after a segment
    entered: int  # a number for each byte of the references


SEED = new_seed()


def numbered_texts(
    memory: KeptMemory,
    spans: Spans,
    longest: int,
    reference_count: int,
    rule: int,
    *,
    whitespace: bool = True,
) -> tuple[NumberedTexts, list[Memory]]:
    """The texts of a batch with memory for numbers; and this memory, which the caller must keep."""
    texts, rows = spans.starts.shape
    # At most one token per byte, and one or two gaps after each text. Unused pages cost nothing.
    spaces = [
        memory.memory_for("bounds", (texts + 1) * _BOUND_BYTES),
        memory.memory_for("numbers", (longest + 2 * texts + BLOCK) * NUMBER_BYTES),
        memory.memory_for("tokens", 3 * TOKENS_IN_CACHE * TOKEN_BYTES),
        memory.memory_for("vocabulary", max(VOCABULARY_BYTES, KEYS_BYTES)),
        memory.memory_for("different tokens", most_different(longest) * TOKEN_BYTES),
        memory.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
    ]
    of_characters = [
        memory.zeros_for("numbers of code points", CODE_POINTS_BYTES),
        memory.memory_for("code points entered", longest * NUMBER_BYTES),
    ]
    addresses = [space.address for space in spaces]
    code_points, entered = (space.address for space in of_characters)
    counted = counted_bytes(whitespace).ctypes.data
    starts, ends = (places.ctypes.data for places in spans)
    made = NumberedTexts(
        *(SEED, starts, ends, rows, texts, reference_count, rule),
        *(*addresses, counted, code_points, entered),
    )
    return made, spaces + of_characters


@inlined
def is_missing(texts, row, reference):
    return load_int(texts.starts, reference * texts.rows + row) == 0


@inlined
def numbers_of(texts, text):
    return texts.numbers + load_int(texts.bounds, text) * NUMBER_BYTES


@inlined
def columns_of(counts, texts, row, text):
    """The address of the columns of a candidate in int64 (systems, rows, W)."""
    place = (text - texts.reference_count) * texts.rows + row
    return address_of(counts) + place * counts.shape[2] * 8


@inner
def number_texts(row, texts, written):
    """Numbers the tokens of all texts of a segment, equal ones equally, from 1 on; returns how many
    different ones the references have. `written` says whether `tokens` are those of all texts.
    """
    size = known = 0
    bounds, numbers, vocabulary = texts.bounds, texts.numbers, texts.vocabulary
    for text in range(texts.reference_count):
        at = text * texts.rows + row
        size += load_int(texts.ends, at) - load_int(texts.starts, at)
    begin_vocabulary(vocabulary, texts.different, texts.token_index, size, numbers)
    for text in range(texts.texts):
        if text == texts.reference_count:
            known = end_references(vocabulary)
        if written:
            first = texts.tokens + load_int(bounds, text) * TOKEN_BYTES
            last = texts.tokens + (load_int(bounds, text + 1) - 1) * TOKEN_BYTES
            number_tokens(first, last, vocabulary, texts.seed)
        else:
            number = load_int(vocabulary, NUMBER)
            store_int(bounds, text, (number - numbers) // NUMBER_BYTES)
            at = text * texts.rows + row
            start, end = load_int(texts.starts, at), load_int(texts.ends, at)
            number_text(start, end, texts.rule, texts.tokens, ANY, vocabulary, texts.seed)
        # A gap after each text.
        store_int(vocabulary, NUMBER, load_int(vocabulary, NUMBER) + NUMBER_BYTES)
    store_int(bounds, texts.texts, (load_int(vocabulary, NUMBER) - numbers) // NUMBER_BYTES)
    return known


@inner
def count_common(numbers, words, reference, reference_words, times):
    """How many words both texts have; `times` has a count for each number, 0 before and after."""
    common = 0
    for place in range(reference_words):
        of_word = times + number_at(reference, place) * NUMBER_BYTES
        store_count(of_word, load_count(of_word) + 1)
    for place in range(words):
        of_word = times + number_at(numbers, place) * NUMBER_BYTES
        left = load_count(of_word)
        is_common = min(left, 1)  # no branch, because it could not be predicted
        store_count(of_word, left - is_common)
        common += is_common
    for place in range(reference_words):
        store_count(times + number_at(reference, place) * NUMBER_BYTES, 0)
    return common
