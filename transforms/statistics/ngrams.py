"""Compiled counting of long texts: how many n-grams of each candidate occur in the references.

The number of an n-gram is the place of its slot in the table of its order. Two numbers identify the
n-gram: that of the (n-1)-gram before its last token, and that of this token. If there are few such
pairs, each pair has its own slot; otherwise both numbers, in one word, are the key in a hash table.
If an (n-1)-gram of a candidate is in no reference, the n-grams that it begins are not looked up.

Counts are clipped at once: the k-th occurrence in a candidate matches if one of the references has
at least k. The layouts in memory:

* number, two for each token: of the token, and of the n-gram that ends there (32 bits each; first
  all of the tokens, then all of the n-grams)
* slot: the key (a word, 0 if the slot is empty), LIMIT and USED, 32 bits each. LIMIT is the largest
  count in any single reference, less the occurrences in the candidate that is counted. USED is the
  count in one reference, plus the number of its first token: the first token of the next reference
  has a larger number than any such sum, so USED is never set back to 0.
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
    prefetch,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES
from beam_bleu.transforms.text.tokens import SLOT_BYTES, clear_table, home, step, table_bits

NUMBERS_BYTES = 2 * NUMBER_BYTES

SPARE_NUMBERS = 17  # how many more tokens the memory of numbers must have room for after the last
_AHEAD = 16 * NUMBER_BYTES
_LIMIT, _USED = 8, 12
_NOTHING = np.uint64(0)
_32 = np.uint64(32)


@inlined
def _key(number, shorter):
    return np.uint64(load_count(number)) << _32 | np.uint64(shorter)


@inlined
def _find(key, index, table, bits, seed):
    """The index of the slot with this key, or of an empty one; the search begins at `index`."""
    in_slot = load_word(table + index * SLOT_BYTES)
    while in_slot != key and in_slot != _NOTHING:
        index = (index + step(key, seed)) & ((1 << bits) - 1)
        in_slot = load_word(table + index * SLOT_BYTES)
    return index


@inlined
def _prefetch(number, to_gram, table, bits, seed):
    """Brings the slot of a later n-gram into the cache, which the processor cannot foresee."""
    ahead = number + _AHEAD
    key = _key(ahead, load_count(ahead + to_gram - NUMBER_BYTES))
    prefetch(table + home(key, bits, seed) * SLOT_BYTES)


@inlined
def _enter_grams(number, end, to_gram, first_token, table, base, bits, seed, is_hashed):
    """Enters the n-grams of a reference; returns the number of those that are new, if hashed.

    `number` is the address of the number of the last token of the first n-gram, and `end` that of
    the end of the text's numbers. `to_gram` is the distance from the number of a token to that of
    the (n-1)-gram that ends with it, which the n-gram's replaces. If each pair has its own slot,
    `base` is how many numbers tokens can have; `bits` is log2 of the slots of a hash table.
    """
    new = 0
    shorter = load_count(number + to_gram - NUMBER_BYTES)
    while number < end:
        if is_hashed:
            _prefetch(number, to_gram, table, bits, seed)
            key = _key(number, shorter)
            index = _find(key, home(key, bits, seed), table, bits, seed)
        else:
            index = shorter * base + load_count(number)
        slot = table + index * SLOT_BYTES
        if is_hashed:
            new += np.int64(load_word(slot) == _NOTHING)
            store_word(slot, key)
        count = max(load_count(slot + _USED), first_token) + 1
        store_count(slot + _USED, count)
        store_count(slot + _LIMIT, max(load_count(slot + _LIMIT), count - first_token))
        shorter = load_count(number + to_gram)
        store_count(number + to_gram, index)
        number += NUMBER_BYTES
    return new


@inlined
def _take_grams(number, end, to_gram, none, table, base, bits, seed, is_hashed):
    """Looks up the n-grams of a candidate; returns the number of those that match.

    `none` is the number of the (n-1)-grams that were not found. A branch predictor cannot learn
    whether an n-gram is found, so there is no branch: one that is not found is counted in the extra
    slot after the table, whose limit is never above 0. See `_enter_grams` for the other arguments.
    """
    matches = 0
    extra = 1 << bits
    shorter = load_count(number + to_gram - NUMBER_BYTES)
    while number < end:
        if is_hashed:
            _prefetch(number, to_gram, table, bits, seed)
            key = _key(number, shorter)
            place = home(key, bits, seed)
            index = _find(key, extra if shorter == none else place, table, bits, seed)
            index = index if load_word(table + index * SLOT_BYTES) != _NOTHING else extra
        else:
            index = shorter * base + load_count(number)
        place = table + index * SLOT_BYTES + _LIMIT
        limit = np.int64(np.int32(load_count(place)))
        store_count(place, limit - 1)
        matches += np.int64(limit > 0)
        shorter = load_count(number + to_gram)
        store_count(number + to_gram, index)
        number += NUMBER_BYTES
    return matches


@inlined
def _give_back(number, end, to_gram, table):
    while number < end:
        limit = table + load_count(number + to_gram) * SLOT_BYTES + _LIMIT
        store_count(limit, load_count(limit) + 1)
        number += NUMBER_BYTES


@inner
def match_long_segment(texts, max_order, known, table, matches, stride):
    """Writes the clipped matches of every candidate of one segment, for each order.

    Args:
      texts: with the numbers of the segment's tokens, in memory of NUMBERS_BYTES for each token and
        for SPARE_NUMBERS more. `known` is the number of different tokens of the references.
      table: address of memory for as many slots as `table_bits` gives for the tokens of the
        references with their gaps, and one more.
      matches: address of N int64 for the first candidate; `stride` is the bytes to the next ones.
    """
    bounds, numbers, seed = texts.bounds, texts.numbers, texts.seed
    reference_count = texts.reference_count
    to_gram = (load_int(bounds, texts.texts) + 1) * NUMBER_BYTES
    # All 0-grams are the same one, which has the number 0.
    clear(numbers + to_gram - NUMBER_BYTES, to_gram)
    entries = load_int(bounds, reference_count)
    base = known + 2
    slots, is_hashed, different, none = 1, False, entries, -1
    for order in range(1, max_order + 1):
        is_hashed |= slots * base > 1 << table_bits(entries)
        bits = 0
        if is_hashed:
            # An n-gram is an (n-1)-gram and a token.
            bits = table_bits(min(entries, different * known))
            clear_table(table, bits)
        else:
            slots *= base
            clear(table, slots * SLOT_BYTES)
        different = 0
        for text in range(texts.texts):
            first_token = load_int(bounds, text)
            begin = numbers + (first_token + order - 1) * NUMBER_BYTES
            end = numbers + (load_int(bounds, text + 1) - 1) * NUMBER_BYTES
            if text < reference_count:
                if is_hashed:
                    different += _enter_grams(
                        begin, end, to_gram, first_token, table, base, bits, seed, True
                    )
                else:
                    _enter_grams(begin, end, to_gram, first_token, table, base, bits, seed, False)
                continue
            if is_hashed:
                count = _take_grams(begin, end, to_gram, none, table, base, bits, seed, True)
            else:
                count = _take_grams(begin, end, to_gram, none, table, base, bits, seed, False)
            store_int(matches + (text - reference_count) * stride, order - 1, count)
            if text != texts.texts - 1:
                _give_back(begin, end, to_gram, table)
        if is_hashed:
            none = 1 << bits
        else:
            different = entries
