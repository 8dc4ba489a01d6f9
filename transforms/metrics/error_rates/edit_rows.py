"""Compiled code: the edit distance of two texts, as rows of bits.

A text is a row of numbers, one for each symbol: a word or a character. D[i][j] is the least number
of symbols to insert, to delete and to substitute, so that the first j symbols of the reference
become the first i symbols of the candidate. Neighbours in the table D differ by at most 1, so a row
of it is a few words of bits (Myers 1999, https://doi.org/10.1145/316542.316550; Hyyrö 2003): the
columns that are 1 more than the one before, and those that are 1 less. 64 columns, one word of each
mask, are a block. (The rows of TER keep more, in other words, and stop at 64 columns.)

The deletions are counted on one of the shortest ways through the table. If there are several, it is
that of RapidFuzz (`recover_alignment`): from the end of the table back to its beginning, it prefers
to delete, then to insert, and then to keep or substitute a symbol.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    clear,
    count_bits,
    leading_zeros,
    load_byte,
    load_count,
    load_int,
    load_word,
    store_byte,
    store_int,
    store_word,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

COLUMNS = 64
"""The columns of a block."""

ROW_BYTES = 16
"""What a row has of a block: the mask of the columns that are 1 more, and then that of 1 less."""

GROUP = 4
"""The most blocks of a group. `write_rows` computes them side by side, in registers."""

MASK_BYTES = 8

_LESS = 8

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_LAST = np.uint64(COLUMNS - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _next(more, less, equal, not_more_before, less_before):
    """The next row of a block, and the column before the next block.

    Args:
      more: the columns of the row that are 1 more than the one before.
      less: those that are 1 less.
      equal: the columns whose symbol is that of the next row.
      not_more_before: 0 if the column before the block grows by 1 to the next row, else 1.
      less_before: 1 if it falls by 1, else 0.

    Returns:
      (more, less, not more before the next block, less before the next block)
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
    """The inverse of `_load_change`."""
    store_byte(before, np.int64(not_more | (less << _ONE)))


def _writing(blocks: int, is_alone: bool) -> Any:
    """Makes the function that writes the rows of a group.

    All words of a row stay in registers, and the processor computes the blocks of neighbouring rows
    at the same time.

    Args:
      blocks: the number of its blocks, up to GROUP.
      is_alone: whether the table has no other group.
    """

    @inner
    def write_group(candidate, symbols, masks, before, row, stride):
        """Writes all rows but the first.

        Args:
          candidate: address of the numbers of the candidate's symbols.
          symbols: their number.
          masks: address of the masks of the columns of each number, a word for each block.
          before: see `write_block`.
          row: address of the group's blocks, side by side, in the first row that is written.
          stride: the bytes from a row to the next one.
        """
        more_0 = more_1 = more_2 = more_3 = _ALL
        less_0 = less_1 = less_2 = less_3 = _NOTHING
        for symbol in range(symbols):
            equal = masks + load_count(candidate + symbol * NUMBER_BYTES) * (blocks * MASK_BYTES)
            not_more = less = _NOTHING
            if not is_alone:
                not_more, less = _load_change(before + symbol)
            more_0, less_0, not_more, less = _next(more_0, less_0, load_word(equal), not_more, less)
            store_word(row, more_0)
            store_word(row + _LESS, less_0)
            if blocks > 1:
                more_1, less_1, not_more, less = _next(
                    more_1, less_1, load_word(equal + MASK_BYTES), not_more, less
                )
                store_word(row + ROW_BYTES, more_1)
                store_word(row + ROW_BYTES + _LESS, less_1)
            if blocks > 2:
                more_2, less_2, not_more, less = _next(
                    more_2, less_2, load_word(equal + 2 * MASK_BYTES), not_more, less
                )
                store_word(row + 2 * ROW_BYTES, more_2)
                store_word(row + 2 * ROW_BYTES + _LESS, less_2)
            if blocks > 3:
                more_3, less_3, not_more, less = _next(
                    more_3, less_3, load_word(equal + 3 * MASK_BYTES), not_more, less
                )
                store_word(row + 3 * ROW_BYTES, more_3)
                store_word(row + 3 * ROW_BYTES + _LESS, less_3)
            if not is_alone:
                _store_change(before + symbol, not_more, less)
            row += stride

    return write_group


