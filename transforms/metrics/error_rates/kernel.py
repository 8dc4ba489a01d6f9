"""The kernel of WER and CER: counts substitutions, deletions and insertions of every candidate.

Neighbours in the table of distances differ by at most 1, so a row of it is a few words of bits
(Myers 1999, https://doi.org/10.1145/316542.316550; Hyyrö 2003): the columns that are 1 more than
the one before, and those that are 1 less. 64 columns are a block.

Of several shortest ways, the one that RapidFuzz finds (`Levenshtein.opcodes`) counts, because jiwer
calls it. So its steps are repeated: what both texts begin and end with is removed; the table of
long texts is divided (Hirschberg 1975, https://doi.org/10.1145/360825.360861); and on the way from
the end of a part back to its beginning, deletions are preferred to insertions, and these to kept
and substituted symbols.

`candidate` and `reference` are addresses of numbers of symbols, `symbols` and `columns` how many
there are. `masks` is the address of a word for each number, all 0 before and after.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import ctypes
import functools
from collections import Counter

import numpy as np

from beam_bleu.transforms.metrics.error_rates.metric import (
    DELETIONS,
    INSERTIONS,
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
    ErrorRate,
    edits_of,
)
from beam_bleu.transforms.metrics.metric import EMPTY, SEGMENTS, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inlined, inner
from beam_bleu.transforms.native.memory import (
    KeptMemory,
    clear,
    count_bits,
    leading_zeros,
    load_byte,
    load_int,
    load_word,
    store_byte,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.text.numbered_texts import (
    FIRST_NUMBER,
    columns_of,
    is_missing,
    number_characters,
    number_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import (
    COLUMNS,
    MASK_BYTES,
    NUMBER_BYTES,
    clear_masks,
    columns_inside,
    length_of,
    most_different,
    number_at,
    set_masks,
)
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.tokenization import CHARACTERS

ROW_BYTES = 16
"""A row of a block has the mask of the columns that are 1 more, and then that of 1 less."""

EDIT_BYTES = 16

_LESS = 8
_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_LAST = np.uint64(COLUMNS - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _next(more, less, equal, not_more_before, less_before):
    """(more, less) of a block's next row, and (not more, less) of the column before the next block.
    `equal` are the columns whose symbol is that of the next row; `not_more_before` and
    `less_before` say whether the column before the block does not grow, or falls, in that row.
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
def grown(more, less, columns):
    """By how much the row of a block grows over this number of its columns, 1 to 64."""
    inside = columns_inside(columns)
    return count_bits(more & inside) - count_bits(less & inside)


@inlined
def change(more, less, column):
    bit = np.uint64(column)
    return np.int64((more >> bit) & _ONE) - np.int64((less >> bit) & _ONE)


@inner
def write_block(candidate, first, end, reference, columns, masks, before, rows):
    """Computes the rows first..end of a block, and returns (more, less) of the last one.

    The block begins as if each of its columns was 1 more than the one before. `before` is the
    address of a byte for each symbol: whether the column before the block grows (0) or falls (3) in
    its row, or neither (1). It is overwritten by that of the next block. `rows` is 0 if the rows
    are not kept.
    """
    set_masks(reference, columns, masks)
    more, less = _ALL, _NOTHING
    for symbol in range(first, end):
        column = np.uint64(load_byte(before + symbol))
        equal = load_word(masks + number_at(candidate, symbol) * MASK_BYTES)
        more, less, not_more, is_less = _next(more, less, equal, column & _ONE, column >> _ONE)
        store_byte(before + symbol, np.int64(not_more | (is_less << _ONE)))
        if rows != 0:
            store_word(rows, more)
            store_word(rows + _LESS, less)
            rows += ROW_BYTES
    clear_masks(reference, columns, masks)
    return more, less


@inner
def count_deletions(symbols, columns, places, stride):
    """The deletions on the shortest way; `places` has the address of each block's first row."""
    deletions = 0
    row = symbols
    block = (columns - 1) // COLUMNS
    # No branch depends on the kind of an edit, because a branch predictor cannot learn the kinds.
    # The columns of the block that the way has passed are shifted out of the words.
    passed = (block + 1) * COLUMNS - columns
    place = load_int(places, block) + (row - 1) * stride
    while row > 1:
        not_more = ~load_word(place) << np.uint64(passed)
        if not_more == _NOTHING:
            deletions += COLUMNS - passed
            passed = COLUMNS
        else:
            run = leading_zeros(not_more)
            deletions += run
            passed += run
            place -= stride
            row -= 1
            inserts = (load_word(place + _LESS) << np.uint64(passed)) >> _LAST
            passed += 1 - np.int64(inserts)
        if passed == COLUMNS:
            if block == 0:
                return deletions
            block -= 1
            passed = 0
            place = load_int(places, block) + (row - 1) * stride
    # The first symbol is at one of the columns that remain, and the others are deleted.
    return deletions + (block + 1) * COLUMNS - passed - 1


