"""Finds values in lines of JSON, without a Python object for a line or a value.

The scanner takes the same lines as Python's json module and gives the same values, or it says that
it does not know a line. Then jsonl.py asks the json module. Such lines have a fault, or something
rare: keys with escapes, NaN, Infinity, objects or lists that are nested more than 63 times, or
numbers of thousands of digits. Python's json module takes the last one of equal keys, and so does
the scanner.

A span is the (address, end address) of a JSON value in a column of lines. The address is 0 if the
record does not have the value, and `UNKNOWN` if the scanner does not know it.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Bytes, Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import READ_AHEAD, address_of, copy, load_byte
from beam_bleu.transforms.native.text_columns import offsets_of
from beam_bleu.transforms.pairing.records.text.json_values import (
    LETTER_N,
    OPEN_LIST,
    OPEN_OBJECT,
    QUOTE,
    blank_end,
    find_in_object,
    first_item,
    next_item,
    unescape,
    value_end,
)

UNKNOWN = -1
"""The address of a value that the scanner does not know."""

NULL, TEXT, SCALAR, NESTED, REFUSED = range(5)
"""The kinds of values: null or no value; a string; a number or a boolean; an object or a list; a
value that the scanner does not know, or a string that is not Unicode text."""


def find_keys(
    lines: pa.LargeStringArray, keys: Sequence[str]
) -> tuple[Integers, Integers, Integers]:
    """Finds the values of keys in records.

    Args:
      lines: the records, one JSON object for each line, in a padded column.
      keys: the keys.

    Returns:
      The begins and the ends of the values, int64 (keys, rows), and int64 (rows,): whether each
      line is a JSON object that the scanner knows.
    """
    begins = np.zeros((len(keys), len(lines)), np.int64)
    ends = np.zeros_like(begins)
    known = np.zeros(len(lines), np.int64)
    names = _KeyTexts(keys)
    _find_keys(
        lines.buffers()[2].address,
        offsets_of(lines),
        names.texts,
        names.offsets,
        begins,
        ends,
        known,
    )
    return begins, ends, known


def step(begins: Integers, ends: Integers, to: str | int) -> tuple[Integers, Integers]:
    """The spans of a field of objects, or of an item of lists.

    A value that is missing or null has only missing values. If a value is of another type, the
    result is unknown.

    Args:
      begins: int64 (rows,), begins of valid JSON values.
      ends: their ends.
      to: the key of the field, or the index of the item.
    """
    begins, ends = begins.copy(), ends.copy()
    if isinstance(to, int):
        _step_to_item(begins, ends, to)
    else:
        name = _KeyTexts([to])
        _step_to_key(begins, ends, name.texts, name.offsets)
    return begins, ends


def items(begins: Integers, ends: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """The items of lists. A value that is not a list counts as a list with this value.

    Args:
      begins: int64 (rows,), begins of valid JSON values.
      ends: their ends.

    Returns:
      The kinds of the values (a null or missing value has no items); the number of items before
      each row, and of all, int64 (rows + 1,); the begins and the ends of the items.
    """
    kinds = np.empty(len(begins), np.int64)
    counts = np.zeros(len(begins) + 1, np.int64)
    _count_items(begins, ends, kinds, counts)
    offsets = np.cumsum(counts)
    item_begins = np.empty(offsets[-1], np.int64)
    item_ends = np.empty_like(item_begins)
    _find_items(begins, ends, offsets, item_begins, item_ends)
    return kinds, offsets, item_begins, item_ends


def texts_of(begins: Integers, ends: Integers) -> tuple[Integers, pa.LargeStringArray]:
    """The kinds and the texts of values: of strings their text, of numbers and booleans the JSON.

    All other values are null in the column, which is padded.
    """
    offsets = np.zeros(len(begins) + 1, np.int64)
    kinds = np.empty(len(begins), np.int64)
    size = int((ends - begins)[begins > 0].sum())
    texts = np.zeros(size + READ_AHEAD, np.uint8)
    _decode(begins, ends, texts, offsets, kinds)
    return kinds, text_column(texts, offsets, (kinds == TEXT) | (kinds == SCALAR))


def text_column(texts: Bytes, offsets: Integers, valid: np.ndarray) -> pa.LargeStringArray:
    """A padded column of text.

    Args:
      texts: uint8, the bytes of all texts and READ_AHEAD more.
      offsets: int64 (rows + 1,), from 0.
      valid: bool (rows,), false for nulls.
    """
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(texts), validity
    )


class _KeyTexts:
    """Keys as UTF-8, one after the other, with their offsets."""

    def __init__(self, keys: Sequence[str]) -> None:
        encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
        self.texts = np.frombuffer(b"".join(encoded) + bytes(READ_AHEAD), np.uint8)
        self.offsets = np.cumsum([0, *(len(key) for key in encoded)])


@compiled
def _find_keys(texts, offsets, names, name_offsets, begins, ends, known):
    keys, name_ends = address_of(names), address_of(name_offsets)
    count, rows = begins.shape
    to_begins, to_ends = address_of(begins), address_of(ends)
    for row in range(rows):
        object_end = find_in_object(
            texts + offsets[row],
            texts + offsets[row + 1],
            keys,
            name_ends,
            count,
            to_begins + 8 * row,
            to_ends + 8 * row,
            rows,
        )
        known[row] = object_end != 0 and blank_end(object_end, texts + offsets[row + 1]) == (
            texts + offsets[row + 1]
        )


@compiled
def _step_to_key(begins, ends, name, name_offsets):
    key, name_end = address_of(name), address_of(name_offsets)
    to_begins, to_ends = address_of(begins), address_of(ends)
    for row in range(begins.size):
        begin, end = begins[row], ends[row]
        if begin <= 0:
            continue
        first = load_byte(begin)
        begins[row] = 0
        if first == OPEN_OBJECT:
            object_end = find_in_object(
                begin, end, key, name_end, 1, to_begins + 8 * row, to_ends + 8 * row, 1
            )
            if object_end == 0:
                begins[row] = UNKNOWN
        elif first != LETTER_N:
            begins[row] = UNKNOWN


@compiled
def _step_to_item(begins, ends, index):
    for row in range(begins.size):
        begin, end = begins[row], ends[row]
        if begin <= 0:
            continue
        first = load_byte(begin)
        begins[row] = 0
        if first == OPEN_LIST:
            at = first_item(begin, end)
            left = index
            while at != 0:
                item_end = value_end(at, end)
                if left == 0:
                    begins[row] = at
                    ends[row] = item_end
                    break
                left -= 1
                at = next_item(item_end, end)
        elif first != LETTER_N:
            begins[row] = UNKNOWN


@compiled
def _count_items(begins, ends, kinds, counts):
    for row in range(begins.size):
        begin, end = begins[row], ends[row]
        kind = _kind(begin)
        kinds[row] = kind
        if kind in (NULL, REFUSED):
            continue
        if load_byte(begin) != OPEN_LIST:
            counts[row + 1] = 1
            continue
        at = first_item(begin, end)
        while at != 0:
            counts[row + 1] += 1
            at = next_item(value_end(at, end), end)


@compiled
def _find_items(begins, ends, offsets, item_begins, item_ends):
    for row in range(begins.size):
        begin, end = begins[row], ends[row]
        item, last = offsets[row], offsets[row + 1]
        if item == last:
            continue
        if load_byte(begin) != OPEN_LIST:
            item_begins[item] = begin
            item_ends[item] = end
            continue
        at = first_item(begin, end)
        while at != 0:
            item_begins[item] = at
            item_ends[item] = value_end(at, end)
            at = next_item(item_ends[item], end)
            item += 1


@compiled
def _decode(begins, ends, texts, offsets, kinds):
    start = address_of(texts)
    to = start
    for row in range(begins.size):
        begin, end = begins[row], ends[row]
        kind = _kind(begin)
        if kind == TEXT:
            written = unescape(begin + 1, end - 1, to)
            if written == 0:
                kind = REFUSED
            else:
                to = written
        elif kind == SCALAR:
            copy(to, begin, end - begin)
            to += end - begin
        kinds[row] = kind
        offsets[row + 1] = to - start


@inner
def _kind(begin):
    """The kind of the value at an address."""
    if begin < 0:
        return REFUSED
    if begin == 0:
        return NULL
    first = load_byte(begin)
    if first == QUOTE:
        return TEXT
    if first == LETTER_N:
        return NULL
    if first in (OPEN_OBJECT, OPEN_LIST):
        return NESTED
    return SCALAR