def _writing_any(is_alone: bool) -> Any:
    """Makes the function that calls that of `_writing` for the number of blocks."""
    write_1, write_2, write_3, write_4 = (
        _writing(blocks, is_alone) for blocks in range(1, GROUP + 1)
    )

    @inner
    def write_any(blocks, candidate, symbols, masks, before, row, stride):
        if blocks == 1:
            write_1(candidate, symbols, masks, before, row, stride)
        elif blocks == 2:
            write_2(candidate, symbols, masks, before, row, stride)
        elif blocks == 3:
            write_3(candidate, symbols, masks, before, row, stride)
        else:
            write_4(candidate, symbols, masks, before, row, stride)

    return write_any


_write_alone, _write_beside = _writing_any(is_alone=True), _writing_any(is_alone=False)


@inlined
def _set_masks(reference, columns, masks, stride):
    """Sets the bits of a block's columns in the masks of their numbers, `stride` words apart."""
    bit = _ONE
    for column in range(columns):
        place = masks + load_count(reference + column * NUMBER_BYTES) * (stride * MASK_BYTES)
        store_word(place, load_word(place) | bit)
        bit <<= _ONE


@inlined
def _clear_masks(reference, columns, masks):
    """Sets the masks of a block's columns to 0 again."""
    for column in range(columns):
        store_word(masks + load_count(reference + column * NUMBER_BYTES) * MASK_BYTES, _NOTHING)


@inner
def write_rows(candidate, symbols, reference, columns, numbers, masks, memory):
    """Writes all rows but the first; returns the distance of the whole texts.

    Args:
      candidate: address of the numbers of the candidate's symbols.
      symbols: their number, 1 or more.
      reference: address of those of the reference.
      columns: their number, 1 or more.
      numbers: the largest number of a symbol.
      masks: address of GROUP words for each number, which are 0, and are 0 again afterwards.
      memory: address of memory for an int64 for each block of columns, a byte for each symbol of
        the candidate, and the rows. First it has the address of the first row of each block.

    Returns:
      (the distance, the bytes from a row of a block to its next row)
    """
    blocks = (columns + COLUMNS - 1) // COLUMNS
    before = memory + blocks * 8
    rows = before + symbols
    stride = blocks * ROW_BYTES
    if blocks > GROUP:
        clear(before, symbols)
    for first in range(0, blocks, GROUP):
        group = min(blocks - first, GROUP)
        for block in range(group):
            start = (first + block) * COLUMNS
            _set_masks(
                reference + start * NUMBER_BYTES,
                min(columns - start, COLUMNS),
                masks + block * MASK_BYTES,
                group,
            )
        place = rows + first * ROW_BYTES
        if blocks <= GROUP:
            _write_alone(group, candidate, symbols, masks, before, place, stride)
        else:
            _write_beside(group, candidate, symbols, masks, before, place, stride)
        clear(masks, (numbers + 1) * group * MASK_BYTES)
    last = (symbols - 1) * stride
    distance = symbols
    for block in range(blocks):
        place = rows + block * ROW_BYTES
        store_int(memory, block, place)
        distance += grown(
            load_word(place + last), load_word(place + last + _LESS), columns - block * COLUMNS
        )
    return distance, stride


@inlined
def grown(more, less, columns):
    """By how much the row of a block grows over this number of its columns, or over all of them."""
    inside = _ALL if columns >= COLUMNS else (_ONE << np.uint64(columns)) - _ONE
    return count_bits(more & inside) - count_bits(less & inside)


@inlined
def change(more, less, column):
    """By how much a column of a block is more than the one before."""
    bit = np.uint64(column)
    return np.int64((more >> bit) & _ONE) - np.int64((less >> bit) & _ONE)


@inner
def write_block(candidate, first, end, reference, columns, masks, before, rows):
    """Computes a block of rows, of a table of any width.

    The block begins as if each of its columns was 1 more than the one before.

    Args:
      candidate: address of the numbers of the candidate's symbols.
      first: the first symbol whose row is computed.
      end: the symbol after the last one.
      reference: address of the numbers of the block's columns.
      columns: their number, up to 64.
      masks: address of a word for each number, which is 0, and is 0 again afterwards.
      before: address of a byte for each symbol: whether the column before the block grows (0) or
        falls (3) in its row, or neither (1). It is overwritten by that of the next block.
      rows: address of memory for end - first rows; 0 if they are not kept.

    Returns:
      (more, less) of the last row.
    """
    _set_masks(reference, columns, masks, 1)
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
    _clear_masks(reference, columns, masks)
    return more, less


@inner
def count_deletions(symbols, columns, places, stride):
    """The deletions on the shortest way through a table.

    Args:
      symbols: the number of the candidate's symbols.
      columns: that of the reference.
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
