"""Compiled counting: how many n-grams of each candidate occur in the references.

The code handles one segment at a time: its references and all its candidates, already
tokenized. It puts the tokens of the references into a hash table and looks up those of the
candidates. Then it does the same for the n-grams of each order. An entry of order n >= 2 is
identified by the entries of its first and of its last n-1 tokens, so the comparison of one
word compares n-grams exactly.

N-grams that cannot match are left out: an n-gram of a reference stays only if both of its
(n-1)-grams occur in a candidate, and an n-gram of a candidate stays only if both of its
(n-1)-grams occur in a reference. Counts are clipped at once: the k-th occurrence in a
candidate matches if one of the references has at least k.

All memory is addressed directly (see native/memory.py). The layouts:

* token: key, length, address (3 words; tokenization.py writes them)
* gram, one for each occurrence that is left: its position, and the index of its slot or,
  before that is known, the key of its pair (2 words). Positions number the segment's tokens,
  with a gap between texts, so that only tokens of the same text are neighbours.
* slot of the table: key (a word), then four 32-bit numbers: TAG, LIMIT (the largest count in
  any single reference), USED (the count in the current text), WANTED (whether a candidate
  has it). TAG is 0 in an empty slot.

The slot of a key depends on a secret of the process (hashing.py), so an attacker cannot write a
text whose tokens all fall into the same place of the table.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from beam_bleu.transforms.native.memory import (
    clear,
    load_count,
    load_int,
    load_word,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.statistics.hashing import hashed
from beam_bleu.transforms.statistics.tokenization import ADDRESS, LENGTH, TOKEN_BYTES

GRAM_BYTES = 16
SLOT_BYTES = 24

_TAG, _LIMIT, _USED, _WANTED = 8, 12, 16, 20
_SLOT_INDEX = _PAIR_KEY = 8

_NOTHING = np.uint64(0)
_32 = np.uint64(32)


@njit
def table_bits(entries):
    """log2 of the number of slots of a table for this number of entries.

    Small tables are a quarter full, so that most look-ups end at the first slot without a
    mispredicted branch. Large tables are half full, to save memory.
    """
    wanted = 4 * entries if entries <= 4096 else 2 * entries
    bits = 4
    while (1 << bits) < wanted:
        bits += 1
    return bits


@njit
def _clear_table(table, bits):
    """Empties all slots, and the extra slot after them, which counts entries that are not found."""
    clear(table, ((1 << bits) + 1) * SLOT_BYTES)


@njit
def _home(key, bits, seed):
    """The slot where the search for a key begins (Dietzfelbinger et al. 1997).

    With a random odd factor, two keys have the same home at most twice as often as random
    numbers.
    """
    return np.int64((key * seed[1]) >> np.uint64(64 - bits))


@njit
def _step(key, seed):
    """The distance to the next slot of a search: an odd number, so that every slot is tried.

    The step depends on the key. With the same step for all keys, one secret in a hundred puts
    neighbouring keys into one long run of slots, and each look-up goes through the run.
    """
    return np.int64(hashed(key, seed)) | 1


@njit
def _same_bytes(one, other, length):
    """Compares two texts of the same length, 8 bytes or more."""
    last = length - 8
    at = 0
    while at < last:
        if load_word(one + at) != load_word(other + at):
            return False
        at += 8
    return load_word(one + last) == load_word(other + last)


@njit
def _is_other_token(slot, token, tokens):
    """Whether another token than this one is in the slot."""
    tag = load_count(slot + _TAG)
    if tag == 0:
        return False
    if load_word(slot) != load_word(token):
        return True
    holder = tokens + (tag - 1) * TOKEN_BYTES
    length = np.int64(load_word(token + LENGTH))
    if np.int64(load_word(holder + LENGTH)) != length:
        return True
    return length > 8 and not _same_bytes(
        np.int64(load_word(holder + ADDRESS)), np.int64(load_word(token + ADDRESS)), length
    )


@njit
def _find_token(token, tokens, table, bits, seed):
    """The index of the slot with this token, or of the empty slot for it."""
    index = _home(load_word(token), bits, seed)
    while _is_other_token(table + index * SLOT_BYTES, token, tokens):
        index = (index + _step(load_word(token), seed)) & ((1 << bits) - 1)
    return index


@njit
def _find_pair(key, table, bits, seed):
    """The index of the slot with this pair, or of the empty slot for it."""
    index = _home(key, bits, seed)
    slot = table + index * SLOT_BYTES
    while load_count(slot + _TAG) != 0 and load_word(slot) != key:
        index = (index + _step(key, seed)) & ((1 << bits) - 1)
        slot = table + index * SLOT_BYTES
    return index


@njit
def _put_gram(gram, position, index):
    store_word(gram, np.uint64(position))
    store_word(gram + _SLOT_INDEX, np.uint64(index))


@njit
def _add(table, index, key, tag):
    """Counts an occurrence in a reference."""
    slot = table + index * SLOT_BYTES
    used = load_count(slot + _USED) + 1
    store_word(slot, key)
    store_count(slot + _TAG, tag)
    store_count(slot + _USED, used)
    store_count(slot + _LIMIT, max(used, load_count(slot + _LIMIT)))


@njit
def _take(table, index, bits):
    """Counts an occurrence in a candidate: (its slot, 1 if found, 1 if it matches).

    A branch predictor cannot learn whether an entry is found, so there is no branch: an entry
    that is not found is counted in the extra slot after the table, whose limit stays 0.
    """
    found = load_count(table + index * SLOT_BYTES + _TAG) != 0
    index = index if found else 1 << bits
    slot = table + index * SLOT_BYTES
    used = load_count(slot + _USED)
    store_count(slot + _USED, used + 1)
    store_count(slot + _WANTED, 1)
    return index, np.int64(found), np.int64(used < load_count(slot + _LIMIT))


@njit
def _reset_used(table, gram, end):
    while gram < end:
        index = np.int64(load_word(gram + _SLOT_INDEX))
        store_count(table + index * SLOT_BYTES + _USED, 0)
        gram += GRAM_BYTES


@njit
def _add_tokens(first, last, tokens, grams, table, bits, seed):
    """Enters the tokens first..last-1 of a reference; returns the end of its grams."""
    gram = begin = grams + first * GRAM_BYTES
    for position in range(first, last):
        token = tokens + position * TOKEN_BYTES
        index = _find_token(token, tokens, table, bits, seed)
        _add(table, index, load_word(token), position + 1)
        _put_gram(gram, position, index)
        gram += GRAM_BYTES
    _reset_used(table, begin, gram)
    return gram


@njit
def _take_tokens(first, last, tokens, grams, table, bits, seed):
    """Looks up the tokens first..last-1 of a candidate; returns (end of its grams, matches)."""
    gram = begin = grams + first * GRAM_BYTES
    matches = 0
    for position in range(first, last):
        token = tokens + position * TOKEN_BYTES
        index = _find_token(token, tokens, table, bits, seed)
        index, found, matched = _take(table, index, bits)
        _put_gram(gram, position, index)
        gram += GRAM_BYTES * found
        matches += matched
    _reset_used(table, begin, gram)
    return gram, matches


@njit
def _pair_up(gram, end):
    """Joins neighbouring (n-1)-grams to n-grams: (position, key); returns the new end."""
    paired = gram
    while gram + GRAM_BYTES < end:
        position = load_word(gram)
        following = gram + GRAM_BYTES
        key = (load_word(gram + _SLOT_INDEX) << _32) | load_word(following + _SLOT_INDEX)
        store_word(paired, position)
        store_word(paired + _PAIR_KEY, key)
        paired += GRAM_BYTES * np.int64(load_word(following) == position + np.uint64(1))
        gram = following
    return paired


@njit
def _add_pairs(gram, end, table, bits, seed):
    """Enters the n-grams of a reference, turning each pair's key into its slot."""
    begin = gram
    while gram < end:
        key = load_word(gram + _PAIR_KEY)
        index = _find_pair(key, table, bits, seed)
        _add(table, index, key, 1)
        store_word(gram + _SLOT_INDEX, np.uint64(index))
        gram += GRAM_BYTES
    _reset_used(table, begin, end)


