"""Compiled counting of the higher orders of a long segment with one candidate.

Here the hash table has the n-grams of the candidate, and the references are looked up. The number
of an n-gram is the place of its first occurrence in the candidate, with the bit UNIQUE if there
is no other occurrence. If an (n-1)-gram is unique, the n-gram that continues it is unique, too: it
ends at the next token. So it needs no slot, and a reference that has the (n-1)-gram is compared
with the next token of the candidate. Most n-grams of a text are unique from some order on. Then
the table is small, and the rest is read in the order of the texts.

The gap after the candidate stands for n-grams that the candidate does not have. Its token, and the
one after it, is 0, which no text has. So nothing continues it, and no branch is needed for it.

Each place of the candidate, and the gap, has two counts of 32 bits, LIMIT and USED (see
long_cells.py). A slot has the key (a word, 0 if the slot is empty), and the number of the n-gram.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    clear,
    load_count,
    load_int,
    load_word,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.statistics.ngrams.long_cells import ADD, TAKE, act
from beam_bleu.transforms.statistics.ngrams.long_slots import find_gram, gram_key, prefetch_gram
from beam_bleu.transforms.text.hashing import SLOT_BYTES, clear_table, home, table_bits
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

UNIQUE = 2**31
"""The bit of a number whose n-gram is in the candidate once."""

COUNTS_BYTES = 8
"""The memory for the two counts of a token."""

_PLACE = UNIQUE - 1
_NAME = 8
_USED = 4
_NOTHING = np.uint64(0)

IN_CACHE_BITS = 13
"""log2 of the number of slots up to which a table needs no prefetching."""


@inlined
def _prefetch_next(number, to_gram, table, bits, seed):
    if bits > IN_CACHE_BITS:
        prefetch_gram(number, to_gram, table, bits, seed)


@inner
def _enter_candidate(number, end, place, to_gram, table, bits, seed):
    """Numbers the n-grams of the candidate.

    Args:
      number: address of the number of the last token of the first n-gram.
      end: address of the end of the numbers.
      place: the place of this token.
      to_gram: from the number of a token to that of the n-gram that ends with it.
      table: address of an empty table.
      bits: log2 of the number of its slots.
      seed: the process's secret (see hashing.py).
    """
    grams = number - place * NUMBER_BYTES + to_gram
    shorter = load_count(number + to_gram - NUMBER_BYTES)
    while number < end:
        _prefetch_next(number, to_gram, table, bits, seed)
        next_shorter = load_count(number + to_gram)
        gram = UNIQUE | place
        if shorter < UNIQUE:
            key = gram_key(number, shorter)
            slot = table + find_gram(key, home(key, bits, seed), table, bits, seed) * SLOT_BYTES
            first = place
            if load_word(slot) != _NOTHING:
                first = gram = load_count(slot + _NAME) & _PLACE
            store_word(slot, key)
            store_count(slot + _NAME, gram)
            store_count(grams + first * NUMBER_BYTES, gram)  # the first one is not unique
        store_count(number + to_gram, gram)
        shorter = next_shorter
        number += NUMBER_BYTES
        place += 1


@inner
def _look_up_reference(number, end, to_gram, first_token, numbers, counts, none, table, bits, seed):
    """Counts the n-grams of a reference that the candidate has.

    `first_token` is the number of the reference's first token, `numbers` the address of the number
    of token 0, `counts` the address of its counts, and `none` the number of n-grams that the
    candidate does not have.
    """
    shorter = load_count(number + to_gram - NUMBER_BYTES)
    while number < end:
        _prefetch_next(number, to_gram, table, bits, seed)
        if shorter < UNIQUE:
            key = gram_key(number, shorter)
            slot = table + find_gram(key, home(key, bits, seed), table, bits, seed) * SLOT_BYTES
            gram = load_count(slot + _NAME) if load_word(slot) != _NOTHING else none
        else:
            gram = shorter + 1
            if load_count(numbers + (gram & _PLACE) * NUMBER_BYTES) != load_count(number):
                gram = none
        cell = counts + (gram & _PLACE) * COUNTS_BYTES
        act(cell, cell + _USED, first_token, ADD)
        shorter = load_count(number + to_gram)
        store_count(number + to_gram, gram)
        number += NUMBER_BYTES


@inner
def _take_candidate(gram, end, counts):
    """(The matches of the candidate, how many of its n-grams are not unique).

    `gram` is the address of the number of its first n-gram.
    """
    matches = repeated = 0
    while gram < end:
        number = load_count(gram)
        cell = counts + (number & _PLACE) * COUNTS_BYTES
        matches += act(cell, cell + _USED, 0, TAKE)
        repeated += np.int64(number < UNIQUE)
        gram += NUMBER_BYTES
    return matches, repeated


@inner
def follow_candidate(
    reference_count, bounds, max_order, direct, numbers, to_gram, table, matches, seed
):
    """Counts the orders above `direct` of a segment with one candidate.

    Args:
      reference_count: the number of references.
      bounds: address of the bounds of all texts (see `match_long_segment`).
      max_order: the largest n-gram order, N.
      direct: how many orders are counted; the n-grams of the last one have numbers below UNIQUE.
      numbers: address of NUMBERS_BYTES for each token and one more.
      to_gram: from the number of a token to that of the n-gram that ends with it.
      table: address of memory for a table for the candidate's tokens.
      matches: address of N int64 for the candidate.
      seed: the process's secret (see hashing.py).
    """
    start, gap = load_int(bounds, reference_count), load_int(bounds, reference_count + 1) - 1
    last = numbers + gap * NUMBER_BYTES
    store_count(last, 0)
    store_count(last + NUMBER_BYTES, 0)
    counts = numbers + 2 * to_gram
    hashed = gap - start
    for order in range(direct + 1, max_order + 1):
        place = start + order - 1
        if place >= gap:
            store_int(matches, order - 1, 0)
            continue
        bits = table_bits(hashed)
        clear_table(table, bits)
        clear(counts + place * COUNTS_BYTES, (gap + 1 - place) * COUNTS_BYTES)
        first = numbers + place * NUMBER_BYTES
        _enter_candidate(first, last, place, to_gram, table, bits, seed)
        for text in range(reference_count):
            first_token = load_int(bounds, text)
            _look_up_reference(
                numbers + (first_token + order - 1) * NUMBER_BYTES,
                numbers + (load_int(bounds, text + 1) - 1) * NUMBER_BYTES,
                to_gram,
                first_token,
                numbers,
                counts,
                UNIQUE | gap,
                table,
                bits,
                seed,
            )
        count, hashed = _take_candidate(first + to_gram, last + to_gram, counts)
        store_int(matches, order - 1, count)
