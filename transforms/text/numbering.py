"""Numbers the different tokens of a segment's references, in compiled code.

The tokens of a long text are numbered in groups, while they are in the nearest cache. Only the
different ones are kept: number i, from 1 on, is token i - 1 of these. An index finds them: a hash
table whose slots have the high half of the token's key, and its number. An empty slot is 0. It
begins small, because a large one would cost more than a long text of few different tokens.

The vocabulary has int64: the addresses of the different tokens and of the index; log2 of the number
of slots now and at most; the number of different tokens; that of tokens that no reference has, or 0
while the references are numbered; and the address of the number of the next token.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import callable_by_compiled, inlined, inner
from beam_bleu.transforms.native.memory import (
    clear,
    load_count,
    load_int,
    load_word,
    prefetch,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.text.tokens import (
    FIRST,
    SECOND,
    TOKEN_BYTES,
    home,
    is_same_token,
    step,
    write_token,
)

NUMBER_BYTES = 4
COLUMNS = 64  # the numbers of a text that are a block: a mask has a bit for each
MASK_BYTES = 8
_TOKENS, _INDEX, _BITS, _MOST_BITS, _KNOWN, _OTHER, NUMBER = range(7)
VOCABULARY_BYTES = 7 * 8
INDEX_SLOT_BYTES = 8
_FEWEST_BITS = 8
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = ~_LOW
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def most_different(size: int) -> int:
    """The most different tokens in this number of bytes: at most 256 of them have one byte."""
    return size // 2 + 256


def most_index_bits(size: int) -> int:
    bits = _FEWEST_BITS
    while (1 << bits) < 2 * most_different(size):
        bits += 1
    return bits


callable_by_compiled(most_different)
callable_by_compiled(most_index_bits)


@inner
def begin_vocabulary(vocabulary, tokens, index, size, numbers):
    clear(vocabulary, VOCABULARY_BYTES)
    store_int(vocabulary, _TOKENS, tokens)
    store_int(vocabulary, _INDEX, index)
    store_int(vocabulary, _BITS, _FEWEST_BITS)
    store_int(vocabulary, _MOST_BITS, most_index_bits(size))
    store_int(vocabulary, NUMBER, numbers)
    clear(index, INDEX_SLOT_BYTES << _FEWEST_BITS)


@inner
def end_references(vocabulary):
    """From here on, tokens that are not known get the same number. Returns how many are known."""
    known = load_int(vocabulary, _KNOWN)
    store_int(vocabulary, _OTHER, known + 1)
    return known


@inlined
def number_at(numbers, place):
    return load_count(numbers + place * NUMBER_BYTES)


@inlined
def length_of(bounds, text):
    """How many numbers a text has, by the bounds of all texts."""
    return load_int(bounds, text + 1) - 1 - load_int(bounds, text)


@inlined
def columns_inside(columns):
    return _ALL >> np.uint64(COLUMNS - columns)


@inlined
def set_masks(numbers, columns, masks):
    bit = _ONE
    for column in range(columns):
        place = masks + number_at(numbers, column) * MASK_BYTES
        store_word(place, load_word(place) | bit)
        bit <<= _ONE


@inlined
def clear_masks(numbers, columns, masks):
    for column in range(columns):
        store_word(masks + number_at(numbers, column) * MASK_BYTES, _NOTHING)


@inlined
def _is_other_token(slot, token, tokens):
    if slot == _NOTHING:
        return False
    if (slot ^ load_word(token)) > _LOW:
        return True
    known_token = tokens + (np.int64(slot & _LOW) - 1) * TOKEN_BYTES
    words = load_word(token + FIRST) ^ load_word(known_token + FIRST)
    words |= load_word(token + SECOND) ^ load_word(known_token + SECOND)
    return words != _NOTHING and not is_same_token(token, known_token)


@inner
def _grow(vocabulary, seed):
    tokens, index = load_int(vocabulary, _TOKENS), load_int(vocabulary, _INDEX)
    bits = min(load_int(vocabulary, _BITS) + 2, load_int(vocabulary, _MOST_BITS))
    store_int(vocabulary, _BITS, bits)
    clear(index, INDEX_SLOT_BYTES << bits)
    for number in range(load_int(vocabulary, _KNOWN)):
        key = load_word(tokens + number * TOKEN_BYTES)
        at = home(key, bits, seed)
        while load_word(index + at * INDEX_SLOT_BYTES) != _NOTHING:
            at = (at + step(key, seed)) & ((1 << bits) - 1)
        store_word(index + at * INDEX_SLOT_BYTES, (key & _HIGH) | np.uint64(number + 1))


@inner
def number_places(first, last, entities_end, vocabulary, seed):
    """Makes tokens of their places, at the addresses first..last, and writes their numbers."""
    index, bits = load_int(vocabulary, _INDEX), load_int(vocabulary, _BITS)
    token = first
    while token < last:
        write_token(token, entities_end, seed)
        prefetch(index + home(load_word(token), bits, seed) * INDEX_SLOT_BYTES)
        token += TOKEN_BYTES
    number_tokens(first, last, vocabulary, seed)


@inner
def number_tokens(token, last, vocabulary, seed):
    tokens, index = load_int(vocabulary, _TOKENS), load_int(vocabulary, _INDEX)
    bits, other = load_int(vocabulary, _BITS), load_int(vocabulary, _OTHER)
    place = load_int(vocabulary, NUMBER)
    while token < last:
        key = load_word(token)
        at = home(key, bits, seed)
        slot = load_word(index + at * INDEX_SLOT_BYTES)
        while _is_other_token(slot, token, tokens):
            at = (at + step(key, seed)) & ((1 << bits) - 1)
            slot = load_word(index + at * INDEX_SLOT_BYTES)
        number = np.int64(slot & _LOW)
        if number == 0:
            number = other
            if other == 0:
                known = load_int(vocabulary, _KNOWN)
                number = known + 1
                store_int(vocabulary, _KNOWN, number)
                kept = tokens + known * TOKEN_BYTES
                store_word(kept, key)
                store_word(kept + FIRST, load_word(token + FIRST))
                store_word(kept + SECOND, load_word(token + SECOND))
                store_word(index + at * INDEX_SLOT_BYTES, (key & _HIGH) | np.uint64(number))
                if number * 2 > 1 << bits:
                    _grow(vocabulary, seed)
                    bits = load_int(vocabulary, _BITS)
        store_count(place, number)
        place += NUMBER_BYTES
        token += TOKEN_BYTES
    store_int(vocabulary, NUMBER, place)
