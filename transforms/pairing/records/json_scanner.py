"""Finds values in JSON lines by compiled code, without a Python object for each line or value.

The scanner accepts the same lines as Python's json module and finds the same values, or it says
that it does not know a line, which json_lines.py then gives to the json module. Such a line has a
fault, or something rare: keys with escapes, NaN, Infinity, more than 63 nested objects or lists, or
numbers with thousands of digits. Of equal keys, the last one counts.

A span is (address, end address) of a JSON value. The address is 0 if the record lacks the value,
and `UNKNOWN` if the scanner does not know it.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import READ_AHEAD, address_of, copy, load_byte
from beam_bleu.transforms.native.text_columns import offsets_of
from beam_bleu.transforms.pairing.records.json_values import (
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

UNKNOWN = -1  # the address of a value that the scanner does not know

# The kinds of values: null or missing; a string; a number or a boolean; an object; a list; a value
# that the scanner does not know; a string that is not Unicode text.
NULL, TEXT, SCALAR, OBJECT, LIST, REFUSED, NOT_UNICODE = range(7)


def lines_as_values(lines: pa.LargeStringArray) -> tuple[Integers, Integers]:
    addresses = lines.buffers()[2].address + offsets_of(lines)
    return addresses[:-1], addresses[1:]


def find_keys(
    begins: Integers, ends: Integers, keys: Sequence[str]
) -> tuple[Integers, Integers, Booleans]:
    """Finds the values of keys in texts that are objects, unless something is wrong with them.

    Returns:
      Where the values begin and end, int64 (keys, rows); and whether each text is an object that
        the scanner knows, bool (rows,). If it is not, its begins are 0.
    """
    encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
    names = np.frombuffer(b"".join(encoded) + bytes(READ_AHEAD), np.uint8)
    name_offsets = np.cumsum([0, *map(len, encoded)])
    spans = np.zeros((2, len(keys), len(begins)), np.int64)
    known = np.zeros(len(begins), np.bool_)
    _find_keys(begins, ends, names, name_offsets, spans[0], spans[1], known)
    spans[0, :, ~known] = 0
    return spans[0], spans[1], known


def step(begins: Integers, ends: Integers, to: str | int) -> tuple[Integers, Integers]:
    """The spans of a field (or item) in spans of valid objects (or lists).

    In a missing or null value, every field is missing. In a value of another type, it is unknown.
    """
    kinds, offsets, item_begins, item_ends = items(begins, ends)
    if isinstance(to, int):
        goes_on = kinds == LIST
        exists = goes_on & (offsets[:-1] + to < offsets[1:])
        places = np.where(exists, offsets[:-1] + to, -1)
        found, found_ends = np.append(item_begins, 0)[places], np.append(item_ends, 0)[places]
    else:
        (found,), (found_ends,), goes_on = find_keys(begins, ends, [to])
    return np.where(goes_on, found, np.where(kinds == NULL, 0, UNKNOWN)), found_ends


def items(begins: Integers, ends: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """The items of lists. A valid value that is not a list counts as a list of this one value.

    Returns:
      The kinds of the values (null and missing values have no items); the number of items before
        each row, and in all, int64 (rows + 1,); where the items begin and end.
    """
    kinds = np.empty(len(begins), np.int64)
    offsets = np.zeros(len(begins) + 1, np.int64)
    spans = np.empty((2, 0), np.int64)
    _find_items(begins, ends, kinds, offsets, spans, False)
    spans = np.empty((2, int(offsets[-1])), np.int64)
    _find_items(begins, ends, kinds, offsets, spans, True)
    return kinds, offsets, spans[0], spans[1]


def texts_of(begins: Integers, ends: Integers) -> tuple[Integers, pa.LargeStringArray]:
    """The kinds of values, and a padded column with the texts of strings, numbers and booleans."""
    offsets = np.zeros(len(begins) + 1, np.int64)
    kinds = np.empty(len(begins), np.int64)
    size = int((ends - begins)[begins > 0].sum())
    texts = np.zeros(size + READ_AHEAD, np.uint8)
    _decode(begins, ends, texts, offsets, kinds)
    valid = (kinds == TEXT) | (kinds == SCALAR)
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = pa.py_buffer(offsets), pa.py_buffer(texts), validity
    return kinds, pa.LargeStringArray.from_buffers(len(kinds), *buffers)


@compiled
def _find_keys(begins, ends, names, name_offsets, found, found_ends, known):
    keys, key_ends = address_of(names), address_of(name_offsets)
    count, rows = found.shape
    to_begins, to_ends = address_of(found), address_of(found_ends)
    for row in range(rows):
        begin, end = begins[row], ends[row]
        if begin <= 0:
            continue
        object_end = find_in_object(
            begin, end, keys, key_ends, count, to_begins + 8 * row, to_ends + 8 * row, rows
        )
        known[row] = object_end != 0 and blank_end(object_end, end) == end


@compiled
def _find_items(begins, ends, kinds, offsets, found, writes):
    item = 0
    for row in range(begins.size):
        begin, end = begins[row], ends[row]
        kind = _kind(begin)
        kinds[row] = kind
        at = begin
        if kind == LIST:
            at = first_item(begin, end)
        elif kind in (NULL, REFUSED):
            at = 0
        while at != 0:
            item_end = end
            if kind == LIST:
                item_end = value_end(at, end)
            if writes:
                found[0, item] = at
                found[1, item] = item_end
            item += 1
            at = next_item(item_end, end) if kind == LIST else 0
        offsets[row + 1] = item


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
                kind = NOT_UNICODE
            else:
                to = written
        elif kind == SCALAR:
            copy(to, begin, end - begin)
            to += end - begin
        kinds[row] = kind
        offsets[row + 1] = to - start


@inner
def _kind(begin):
    if begin < 0:
        return REFUSED
    if begin == 0:
        return NULL
    first = load_byte(begin)
    if first == QUOTE:
        return TEXT
    if first == LETTER_N:
        return NULL
    if first == OPEN_OBJECT:
        return OBJECT
    if first == OPEN_LIST:
        return LIST
    return SCALAR
