"""Compiled counting: how many n-grams of each candidate occur in the references.

One segment at a time: its references and all its candidates, already tokenized.
Tokens, then n-grams, are found in a hash table of what the references hold. An
entry of order n >= 2 is identified by the entries of its first and of its last
n-1 tokens, so an n-gram is compared exactly by comparing one word.

What cannot match is never looked at: a reference n-gram counts only if both of
its (n-1)-grams occur in some candidate, a candidate's only if both of its occur
in a reference. Counts are clipped as they are made: the k-th occurrence in a
candidate matches if some reference has at least k.

All memory is addressed directly (see native/memory.py). The layouts:

* token: key, length, address (3 words; written by tokenization.py)
* gram, one for each occurrence still alive: position, and the index of its slot
  or, on the way there, the key of its pair (2 words). The position counts the
  segment's tokens, with a gap between its texts, so that neighbours are of one text.
* slot of the table: key (a word), then four 32-bit numbers: TAG, LIMIT (the
  largest count in any one reference), USED (the count in the text at hand),
  WANTED (whether any candidate has it). TAG is 0 in an empty slot.

Where a key's slot is depends on a secret of the process (hashing.py), so that no text
can be made to fill one place of the table.
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
    """log2 of the slots of a table for so many entries.

    Small tables are a quarter full, so that most look-ups end at the first slot
    without a mispredicted branch; large ones half full, to save memory.
    """
    wanted = 4 * entries if entries <= 4096 else 2 * entries
    bits = 4
    while (1 << bits) < wanted:
        bits += 1
    return bits


@njit
def _clear_table(table, bits):
    """Empties the slots and the one behind them, where what is not found is counted."""
    clear(table, ((1 << bits) + 1) * SLOT_BYTES)


@njit
def _home(key, bits, seed):
    """The slot where the search for a key begins (Dietzfelbinger et al. 1997).

    Under a random odd factor, two keys have the same home at most twice as often as
    random numbers would.
    """
    return np.int64((key * seed[1]) >> np.uint64(64 - bits))


@njit
def _step(key, seed):
    """How far on the next slot is: an odd number, so that every slot is tried.

    The step depends on the key. With one step for all, neighbouring keys pile up under
    one secret in a hundred, and each look-up walks along the pile.
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
    """Whether the slot is taken, and by another token than this one."""
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
    """The index of the slot that holds this token, or of the empty one where it would go."""
    index = _home(load_word(token), bits, seed)
    while _is_other_token(table + index * SLOT_BYTES, token, tokens):
        index = (index + _step(load_word(token), seed)) & ((1 << bits) - 1)
    return index


@njit
def _find_pair(key, table, bits, seed):
    """The index of the slot that holds this pair, or of the empty one where it would go."""
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
    """Counts an occurrence in a candidate: (where it was counted, 1 if found, 1 if it matches).

    Found or not is a coin toss that no branch predictor learns, so there is no
    branch: what is not found is counted in the slot behind the table, whose
    limit stays 0.
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
    """Looks up the tokens first..last-1 of a candidate; returns (end of those found, matches)."""
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
    """Looks up the n-grams of a candidate; returns (end of those found, matches)."""
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
def _fill_table(references, bounds, ends, grams, table, seed):
    """Enters the references' next order into a fresh table; returns its bits."""
    entries = 0
    for text in range(references):
        begin = grams + load_int(bounds, text) * GRAM_BYTES
        end = _pair_up(begin, _keep_wanted(begin, load_int(ends, text), table))
        store_int(ends, text, end)
        entries += (end - begin) // GRAM_BYTES
    bits = table_bits(entries)
    _clear_table(table, bits)
    for text in range(references):
        begin = grams + load_int(bounds, text) * GRAM_BYTES
        _add_pairs(begin, load_int(ends, text), table, bits, seed)
    return bits


@njit
def match_segment(
    references, texts, bounds, ends, max_order, tokens, grams, table, matches, stride, seed
):
    """Writes the clipped matches of every candidate of one segment, for each order.

    Args:
      references: how many of the texts, the first ones, are references.
      texts: how many texts there are; the others are candidates.
      bounds: address of texts + 1 int64: text t has the tokens bounds[t] up to
        but without bounds[t + 1] - 1, which is the gap.
      ends: address of room for an int64 of each text.
      max_order: the largest n-gram order, N.
      tokens: address of the segment's tokens.
      grams: address of room for as many grams as bounds[texts].
      table: address of room for 2 ** table_bits(bounds[references]) + 1 slots.
      matches: address of N int64 zeros for the first candidate.
      stride: bytes from there to those of the next candidate.
      seed: the process's secret (see hashing.py).
    """
    bits = table_bits(load_int(bounds, references))
    _clear_table(table, bits)
    for text in range(references):
        first, last = load_int(bounds, text), load_int(bounds, text + 1) - 1
        store_int(ends, text, _add_tokens(first, last, tokens, grams, table, bits, seed))
    any_match = 0
    for text in range(references, texts):
        first, last = load_int(bounds, text), load_int(bounds, text + 1) - 1
        end, count = _take_tokens(first, last, tokens, grams, table, bits, seed)
        store_int(ends, text, end)
        store_int(matches + (text - references) * stride, 0, count)
        any_match |= count
    for order in range(2, max_order + 1):
        if any_match == 0:
            break  # without an (n-1)-gram no n-gram can match
        bits = _fill_table(references, bounds, ends, grams, table, seed)
        any_match = 0
        for text in range(references, texts):
            begin = grams + load_int(bounds, text) * GRAM_BYTES
            end = _pair_up(begin, load_int(ends, text))
            end, count = _take_pairs(begin, end, table, bits, seed)
            store_int(ends, text, end)
            store_int(matches + (text - references) * stride, order - 1, count)
            any_match |= count
