"""Compiled code: the edit distance of two texts, as rows of bits.

D[i][j] is the least number of symbols to insert, to delete and to substitute, so that the first j
symbols of the reference become the first i symbols of the candidate. Neighbours in the table D
differ by at most 1, so a row of it is a few words of bits (Myers 1999,
https://doi.org/10.1145/316542.316550; Hyyrö 2003): the columns that are 1 more than the one before,
and those that are 1 less. 64 columns, one word of each mask, are a block. (The rows of TER keep
more, in other words, and stop at 64 columns.)

The deletions are counted on one of the shortest ways through the table: of several, that of
RapidFuzz (`recover_alignment`). From the end of the table back to its beginning, it prefers to
delete, then to insert, and then to keep or substitute a symbol.

`candidate` and `reference` are addresses of the numbers of symbols (words or characters), `symbols`
and `columns` how many there are. `masks` is the address of a word for each number, all 0 before and
after.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    count_bits,
    leading_zeros,
    load_byte,
    load_count,
    load_int,
    load_word,
    store_byte,
    store_word,
)
from beam_bleu.transforms.text.numbering import (
    COLUMNS,
    MASK_BYTES,
    NUMBER_BYTES,
    clear_masks,
    columns_inside,
    set_masks,
)

ROW_BYTES = 16
"""What a row has of a block: the mask of the columns that are 1 more, and then that of 1 less."""

_LESS = 8

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_LAST = np.uint64(COLUMNS - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _next(more, less, equal, not_more_before, less_before):
    """(more, less) of a block's next row, and (not more, less) of the column before the next block.

    `more` and `less` are the columns that are 1 more and 1 less than the one before, `equal` those
    whose symbol is that of the next row. `not_more_before` is 0 if the column before the block
    grows by 1 to the next row, else 1; `less_before` is 1 if it falls by 1, else 0.
    """
    equal |= less_before
    kept = equal & more
    carried = kept + more
    changed = (carried ^ more) | equal | less
    not_more_below = (carried | more | equal) & ~less
    less_below = (more & ~carried) | kept
    doubled = not_more_below + not_more_below
    not_one_more = doubled + not_more_before
    one_less = (less_below << _ONE) | less_before
    return (
        one_less | (not_one_more & ~changed),
        changed & ~not_one_more,
        # This is the highest bit. For a shift, LLVM would choose SHLD, which is slow on AMD.
        np.uint64(doubled < not_more_below),
        less_below >> _LAST,
    )


@inlined
def _load_change(before):
    """(not more, less) before a block, from a byte of `before` (see `write_block`)."""
    change = np.uint64(load_byte(before))
    return change & _ONE, change >> _ONE


@inlined
def _store_change(before, not_more, less):
    store_byte(before, np.int64(not_more | (less << _ONE)))


@inlined
def grown(more, less, columns):
    """By how much the row of a block grows over this number of its columns, 1 to 64."""
    inside = columns_inside(columns)
    return count_bits(more & inside) - count_bits(less & inside)


@inlined
def change(more, less, column):
    """By how much a column of a block is more than the one before."""
    bit = np.uint64(column)
    return np.int64((more >> bit) & _ONE) - np.int64((less >> bit) & _ONE)


@inner
def write_block(candidate, first, end, reference, columns, masks, before, rows):
    """Computes the rows first..end of a block, and returns (more, less) of the last one.

    The block begins as if each of its columns was 1 more than the one before.

    Args:
      before: address of a byte for each symbol: whether the column before the block grows (0) or
        falls (3) in its row, or neither (1). It is overwritten by that of the next block.
      rows: address of memory for end - first rows; 0 if they are not kept.
    """
    set_masks(reference, columns, masks)
    more, less = _ALL, _NOTHING
    for symbol in range(first, end):
        not_more_before, less_before = _load_change(before + symbol)
        equal = load_word(masks + load_count(candidate + symbol * NUMBER_BYTES) * MASK_BYTES)
        more, less, not_more_after, less_after = _next(
            more, less, equal, not_more_before, less_before
        )
        _store_change(before + symbol, not_more_after, less_after)
        if rows != 0:
            store_word(rows, more)
            store_word(rows + _LESS, less)
            rows += ROW_BYTES
    clear_masks(reference, columns, masks)
    return more, less


@inner
def count_deletions(symbols, columns, places, stride):
    """The deletions on the shortest way through a table.

    Args:
      places: address of an int64 for each block: the address of the row of the first symbol.
      stride: the bytes from a row of a block to its next row.
    """
    deletions = 0
    row = symbols
    block = (columns - 1) // COLUMNS
    # No branch depends on the kind of an edit, because a branch predictor cannot learn the kinds.
    # The columns that the way has left, `behind`, are shifted out of the words.
    behind = (block + 1) * COLUMNS - columns
    place = load_int(places, block) + (row - 1) * stride
    while row > 1:
        not_more = ~load_word(place) << np.uint64(behind)
        if not_more == _NOTHING:
            deletions += COLUMNS - behind
            behind = COLUMNS
        else:
            run = leading_zeros(not_more)
            deletions += run
            behind += run
            place -= stride
            row -= 1
            inserts = (load_word(place + _LESS) << np.uint64(behind)) >> _LAST
            behind += 1 - np.int64(inserts)
        if behind == COLUMNS:
            if block == 0:
                return deletions
            block -= 1
            behind = 0
            place = load_int(places, block) + (row - 1) * stride
    # The first symbol is at one of the columns that are left, and the others are deleted.
    return deletions + (block + 1) * COLUMNS - behind - 1
