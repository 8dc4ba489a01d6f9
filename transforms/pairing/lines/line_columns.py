"""Copies lines of text into columns, checks them, and splits their tab-separated fields.

Compiled code reads each part, because threads of Python would wait for the interpreter's lock. A
carriage return at the end of a line with values belongs to the line's end; in plain line-parallel
text, as in sacreBLEU, it is text.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Bytes, Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.masks import LOOK_BACK, byte_mask, byte_masks, utf8_errors
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    copy,
    copy_block,
    count_bits,
    load_byte,
    load_int,
    lowest_bit,
    read_fully,
    store_byte,
    store_int,
)
from beam_bleu.transforms.native.text_columns import offsets_of, padded_column, text_bytes

_newline_mask = byte_mask(["\n"])
_tab_mask = byte_mask(["\t"])
_line_masks = byte_masks(["\n"], [("\x80", "\xff")])

_ALL = ~np.uint64(0)

_RETURN = ord("\r")


@compiled
def copy_lines(memory, part, unread, texts, offsets, row, to, rows, limit):
    """Copies lines until there are `rows`, or until the text or the space for lines ends.

    Of a line above the limit, the bytes after the limit and one more byte are left out.

    Args:
      memory: uint8; the part, with LOOK_BACK bytes of the text before it, and READ_AHEAD after it.
      part: where the bytes of the part that are not copied yet begin, and where they end.
      unread: (the function `pread`, a descriptor, where the file's text goes on, where it ends).
      offsets: int64 (more than `rows`,), where the lines begin in `texts`; `to` is their end.

    Returns:
      (the new begin and end of the part, where the file's text goes on, the new `row` and `to`,
        whether a line may be bad). If the part is empty and text is left, it could not be read.
    """
    begin, end = part
    pread, descriptor, place, stop = unread
    start = address_of(memory)
    last = texts.size - READ_AHEAD - BLOCK
    most = memory.size - LOOK_BACK - READ_AHEAD
    may_be_bad = False
    while row < rows and to <= last:
        if begin == end:
            size = min(most, stop - place)
            if size <= 0:
                break
            for i in range(LOOK_BACK):
                store_byte(start + i, load_byte(start + end - LOOK_BACK + i))
            begin = end = LOOK_BACK
            if not read_fully(pread, descriptor, start + LOOK_BACK, size, place):
                break
            end += size
            place += size
        begin, row, to, bad = _copy_part(
            start, begin, end, address_of(texts), last, address_of(offsets), row, to, rows, limit
        )
        may_be_bad |= bad
    return begin, end, place, row, to, may_be_bad


@inner
def _copy_part(memory, begin, end, target, last, places, row, to, rows, limit):
    """(the end of the copied bytes, the new `row` and `to`, whether a line may be bad)."""
    at, stop = memory + begin, memory + end
    begin_of_line = load_int(places, row)
    errors = np.uint64(0)
    is_too_long = False
    is_ascii = False  # whether the block before has only ASCII characters
    while at < stop and row < rows and to <= last:
        copy_block(target + to, at)
        newlines, high = _line_masks(at)
        size = min(stop - at, BLOCK)
        inside = _ALL >> np.uint64(BLOCK - size)
        newlines &= inside
        ends = newlines != np.uint64(0)
        if ends:
            size = lowest_bit(newlines)
            inside = newlines ^ clear_lowest_bit(newlines)  # only the newline
            inside |= inside - np.uint64(1)
        high &= inside
        if high != np.uint64(0) or not is_ascii:
            errors |= utf8_errors(at) & inside
            is_ascii = high == np.uint64(0)
        at += size
        to += size
        if to - begin_of_line > limit:
            to = begin_of_line + limit + 1
            is_too_long = True
        if ends:
            at += 1
            row += 1
            store_int(places, row, to)
            begin_of_line = to
    return at - memory, row, to, is_too_long or errors != np.uint64(0)


@compiled
def skip_lines(memory, begin, end, lines):
    """(the end of this number of lines in a part, or the part's end; the lines that end before)."""
    start = address_of(memory)
    passed = 0
    for block in range(begin, end, BLOCK):
        newlines = _newline_mask(start + block)
        if end - block < BLOCK:
            newlines &= _ALL >> np.uint64(BLOCK - (end - block))
        here = count_bits(newlines)
        if passed + here >= lines:
            for _ in range(lines - passed - 1):
                newlines = clear_lowest_bit(newlines)
            return block + lowest_bit(newlines) + 1, lines
        passed += here
    return end, passed


@dataclasses.dataclass(frozen=True)
class Fields:
    """The wanted fields of lines, the rows with another number of fields, and these numbers."""

    columns: tuple[pa.LargeStringArray, ...]
    wrong: Integers
    counts: Integers


def split_fields(column: pa.LargeStringArray, fields: int) -> Fields:
    """Splits lines without nulls into their fields. An empty field is an empty text.

    As in sacreBLEU, tabs in the white space at the end of a line separate no fields. This white
    space stays in the last field: tokenizers drop it, and `signs` looks for carriage returns there.
    """
    offsets = offsets_of(column) - offsets_of(column)[0]
    # pyarrow removes the same characters as Python's str.rstrip, which sacreBLEU uses.
    lengths = pc.binary_length(pc.utf8_rtrim_whitespace(column)).to_numpy()
    begins, ends = offsets[:-1], offsets[1:]
    return _cut(text_bytes(column), begins, begins + lengths, ends, fields, range(fields))


def split_values(column: pa.LargeStringArray, fields: int, numbers: Sequence[int]) -> Fields:
    """Fields of lines of values, by their numbers from 0, without a carriage return at the end."""
    texts = text_bytes(column)
    offsets = offsets_of(column) - offsets_of(column)[0]
    begins, ends = offsets[:-1], offsets[1:].copy()
    if len(texts):
        ends -= (ends > begins) & (texts[np.maximum(ends, 1) - 1] == _RETURN)
    return _cut(texts, begins, ends, ends, fields, numbers)


def _cut(
    texts: Bytes,
    begins: Integers,
    stops: Integers,
    ends: Integers,
    fields: int,
    numbers: Sequence[int],
) -> Fields:
    slots = np.full(fields, -1)
    slots[list(numbers)] = np.arange(len(numbers))
    spans: Integers = np.zeros((len(numbers), 2, len(begins)), np.int64)
    counts: Integers = np.zeros(len(begins), np.int64)
    _find_fields(texts, begins, stops, ends, slots, spans, counts)
    wrong = np.flatnonzero(counts != fields)
    spans[:, :, wrong] = 0
    columns = tuple(copied(texts, *bounds) for bounds in spans)
    return Fields(columns, wrong, counts[wrong])


@compiled
def _find_fields(texts, begins, stops, ends, slots, spans, counts):
    """Writes where the fields with a slot begin and end, and how many fields each line has.

    The texts have READ_AHEAD more bytes. Numpy would make runs with such lines 6 % slower.
    """
    start = address_of(texts)
    for row in range(begins.size):
        field, begin, stop = 0, begins[row], stops[row]
        for block in range(begin, stop, BLOCK):
            tabs = _tab_mask(start + block)
            if stop - block < BLOCK:
                tabs &= _ALL >> np.uint64(BLOCK - (stop - block))
            while tabs != np.uint64(0):
                end = block + lowest_bit(tabs)
                tabs = clear_lowest_bit(tabs)
                if field < slots.size and slots[field] >= 0:
                    spans[slots[field], 0, row] = begin
                    spans[slots[field], 1, row] = end
                field += 1
                begin = end + 1
        if field < slots.size and slots[field] >= 0:
            spans[slots[field], 0, row] = begin
            spans[slots[field], 1, row] = ends[row]
        counts[row] = field + 1


def copied(texts: Bytes, begins: Integers, ends: Integers) -> pa.LargeStringArray:
    offsets = np.zeros(len(begins) + 1, np.int64)
    np.cumsum(ends - begins, out=offsets[1:])
    out = np.zeros(int(offsets[-1]) + READ_AHEAD, np.uint8)
    _copy_spans(texts, np.ascontiguousarray(begins), offsets, out)
    return padded_column(out, offsets)


@compiled
def _copy_spans(texts, begins, offsets, out):
    source, target = address_of(texts), address_of(out)
    for i in range(begins.size):
        copy(target + offsets[i], source + begins[i], offsets[i + 1] - offsets[i])
