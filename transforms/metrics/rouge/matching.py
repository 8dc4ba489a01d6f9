"""Compiled code: the pairs of words, and the longest subsequence, that two texts have in common.

64 words of the reference are a block. For each number of a word there is a mask of its places in
the block, so that all places are compared at once. A long reference has several blocks, one after
the other, and what one of them leaves to the next is kept for each word of the candidate. So time
is proportional to the product of the lengths, divided by 64.

`candidate` and `reference` are addresses of the numbers of words, `words` and `columns` how many
there are. `masks` is the address of a word for each number, all 0 before and after, and `before`
that of a byte for each word of the candidate.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    clear,
    count_bits,
    load_byte,
    load_count,
    load_word,
    store_byte,
)
from beam_bleu.transforms.text.numbering import (
    COLUMNS,
    MASK_BYTES,
    NUMBER_BYTES,
    clear_masks,
    columns_inside,
    set_masks,
)

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner
def count_common_pairs(candidate, words, reference, columns, masks, before):
    """How many pairs of neighbouring words are in both texts, each as often as where it is rarer.

    A place of a pair in the reference can be claimed once. Equal pairs have equal places, so it
    does not matter which of them is claimed.
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
            number = load_count(candidate + word * NUMBER_BYTES)
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
    columns whose word is that of the next row, and `carry` is 1 if the block before carries into
    this one.
    """
    matched = row & here
    added = row + matched
    total = added + carry
    return total | (row - matched), np.uint64((added < row) | (total < added))


@inner
def count_longest_common(candidate, words, reference, columns, masks, before):
    """The length of the longest common subsequence."""
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
            here = load_word(masks + load_count(candidate + word * NUMBER_BYTES) * MASK_BYTES)
            if is_long:
                row, carry = next_row(row, here, np.uint64(load_byte(before + word)))
                store_byte(before + word, np.int64(carry))
            else:
                row = next_row(row, here, _NOTHING)[0]
        clear_masks(block, width, masks)
        length += count_bits(~row & columns_inside(width))
    return length
