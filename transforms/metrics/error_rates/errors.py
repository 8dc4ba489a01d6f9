"""Compiled code: the substitutions, deletions and insertions of a candidate.

Several shortest ways can have the same number of edits, but different kinds of them. They are those
of RapidFuzz (`Levenshtein.opcodes`), which jiwer calls, so its steps are repeated: what both texts
have in common at their ends is taken away; the table of long texts is divided (Hirschberg 1975,
https://doi.org/10.1145/360825.360861) until its parts are small; and edit_rows.py, which explains
the arguments, follows the way through each part.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.error_rates.edit_rows import (
    ROW_BYTES,
    change,
    count_deletions,
    grown,
    write_block,
)
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
from beam_bleu.transforms.text.numbering import COLUMNS, NUMBER_BYTES

_MOST_CELLS = 2**22
"""RapidFuzz divides tables with as many cells that a shortest way can reach."""

_FEWEST_COLUMNS, _FEWEST_SYMBOLS = 65, 10
"""It divides no table with less."""

_PARTS = 64
"""The most parts of a table that wait. A part has half of the symbols of the part before."""

_PART_INTS = 5


def memory_bytes(symbols: int) -> int:
    """The memory that `count_errors` needs for two texts with this number of symbols in all.

    Most of it is for rows: 16 bytes for each block of columns. A table that is computed as a whole
    has n symbols and m columns, where n m < 2^22, and so up to 2^20 + 16 n bytes. In a part that is
    not divided and has up to d edits, a block of columns has up to min(n, 2 d + 65) rows.

    * If 2 d + 1 > m, then n m < 2^22, or m < 65, or n < 10. So m / 64 + 1 blocks have rows of at
      most 2^20 + 16 n + 3 m + 144 bytes.
    * Else d < m / 2, and so m <= n + d < 2 n. n (2 d + 1) < 2^22, or as before. So the blocks have
      rows of at most 2^21 + 32 m + 16 n + 1,024 bytes.

    The rest is for copies of the texts, and for a row of the whole table.
    """
    return 2**21 + 2**12 + 80 * symbols


@inner
def _in_common(candidate, symbols, reference, columns):
    """(how many numbers two texts have in common at their starts, and then at their ends)."""
    most = min(symbols, columns)
    start = end = 0
    while start < most and _number(candidate, start) == _number(reference, start):
        start += 1
    while end < most - start and _number(candidate, symbols - 1 - end) == _number(
        reference, columns - 1 - end
    ):
        end += 1
    return start, end


@inlined
def _number(numbers, place):
    return load_count(numbers + place * NUMBER_BYTES)


@inner
def _copy_backwards(to, numbers, count):
    for index in range(count):
        store_count(to + index * NUMBER_BYTES, _number(numbers, count - 1 - index))


@inner
def _divide(
    candidate, symbols, reference, columns, candidate_end, reference_end, masks, before, last_row
):
    """Where the shortest way is after the first half of the candidate.

    If several columns are on a shortest way, it is the first of them, but never column 0.
    `candidate_end` and `reference_end` are addresses of the texts backwards, `last_row` of memory
    for a row of the whole table.

    Returns:
      (symbols of the candidate, of the reference; the distances of the parts before and after)
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
    """The deletions of a part that is not divided, which has at most `most_edits` edits.

    Only the cells are computed that a way with so few edits can reach. `places` is the address of
    an int64 for each block.

    Returns:
      (deletions, how much the row of the last symbol grows, if it is computed as a whole)
    """
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
def _count_long(candidate, symbols, reference, columns, masks, memory):
    """(distance, deletions) of texts of any length."""
    parts = memory
    candidate_end = parts + _PARTS * _PART_INTS * 8
    reference_end = candidate_end + symbols * NUMBER_BYTES
    before = reference_end + columns * NUMBER_BYTES
    last_row = before + symbols
    places = last_row + (columns // COLUMNS + 1) * ROW_BYTES
    rows = places + (columns // COLUMNS + 1) * 8
    _copy_backwards(candidate_end, candidate, symbols)
    _copy_backwards(reference_end, reference, columns)
    distance = -1
    deletions = 0
    _push(parts, 0, 0, symbols, 0, columns, max(symbols, columns))
    waiting = 1
    while waiting > 0:
        waiting -= 1
        part = parts + waiting * _PART_INTS * 8
        first, end = load_int(part, 0), load_int(part, 1)
        left, right, most_edits = load_int(part, 2), load_int(part, 3), load_int(part, 4)
        at_start, at_end = _in_common(
            candidate + first * NUMBER_BYTES,
            end - first,
            reference + left * NUMBER_BYTES,
            right - left,
        )
        first += at_start
        left += at_start
        end -= at_end
        right -= at_end
        of_candidate, of_reference = end - first, right - left
        if of_candidate == 0 or of_reference == 0:
            deletions += of_reference
            continue
        most_edits = min(most_edits, max(of_candidate, of_reference))
        cells = min(of_reference, 2 * most_edits + 1) * of_candidate
        if cells < _MOST_CELLS or of_reference < _FEWEST_COLUMNS or of_candidate < _FEWEST_SYMBOLS:
            of_part, growth = _deletions_of_part(
                candidate + first * NUMBER_BYTES,
                of_candidate,
                reference + left * NUMBER_BYTES,
                of_reference,
                most_edits,
                masks,
                before,
                places,
                rows,
            )
            deletions += of_part
            if distance < 0:  # the whole table is one part
                distance = of_candidate + growth
            continue
        half, middle, until, after = _divide(
            candidate + first * NUMBER_BYTES,
            of_candidate,
            reference + left * NUMBER_BYTES,
            of_reference,
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
    return distance, deletions


@inner
def _push(parts, place, first, end, left, right, most_edits):
    part = parts + place * _PART_INTS * 8
    store_int(part, 0, first)
    store_int(part, 1, end)
    store_int(part, 2, left)
    store_int(part, 3, right)
    store_int(part, 4, most_edits)


@inner
def count_errors(candidate, symbols, reference, columns, masks, memory):
    """(substitutions, deletions, insertions) of a candidate by one reference.

    Time is proportional to the product of the lengths, divided by 64. `memory` is the address of
    `memory_bytes`.
    """
    at_start, at_end = _in_common(candidate, symbols, reference, columns)
    candidate += at_start * NUMBER_BYTES
    reference += at_start * NUMBER_BYTES
    symbols -= at_start + at_end
    columns -= at_start + at_end
    if symbols == 0 or columns == 0:
        return 0, columns, symbols
    if columns * symbols < _MOST_CELLS:
        before = memory + (columns // COLUMNS + 1) * 8
        rows, most_edits = before + symbols, symbols + columns
        deletions, growth = _deletions_of_part(
            candidate, symbols, reference, columns, most_edits, masks, before, memory, rows
        )
        distance = symbols + growth
    else:
        distance, deletions = _count_long(candidate, symbols, reference, columns, masks, memory)
    insertions = deletions + symbols - columns
    return distance - deletions - insertions, deletions, insertions
