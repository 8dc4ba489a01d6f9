"""Changes to a text before it is split: lower-casing, and the rewriting of 13a.

sacreBLEU calls Python's `str`. Compiled code does the common cases, and `str` the other rows: those
with a letter whose lower case has another length, with a sigma, with `<skipped>`, or with a hyphen
at a line end.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.masks import code_point, letter_size
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    load_byte,
    load_word,
    lowest_bit,
    store_byte,
)
from beam_bleu.transforms.native.text_columns import (
    TextColumns,
    offsets_of,
    padded,
    padded_column,
    spans,
)
from beam_bleu.transforms.text.byte_classes import copy_lower_block, not_ascii_mask, rewritten_mask

_Rows = npt.NDArray[np.bool_]


def written(
    column: pa.LargeStringArray, write: Callable[..., None], *arguments: Any
) -> pa.LargeStringArray:
    """The texts of a padded column as `write` changes them, which may double their sizes and add a
    byte. `write` takes starts and ends, int64 (rows,), the arguments, uint8 memory for the texts,
    and int64 (rows + 1,) for where each of them ends there.
    """
    places, offsets = spans([column]), np.zeros(len(column) + 1, np.int64)
    starts, ends = places.starts[0], places.ends[0]
    # Unused pages cost nothing.
    texts = np.empty(2 * int((ends - starts).sum()) + len(column) + READ_AHEAD, np.uint8)
    write(starts, ends, *arguments, texts, offsets)
    texts[offsets[-1] : offsets[-1] + READ_AHEAD] = 0
    return padded_column(texts, offsets, column)


def without_skipped(texts: TextColumns) -> TextColumns:
    rows = np.empty(texts.spans.starts.shape, np.bool_)
    if not _find_rewritten(texts.spans, rows):
        return texts
    return TextColumns(
        _replaced(column, of_column, column, _rewrite)
        for column, of_column in zip(texts.columns, rows, strict=True)
    )


def _rewrite(text: str) -> str:
    return text.rstrip().replace("<skipped>", "").replace("-\n", "")


def _replaced(
    column: pa.LargeStringArray,
    rows: _Rows,
    originals: pa.LargeStringArray,
    change: Callable[[str], str],
) -> pa.LargeStringArray:
    if not rows.any():
        return column
    mask = pa.array(rows)
    marked = originals.filter(mask).to_pylist()
    # The bytes under a null can be anything, so such a row may be marked, too.
    changed = [None if text is None else change(text) for text in marked]
    return padded(pc.replace_with_mask(column, mask, pa.array(changed, pa.large_string())))


_SKIPPED_HEAD = np.uint64(int.from_bytes(b"<skipped", "little"))


@compiled
def _find_rewritten(spans, rows):
    starts, ends = spans
    is_any = False
    for column in range(starts.shape[0]):
        for row in range(starts.shape[1]):
            is_marked = _is_rewritten(starts[column, row], ends[column, row])
            rows[column, row] = is_marked
            is_any |= is_marked
    return is_any


@inner
def _is_rewritten(start, end):
    is_marked = False
    for block in range(start, end, BLOCK):
        marked = rewritten_mask(block)
        while marked != np.uint64(0):
            at = block + lowest_bit(marked)
            marked = clear_lowest_bit(marked)
            if at >= end:
                break
            if load_byte(at) == ord("\n"):
                is_marked |= at > start and load_byte(at - 1) == ord("-")
            else:
                # After the last byte of the text there can be anything: check the end, too.
                is_marked |= load_word(at) == _SKIPPED_HEAD and at + 9 <= end
    return is_marked


_PYTHONS = -1


@cache
def _lower_table() -> npt.NDArray[np.int32]:
    """The lower case of each code point: one of the same length, 0 for itself, or _PYTHONS."""
    cased = 0x20000  # the end of the planes with upper and lower case
    table = np.zeros(cased, np.int32)
    for code in range(0x80, cased):
        letter = chr(code)
        lower = letter.lower()
        if lower != letter:
            same_length = len(lower) == 1 and len(lower.encode()) == len(letter.encode())
            table[code] = ord(lower) if same_length else _PYTHONS
    table[ord("Σ")] = _PYTHONS  # its lower case depends on its neighbours
    return table


def lowered(column: pa.LargeStringArray, only_ascii: bool = False) -> pa.LargeStringArray:
    """The texts in lower case, padded: as in `str.lower`, or only A-Z."""
    column = padded(column)
    offsets = offsets_of(column)
    starts = offsets + column.buffers()[2].address
    lower = np.zeros(int(offsets[-1] - offsets[0]) + READ_AHEAD, np.uint8)
    rows = np.zeros(len(column), np.bool_)
    table = np.zeros(0, np.int32) if only_ascii else _lower_table()
    _lower_rows(starts, lower, table, rows)
    lowered = padded_column(lower, offsets - offsets[0], column)
    # Python lower-cases the marked rows from the original text, because the context matters.
    return _replaced(lowered, rows, column, str.lower)


@compiled
def _lower_rows(starts, lower, table, rows):
    """Lower-cases the texts from starts[i] to starts[i + 1]; marks rows that are left to Python."""
    target = address_of(lower)
    for row in range(rows.size):
        start, end = starts[row], starts[row + 1]
        move = target - starts[0]
        # From the last block to the first: a letter can reach into the next block, so that
        # block must not be copied after it. Bytes that are written after the end of the row
        # are overwritten by the next row.
        at = start + (end - start - 1) // BLOCK * BLOCK
        while at >= start and start < end:
            others = not_ascii_mask(at)
            copy_lower_block(at + move, at)
            while others != np.uint64(0):
                place = at + lowest_bit(others)
                others = clear_lowest_bit(others)
                if place >= end:
                    break
                rows[row] |= _lower_letter(place, place + move, table)
            at -= BLOCK


@inner
def _lower_letter(source, target, table):
    """Lower-cases the letter whose first byte is at `source`; returns whether Python must do it."""
    first = load_byte(source)
    if first < 0xC0:
        return False  # not the first byte of a letter
    size = letter_size(first)
    code = code_point(source, size)
    lower = np.int64(table[code]) if code < table.size else 0
    if lower <= 0:
        return lower == _PYTHONS
    for i in range(size - 1, 0, -1):
        store_byte(target + i, 0x80 | (lower & 0x3F))
        lower >>= 6
    store_byte(target, ((0xF00 >> size) & 0xFF) | lower)
    return False
