"""Compiled counting of long texts: how many n-grams of each candidate occur in the references.

This is for references that are too long for the bit operations of a metric's own kernel (see
matching.py of BLEU and of chrF). The code handles one segment at a time: its references and all its
candidates. Its time is linear in the bytes for every text. It works in three steps:

1. Each different token of the references gets a number from 1 on (numbered_texts.py). Each token
   of a text becomes its number, in 32 bits.
2. The first orders are counted without hashing (long_cells.py). There are as many, at most four,
   as have cells for the memory of the table: all four for a text that repeats a few symbols, and
   only the first for a text of many words.
3. Each further order has a hash table (hashing.py). An n-gram is identified by the number of
   the (n-1)-gram before its last token, and by the number of this token. Both fit into one word,
   so n-grams are compared exactly. The slot of an n-gram is its number for the next order. Where
   an (n-1)-gram of a candidate does not occur, no longer n-gram is looked up. If there is one
   candidate, and it is not much longer than the references, long_following.py does this step.

Counts are clipped at once: the k-th occurrence in a candidate matches if one of the
references has at least k.

All memory is addressed directly (see native/memory.py). The layouts:

* number, two for each token: of the token, and of the n-gram that ends there (32 bits each; first
  all of the tokens, then all of the n-grams)
* slot of a table of n-grams: the key (a word, 0 if the slot is empty), then LIMIT and USED, 32 bits
  each (see long_cells.py)
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
from beam_bleu.transforms.statistics.ngrams.long_cells import (
    ADD,
    CELL_BYTES,
    COUNT,
    TAKE,
    act,
    direct_orders,
    walk_add,
    walk_count,
    walk_take,
)
from beam_bleu.transforms.statistics.ngrams.long_following import (
    COUNTS_BYTES,
    IN_CACHE_BITS,
    UNIQUE,
    follow_candidate,
)
from beam_bleu.transforms.statistics.ngrams.long_slots import find_gram, gram_key, prefetch_gram
from beam_bleu.transforms.text.hashing import (
    SLOT_BYTES,
    clear_table,
    home,
    table_bits,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

NUMBERS_BYTES = 2 * NUMBER_BYTES + COUNTS_BYTES
"""The memory for the numbers of a token, and for its counts in long_following.py."""

_LIMIT, _USED = 8, 12
_NOTHING = np.uint64(0)


@inlined
def _enter_grams(number, end, to_gram, first_token, table, bits, seed, action):
    """Enters the n-grams of a reference; returns the number of those that are new.

    `number` is the address of the number of the last token of the first n-gram. The number of each
    (n-1)-gram is replaced by that of the n-gram that ends at the same token. `first_token` is the
    number of the reference's first token.
    """
    new = 0
    shorter = load_count(number + to_gram - NUMBER_BYTES)
    while number < end:
        prefetch_gram(number, to_gram, table, bits, seed)
        key = gram_key(number, shorter)
        index = find_gram(key, home(key, bits, seed), table, bits, seed)
        slot = table + index * SLOT_BYTES
        new += np.int64(load_word(slot) == _NOTHING)
        store_word(slot, key)
        act(slot + _LIMIT, slot + _USED, first_token, action)
        shorter = load_count(number + to_gram)
        store_count(number + to_gram, index)
        number += NUMBER_BYTES
    return new


@inner
def _count_grams(number, end, to_gram, table, bits, seed):
    return _enter_grams(number, end, to_gram, 0, table, bits, seed, COUNT)


@inner
def _add_grams(number, end, to_gram, first_token, table, bits, seed):
    return _enter_grams(number, end, to_gram, first_token, table, bits, seed, ADD)


@inner
def _take_grams(number, end, to_gram, none, table, bits, seed):
    """Looks up the n-grams of a candidate; returns the number of those that match.

    `none` is the number of the (n-1)-grams that were not found. A branch predictor cannot
    learn whether an n-gram is found, so there is no branch: one that is not found is
    counted in the extra slot after the table, whose limit is never above 0.
    """
    matches = 0
    extra = 1 << bits
    shorter = load_count(number + to_gram - NUMBER_BYTES)
    while number < end:
        prefetch_gram(number, to_gram, table, bits, seed)
        key = gram_key(number, shorter)
        place = home(key, bits, seed)
        index = find_gram(key, extra if shorter == none else place, table, bits, seed)
        slot = table + index * SLOT_BYTES
        index = index if load_word(slot) != _NOTHING else extra
        slot = table + index * SLOT_BYTES
        matches += act(slot + _LIMIT, slot + _USED, 0, TAKE)
        shorter = load_count(number + to_gram)
        store_count(number + to_gram, index)
        number += NUMBER_BYTES
    return matches


@inlined
def _restore_grams(number, end, to_gram, table):
    """Gives back what a candidate has taken, for the next one."""
    while number < end:
        slot = table + load_count(number + to_gram) * SLOT_BYTES
        act(slot + _LIMIT, slot + _USED, 0, COUNT)
        number += NUMBER_BYTES


@inner
def _count_orders(
    reference_count,
    texts,
    bounds,
    max_order,
    direct,
    known,
    numbers,
    to_gram,
    table,
    matches,
    stride,
    seed,
):
    """Counts the orders above `direct` with hash tables."""
    entries = load_int(bounds, reference_count)
    different = entries
    none = -1
    for order in range(direct + 1, max_order + 1):
        # An n-gram is an (n-1)-gram and a token.
        bits = table_bits(min(entries, different * known))
        clear_table(table, bits)
        different = 0
        for text in range(texts):
            first_token = load_int(bounds, text)
            begin = numbers + (first_token + order - 1) * NUMBER_BYTES
            end = numbers + (load_int(bounds, text + 1) - 1) * NUMBER_BYTES
            if text >= reference_count:
                count = 0
                if begin < end:
                    count = _take_grams(begin, end, to_gram, none, table, bits, seed)
                store_int(matches + (text - reference_count) * stride, order - 1, count)
                if text != texts - 1:
                    _restore_grams(begin, end, to_gram, table)
            elif begin < end:
                if reference_count == 1:
                    different += _count_grams(begin, end, to_gram, table, bits, seed)
                else:
                    different += _add_grams(begin, end, to_gram, first_token, table, bits, seed)
        none = 1 << bits


@inner
def match_long_segment(
    reference_count, texts, bounds, max_order, known, numbers, table, matches, stride, seed
):
    """Writes the clipped matches of every candidate of one segment, for each order.

    Args:
      reference_count: the number of references; they are the first texts.
      texts: the number of all texts; the others are candidates.
      bounds: address of texts + 1 int64: text t has the tokens bounds[t] <= i <
        bounds[t + 1] - 1; the last one is the gap.
      max_order: the largest n-gram order, N.
      known: the number of different tokens of the references.
      numbers: address of NUMBERS_BYTES for each of bounds[texts] + SPARE_NUMBERS tokens; those of
        the tokens are written.
      table: address of memory for 2 ** table_bits(bounds[reference_count]) + 1 slots.
      matches: address of N int64 for the first candidate.
      stride: bytes from these to those of the next candidate.
      seed: the process's secret (see hashing.py).
    """
    to_gram = (load_int(bounds, texts) + 1) * NUMBER_BYTES
    other, base = known + 1, known + 2
    # With several references, a cell has two counts.
    of_cell = CELL_BYTES if reference_count == 1 else 2 * CELL_BYTES
    memory = SLOT_BYTES << table_bits(load_int(bounds, reference_count))
    direct, cells = direct_orders(base, memory // (2 * CELL_BYTES), max_order)
    clear(table, cells * of_cell)
    to_used = cells * CELL_BYTES
    for text in range(texts):
        first = load_int(bounds, text)
        begin = numbers + first * NUMBER_BYTES
        end = numbers + (load_int(bounds, text + 1) - 1) * NUMBER_BYTES
        before = 0 if text < reference_count else other
        if text >= reference_count:
            counts = matches + (text - reference_count) * stride
            walk_take(begin, end, to_gram, before, base, table, to_used, 0, counts, direct)
        if (reference_count == 1 and text == 0) or reference_count <= text < texts - 1:
            walk_count(begin, end, to_gram, before, base, table, to_used, 0, matches, direct)
        elif text < reference_count:
            walk_add(begin, end, to_gram, before, base, table, to_used, first, matches, direct)
    entries = load_int(bounds, reference_count)
    tokens = load_int(bounds, texts) - entries
    # A table of one reference that stays in the near cache is quicker with `_count_orders`, by a
    # tenth. So are one or two orders: the first one has a table as large there, and one pass less.
    is_worth_it = reference_count > 1 or (
        table_bits(entries) > IN_CACHE_BITS and direct + 3 <= max_order
    )
    if (
        is_worth_it
        and texts == reference_count + 1
        and direct < max_order
        and table_bits(tokens) <= table_bits(entries)
        and cells <= UNIQUE
        and load_int(bounds, texts) <= UNIQUE
    ):
        follow_candidate(
            reference_count, bounds, max_order, direct, numbers, to_gram, table, matches, seed
        )
    elif direct < max_order:
        _count_orders(
            reference_count,
            texts,
            bounds,
            max_order,
            direct,
            known,
            numbers,
            to_gram,
            table,
            matches,
            stride,
            seed,
        )
