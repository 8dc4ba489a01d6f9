"""What happens to a text before it is split: lower-casing, and 13a's rewriting.

Both are exactly what Python's `str` does, because that is what sacreBLEU calls.
Compiled code does what it can do exactly, and a row that needs more (a letter
whose lower case has another length, or a final sigma; `<skipped>`, or a
hyphenated line end) goes through Python's own `str`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from transforms.columns import (
    offsets_of,
    padded,
    padded_column,
    spans,
    text_bytes,
)
from transforms.machine import (
    BLOCK,
    READ_AHEAD,
    clear_lowest_bit,
    load_byte,
    load_word,
    lowest_bit,
    rewritten_masks,
)

_Rows = npt.NDArray[np.bool_]


def rewritten(column: pa.LargeStringArray, tokenize: str, lowercase: bool) -> pa.LargeStringArray:
    """The padded column whose texts only need splitting."""
    column = padded(column)
    if lowercase:
        column = _lowered(column)
    if tokenize == "13a":
        column = _without_skipped(column)
    return column


def _without_skipped(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts without `<skipped>` and without hyphens at line ends, as 13a removes them.

    Other newlines become spaces in 13a; left alone they are white space, too.
    """
    starts, ends = spans([column])
    rows = np.zeros(len(column), np.bool_)
    _find_rewritten(starts[0], ends[0], rows)
    return _replaced(
        column, rows, lambda text: text.rstrip().replace("<skipped>", "").replace("-\n", "")
    )


def _replaced(
    column: pa.LargeStringArray, rows: _Rows, change: Callable[[str], str]
) -> pa.LargeStringArray:
    """The column with some of its rows changed by a function on `str`."""
    if not rows.any():
        return column
    texts = column.to_pylist()
    for row in np.flatnonzero(rows):
        texts[row] = change(texts[row])
    return padded(pa.array(texts, pa.large_string()))


_SKIPPED_HEAD = np.uint64(int.from_bytes(b"<skipped", "little"))


@njit(nogil=True, cache=True)
def _find_rewritten(starts, ends, rows):
    """Marks the texts that hold `<skipped>` or a newline behind a hyphen."""
    for row in range(starts.size):
        start, end = starts[row], ends[row]
        block = start
        while block < end:
            found = rewritten_masks(block)[0]
            while found != np.uint64(0):
                at = block + lowest_bit(found)
                found = clear_lowest_bit(found)
                if at >= end:
                    break
                if load_byte(at) == ord("\n"):
                    rows[row] |= at > start and load_byte(at - 1) == ord("-")
                else:
                    # Behind the last byte stands anything, so the end is checked, too.
                    rows[row] |= load_word(at) == _SKIPPED_HEAD and at + 9 <= end
            block += BLOCK


# Lower-casing. A code point maps to another of the same UTF-8 length, to itself
# (0 in the table), or is left to Python.
_PYTHONS = -1
_LAST_CASED = 0x1E943


@cache
def _lower_table() -> npt.NDArray[np.int32]:
    """The lower case of every code point, from this Python's own Unicode tables."""
    table = np.zeros(_LAST_CASED + 1, np.int32)
    for code in range(0x80, _LAST_CASED + 1):
        if 0xD800 <= code < 0xE000:
            continue
        letter = chr(code)
        lower = letter.lower()
        if lower == letter:
            continue
        same_length = len(lower) == 1 and len(lower.encode()) == len(letter.encode())
        table[code] = ord(lower) if same_length else _PYTHONS
    table[ord("Σ")] = _PYTHONS  # its lower case depends on what stands round it
    return table


def _lowered(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts in lower case, as `str.lower` has it."""
    offsets = offsets_of(column)
    texts = text_bytes(column)
    lower = np.zeros(len(texts) + READ_AHEAD, np.uint8)
    rows = np.zeros(len(column), np.bool_)
    if _lower_ascii(texts, lower):
        _lower_others(offsets - offsets[0], lower, _lower_table(), rows)
    if not rows.any():
        return padded_column(lower, offsets - offsets[0], column)
    # Rows left to Python are lower-cased from the start: context counts.
    originals = column.take(pa.array(np.flatnonzero(rows))).to_pylist()
    replacements = iter(originals)
    lowered = padded_column(lower, offsets - offsets[0], column)
    return _replaced(lowered, rows, lambda _: next(replacements).lower())


@njit(nogil=True, cache=True)
def _lower_ascii(texts, lower):
    """Copies the bytes with A-Z in lower case; tells whether any byte is not ASCII."""
    every_bit = np.uint8(0)
    for i in range(texts.size):
        byte = texts[i]
        every_bit |= byte
        lower[i] = byte | (np.uint8(0x20) * np.uint8(byte - np.uint8(65) < np.uint8(26)))
    return every_bit >= 0x80


@njit(nogil=True, cache=True)
def _lower_others(offsets, lower, table, rows):
    """Lower-cases what is not ASCII in place; marks the rows that are left to Python."""
    for row in range(rows.size):
        at = offsets[row]
        end = offsets[row + 1]
        while at < end:
            first = np.int64(lower[at])
            if first < 0x80:
                at += 1
                continue
            size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
            code = first & (0x7F >> size)
            for i in range(1, size):
                code = (code << 6) | (np.int64(lower[at + i]) & 0x3F)
            small = np.int64(table[code]) if code < table.size else 0
            if small == _PYTHONS:
                rows[row] = True
            elif small != 0:
                for i in range(size - 1, 0, -1):
                    lower[at + i] = 0x80 | (small & 0x3F)
                    small >>= 6
                lower[at] = (0xF00 >> size) & 0xFF | small
            at += size