@njit
def _take_pairs(gram, end, table, bits, seed):
    """Looks up the n-grams of a candidate; returns (end of its grams, matches)."""
    begin = kept = gram
    matches = 0
    while gram < end:
        index = _find_pair(load_word(gram + _PAIR_KEY), table, bits, seed)
        index, found, matched = _take(table, index, bits)
        _put_gram(kept, load_word(gram), index)
        kept += GRAM_BYTES * found
        matches += matched
        gram += GRAM_BYTES
    _reset_used(table, begin, kept)
    return kept, matches


@njit
def _keep_wanted(gram, end, table):
    """Drops the grams of a reference that no candidate has; returns the new end."""
    kept = gram
    while gram < end:
        index = np.int64(load_word(gram + _SLOT_INDEX))
        _put_gram(kept, load_word(gram), index)
        kept += GRAM_BYTES * load_count(table + index * SLOT_BYTES + _WANTED)
        gram += GRAM_BYTES
    return kept


@njit
def _fill_table(reference_count, bounds, ends, grams, table, seed):
    """Enters the references' next order into a fresh table; returns its bits."""
    entries = 0
    for text in range(reference_count):
        begin = grams + load_int(bounds, text) * GRAM_BYTES
        end = _pair_up(begin, _keep_wanted(begin, load_int(ends, text), table))
        store_int(ends, text, end)
        entries += (end - begin) // GRAM_BYTES
    bits = table_bits(entries)
    _clear_table(table, bits)
    for text in range(reference_count):
        begin = grams + load_int(bounds, text) * GRAM_BYTES
        _add_pairs(begin, load_int(ends, text), table, bits, seed)
    return bits