@inner
def write_edits(edits, candidate, first, row, reference, left, column, places):
    """Writes each edit on the shortest way through a part, the last one first: two int64, the
    places of its symbols in the reference and in the candidate, or -1 where it has none. Returns
    the address after them. The part begins at the symbols `left` and `first` of the texts.
    """
    while row > 0 or column > 0:
        is_deleted, is_inserted = row == 0, column == 0
        if row > 0 and column > 0:
            bit = np.uint64((column - 1) % COLUMNS)
            place = load_int(places, (column - 1) // COLUMNS) + (row - 1) * ROW_BYTES
            is_deleted = (load_word(place) >> bit) & _ONE != _NOTHING
            if not is_deleted and row > 1:
                is_inserted = (load_word(place - ROW_BYTES + _LESS) >> bit) & _ONE != _NOTHING
        row -= not is_deleted
        column -= not is_inserted
        symbol, other = number_at(candidate, first + row), number_at(reference, left + column)
        if is_deleted or is_inserted or symbol != other:
            store_int(edits, 0, -1 if is_inserted else left + column)
            store_int(edits, 1, -1 if is_deleted else first + row)
            edits += EDIT_BYTES
    return edits


# RapidFuzz divides tables of which a shortest way can reach this many cells, or more.
_MOST_CELLS = 2**22
_FEWEST_COLUMNS, _FEWEST_SYMBOLS = 65, 10  # a table with fewer of either is not divided
_PARTS = 64  # the most that wait: a part has half of the symbols of the part before
_PART_INTS = 5


def memory_bytes(symbols: int) -> int:
    """The memory that `count_errors` needs for two texts with this number of symbols in all.

    Most of it is for rows: 16 bytes for each block of columns. In a part that is not divided, with
    n symbols, m columns and up to d edits, a block of columns has up to min(n, 2 d + 65) rows.

    * If 2 d + 1 > m, then n m < 2^22, or m < 65, or n < 10. So m / 64 + 1 blocks have rows of at
      most 2^20 + 16 n + 3 m + 144 bytes.
    * Else d < m / 2, and so m <= n + d < 2 n. n (2 d + 1) < 2^22, or as before. So the blocks have
      rows of at most 2^21 + 32 m + 16 n + 1,024 bytes.

    The rest is for copies of the texts, and for a row of the whole table.
    """
    return 2**21 + 2**12 + 80 * symbols


@inner
def _different(candidate, first, end, reference, left, right):
    """A part of two texts without what they have in common at its start, and then at its end."""
    while first < end and left < right:
        if number_at(candidate, first) != number_at(reference, left):
            break
        first += 1
        left += 1
    while first < end and left < right:
        if number_at(candidate, end - 1) != number_at(reference, right - 1):
            break
        end -= 1
        right -= 1
    return first, end, left, right


@inner
def _copy_backwards(to, numbers, count):
    for index in range(count):
        store_count(to + index * NUMBER_BYTES, number_at(numbers, count - 1 - index))


@inner
def _divide(
    candidate, symbols, reference, columns, candidate_end, reference_end, masks, before, last_row
):
    """Where the shortest way is after the first half of the candidate.

    If several columns are on a shortest way, it is the first of them, but never column 0. At
    `candidate_end` and `reference_end` are the texts backwards. Returns (symbols of the candidate,
    of the reference; the distances of the parts before and after).
    """
    half = symbols // 2
    rest = symbols - half
    clear(before, rest)
    after = rest  # the distance of what comes after a column; here after column 0
    for block in range((columns + COLUMNS - 1) // COLUMNS):
        first = block * COLUMNS
        width = min(columns - first, COLUMNS)
        more, less = write_block(
            candidate_end, 0, rest, reference_end + first * NUMBER_BYTES, width, masks, before, 0
        )
        store_word(last_row + block * ROW_BYTES, more)
        store_word(last_row + block * ROW_BYTES + 8, less)
        after += grown(more, less, width)
    clear(before, half)
    until = half  # the distance of what comes before a column
    best_column, best_until, best_after = 0, symbols, columns
    for block in range((columns + COLUMNS - 1) // COLUMNS):
        first = block * COLUMNS
        width = min(columns - first, COLUMNS)
        more, less = write_block(
            candidate, 0, half, reference + first * NUMBER_BYTES, width, masks, before, 0
        )
        for column in range(width):
            until += change(more, less, column)
            place = columns - 1 - first - column  # of the same column, backwards
            row = last_row + place // COLUMNS * ROW_BYTES
            after -= change(load_word(row), load_word(row + 8), place % COLUMNS)
            if until + after < best_until + best_after:
                best_column, best_until, best_after = first + column + 1, until, after
    return half, best_column, best_until, best_after


@inner
def _deletions_of_part(
    candidate, symbols, reference, columns, most_edits, masks, before, places, rows
):
    """(deletions, growth of the last row) from the cells that `most_edits` edits can reach."""
    clear(before, symbols)
    growth = 0
    for block in range((columns + COLUMNS - 1) // COLUMNS):
        start = block * COLUMNS
        width = min(columns - start, COLUMNS)
        # A way is at most `most_edits` cells from the diagonal. One row more, because the way back
        # looks at the row before.
        first = max(start - most_edits - 1, 0)
        end = min(start + COLUMNS + most_edits, symbols)
        store_int(places, block, rows - first * ROW_BYTES)
        more, less = write_block(
            candidate, first, end, reference + start * NUMBER_BYTES, width, masks, before, rows
        )
        rows += (end - first) * ROW_BYTES
        growth += grown(more, less, width)
    return count_deletions(symbols, columns, places, ROW_BYTES), growth


@inner
def count_errors(candidate, symbols, reference, columns, masks, memory, edits):
    """(substitutions, deletions, insertions) of a candidate by one reference, in time proportional
    to the product of the lengths, divided by 64. Writes each one to `edits`, unless this is 0.
    """
    parts = memory
    candidate_end = parts + _PARTS * _PART_INTS * 8
    reference_end = candidate_end + symbols * NUMBER_BYTES
    before = reference_end + columns * NUMBER_BYTES
    last_row = before + symbols
    places = last_row + (columns // COLUMNS + 1) * ROW_BYTES
    rows = places + (columns // COLUMNS + 1) * 8
    distance = -1
    deletions = 0
    _push(parts, 0, 0, symbols, 0, columns, max(symbols, columns))
    waiting = 1
    while waiting > 0:
        waiting -= 1
        part = parts + waiting * _PART_INTS * 8
        first, end = load_int(part, 0), load_int(part, 1)
        left, right, most_edits = load_int(part, 2), load_int(part, 3), load_int(part, 4)
        first, end, left, right = _different(candidate, first, end, reference, left, right)
        of_candidate, of_reference = end - first, right - left
        ends = (candidate, first, of_candidate, reference, left, of_reference, places)
        if of_candidate == 0 or of_reference == 0:
            deletions += of_reference
            if edits != 0:
                edits = write_edits(edits, *ends)
            if distance < 0:  # the whole table is one part
                distance = max(of_candidate, of_reference)
            continue
        symbol, column = candidate + first * NUMBER_BYTES, reference + left * NUMBER_BYTES
        texts = (symbol, of_candidate, column, of_reference)
        most_edits = min(most_edits, max(of_candidate, of_reference))
        cells = min(of_reference, 2 * most_edits + 1) * of_candidate
        if cells < _MOST_CELLS or of_reference < _FEWEST_COLUMNS or of_candidate < _FEWEST_SYMBOLS:
            of_part, growth = _deletions_of_part(*texts, most_edits, masks, before, places, rows)
            deletions += of_part
            if edits != 0:
                edits = write_edits(edits, *ends)
            if distance < 0:
                distance = of_candidate + growth
            continue
        if distance < 0:
            _copy_backwards(candidate_end, candidate, symbols)
            _copy_backwards(reference_end, reference, columns)
        half, middle, until, after = _divide(
            *texts,
            candidate_end + (symbols - end) * NUMBER_BYTES,
            reference_end + (columns - right) * NUMBER_BYTES,
            masks,
            before,
            last_row,
        )
        if distance < 0:
            distance = until + after
        _push(parts, waiting, first, first + half, left, left + middle, until)
        _push(parts, waiting + 1, first + half, end, left + middle, right, after)
        waiting += 2
    insertions = deletions + symbols - columns
    return distance - deletions - insertions, deletions, insertions


@inner
def _push(parts, place, first, end, left, right, most_edits):
    part = parts + place * _PART_INTS * 8
    store_int(part, 0, first)
    store_int(part, 1, end)
    store_int(part, 2, left)
    store_int(part, 3, right)
    store_int(part, 4, most_edits)


_MEMORY = KeptMemory()


def write_counts(metric: ErrorRate, texts: ReadyTexts, counts: Integers) -> None:
    _count(texts, counts, 0)


def confusions(metric: ErrorRate, texts: ReadyTexts) -> Counter[tuple[str, str, str]]:
    counts = metric.count(texts)
    systems = texts.batch.systems
    # For each candidate its reference and the number of its edits, and then these edits.
    edits = np.empty((counts[..., 0].size + edits_of(counts.T).sum(), 2), np.int64)
    _count(texts, counts, edits.ctypes.data)
    split = functools.partial(_symbols, texts, rule_of(texts.text) == CHARACTERS)
    counted: Counter[tuple[str, str, str]] = Counter()
    at = 0
    for row in range(len(texts.batch)):
        for place, system in enumerate(systems, len(texts.batch.references)):
            reference, number = edits[at].tolist()
            own = edits[at + 1 : at + 1 + number].tolist()
            at += 1 + number
            if own:
                left, right = split(reference, row), split(place, row)
                counted.update((system, left[one], right[other]) for one, other in own)
    return counted


def _symbols(texts: ReadyTexts, are_characters: bool, place: int, row: int) -> list[str]:
    """The words or characters of a text; the last one, at -1, is that of an edit without one."""
    start, end = (int(places[place, row]) for places in texts.spans)
    text = ctypes.string_at(start, end - start).decode()
    return [*(text if are_characters else filter(None, text.split(" "))), ""]


def _count(texts: ReadyTexts, counts: Integers, edits: int) -> None:
    numbered, _memory = texts.numbered(_MEMORY)
    longest = texts.sizes.longest
    # All symbols that no reference has share a number.
    numbers = FIRST_NUMBER + most_different(longest) + 1
    masks = _MEMORY.zeros_for("masks", numbers * MASK_BYTES)
    rows = _MEMORY.memory_for("rows", memory_bytes(longest))
    count_rows(numbered, masks.address, rows.address, counts, edits)


@compiled
def count_rows(texts, masks, memory, counts, edits):
    """Counts all rows. If the rule is CHARACTERS, each character counts, white space, too. Unless
    `edits` is 0, writes there for each candidate its reference and the number of its edits, and
    then these edits.
    """
    for row in range(texts.rows):
        if texts.rule == CHARACTERS:
            number_characters(row, texts)
        else:
            number_texts(row, texts, False)
        for text in range(texts.reference_count, texts.texts):
            symbols = length_of(texts.bounds, text)
            best = substitutions = deletions = insertions = length = nearest = -1
            for reference in range(texts.reference_count):
                if is_missing(texts, row, reference):
                    continue
                columns = length_of(texts.bounds, reference)
                replaced, deleted, inserted = count_errors(
                    numbers_of(texts, text),
                    symbols,
                    numbers_of(texts, reference),
                    columns,
                    masks,
                    memory,
                    0,
                )
                wrong = replaced + deleted + inserted
                if best < 0 or wrong < best or (wrong == best and columns > length):
                    best, length, nearest = wrong, columns, reference
                    substitutions, deletions, insertions = replaced, deleted, inserted
            if edits != 0:
                store_int(edits, 0, nearest)
                store_int(edits, 1, best)
                edits += EDIT_BYTES
                count_errors(
                    numbers_of(texts, text),
                    symbols,
                    numbers_of(texts, nearest),
                    length,
                    masks,
                    memory,
                    edits,
                )
                edits += best * EDIT_BYTES
            place = columns_of(counts, texts, row, text)
            store_int(place, SEGMENTS, 1)
            store_int(place, EMPTY, symbols == 0)
            store_int(place, SUBSTITUTIONS, substitutions)
            store_int(place, DELETIONS, deletions)
            store_int(place, INSERTIONS, insertions)
            store_int(place, REFERENCE_LENGTH, length)