@njit
def match_segment(
    reference_count, texts, bounds, ends, max_order, tokens, grams, table, matches, stride, seed
):
    """Writes the clipped matches of every candidate of one segment, for each order.

    Args:
      reference_count: the number of references; they are the first texts.
      texts: the number of all texts; the others are candidates.
      bounds: address of texts + 1 int64: text t has the tokens bounds[t] <= i <
        bounds[t + 1] - 1; the last one is the gap.
      ends: address of memory for one int64 for each text.
      max_order: the largest n-gram order, N.
      tokens: address of the segment's tokens.
      grams: address of memory for bounds[texts] grams.
      table: address of memory for 2 ** table_bits(bounds[reference_count]) + 1 slots.
      matches: address of N int64 zeros for the first candidate.
      stride: bytes from these to the zeros of the next candidate.
      seed: the process's secret (see hashing.py).
    """
    bits = table_bits(load_int(bounds, reference_count))
    _clear_table(table, bits)
    for text in range(reference_count):
        first, last = load_int(bounds, text), load_int(bounds, text + 1) - 1
        store_int(ends, text, _add_tokens(first, last, tokens, grams, table, bits, seed))
    any_match = 0
    for text in range(reference_count, texts):
        first, last = load_int(bounds, text), load_int(bounds, text + 1) - 1
        end, count = _take_tokens(first, last, tokens, grams, table, bits, seed)
        store_int(ends, text, end)
        store_int(matches + (text - reference_count) * stride, 0, count)
        any_match |= count
    for order in range(2, max_order + 1):
        if any_match == 0:
            break  # without an (n-1)-gram no n-gram can match
        bits = _fill_table(reference_count, bounds, ends, grams, table, seed)
        any_match = 0
        for text in range(reference_count, texts):
            begin = grams + load_int(bounds, text) * GRAM_BYTES
            end = _pair_up(begin, load_int(ends, text))
            end, count = _take_pairs(begin, end, table, bits, seed)
            store_int(ends, text, end)
            store_int(matches + (text - reference_count) * stride, order - 1, count)
            any_match |= count
