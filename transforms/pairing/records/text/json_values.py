"""Values of JSON at addresses: compiled functions that find their ends, and the values in them.

An end is 0 if the value is not valid, or if it is one of those that `json_scanner` does not know.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import load_byte, load_int, load_word, store_int
from beam_bleu.transforms.pairing.records.text.json_strings import (
    DIGIT_0,
    DIGIT_9,
    LETTER_E,
    LETTER_F,
    LOWER,
    QUOTE,
    has_backslash,
    string_end,
)

_MOST_NESTED = 63
_MOST_DIGITS = 4000
"""Python refuses numbers of more than 4300 digits."""

OPEN_OBJECT, CLOSE_OBJECT = ord("{"), ord("}")
OPEN_LIST, CLOSE_LIST = ord("["), ord("]")
_COMMA, _COLON, _POINT = ord(","), ord(":"), ord(".")
_PLUS, _MINUS = ord("+"), ord("-")
LETTER_N, _T = ord("n"), ord("t")
_SPACE, _TAB, _RETURN = ord(" "), ord("\t"), ord("\r")

_FOUR_BYTES = np.uint64(0xFFFFFFFF)
_NULL_WORD = np.uint64(int.from_bytes(b"null", "little"))
_TRUE_WORD = np.uint64(int.from_bytes(b"true", "little"))
_FALS_WORD = np.uint64(int.from_bytes(b"fals", "little"))


@inner
def find_in_object(at, end, keys, key_offsets, count, begins, ends, stride):
    """Writes the spans of the values of keys in the object that begins here, or after blanks.

    Returns the end of the object, or 0 if the scanner does not know it. The spans of the first
    key are written to `begins` and `ends`, those of the others to each `stride` integers later.
    """
    at = blank_end(at, end)
    if at >= end or load_byte(at) != OPEN_OBJECT:
        return 0
    at = blank_end(at + 1, end)
    if at < end and load_byte(at) == CLOSE_OBJECT:
        return at + 1
    while at < end and load_byte(at) == QUOTE:
        key = at + 1
        at = string_end(key, end)
        if at == 0:
            return 0
        key_end = at - 1
        at = blank_end(at, end)
        if at >= end or load_byte(at) != _COLON:
            return 0
        value = blank_end(at + 1, end)
        if value >= end:
            return 0
        at = value_end(value, end)
        if at == 0 or has_backslash(key, key_end):
            return 0
        for i in range(count):
            begin, stop = load_int(key_offsets, i), load_int(key_offsets, i + 1)
            if stop - begin == key_end - key and _same(keys + begin, key, stop - begin):
                store_int(begins, i * stride, value)
                store_int(ends, i * stride, at)
        at = blank_end(at, end)
        if at >= end:
            return 0
        byte = load_byte(at)
        if byte == CLOSE_OBJECT:
            return at + 1
        if byte != _COMMA:
            return 0
        at = blank_end(at + 1, end)
    return 0


@inner
def first_item(begin, end):
    """The first item of a valid list; 0 if it has none."""
    at = blank_end(begin + 1, end)
    return 0 if load_byte(at) == CLOSE_LIST else at


@inner
def next_item(at, end):
    """The item after the one that ends at an address, in a valid list; 0 if it was the last."""
    at = blank_end(at, end)
    return blank_end(at + 1, end) if load_byte(at) == _COMMA else 0


@inner
def _same(one, other, size):
    for i in range(size):  # noqa: SIM110  # numba compiles no generators
        if load_byte(one + i) != load_byte(other + i):
            return False
    return True


@inner
def blank_end(at, end):
    """The address after blanks. A line has no newlines, which are blanks of JSON, too."""
    while at < end:
        byte = load_byte(at)
        if byte != _SPACE and byte != _TAB and byte != _RETURN:
            break
        at += 1
    return at


@inner
def value_end(at, end):
    """The end of the value that begins here; 0 if it is not valid, or not known."""
    first = load_byte(at)
    if first in (OPEN_OBJECT, OPEN_LIST):
        return _nested_end(at, end)
    return _simple_end(at, end)


@inner
def _simple_end(at, end):
    """The end of a string, a number, true, false or null; 0 for anything else."""
    first = load_byte(at)
    if first == QUOTE:
        return string_end(at + 1, end)
    word = load_word(at) & _FOUR_BYTES
    if first == LETTER_N:
        at = at + 4 if word == _NULL_WORD else 0
    elif first == _T:
        at = at + 4 if word == _TRUE_WORD else 0
    elif first == LETTER_F:
        at = at + 5 if word == _FALS_WORD and load_byte(at + 4) == LETTER_E else 0
    else:
        return _number_end(at, end)
    return at if at <= end else 0


@inner
def _nested_end(at, end):
    """The end of an object or a list; 0 if it is not valid, or not known."""
    objects = np.uint64(0)  # a bit for each object or list that is open: whether it is an object
    one = np.uint64(1)
    depth = 0
    while True:
        at = blank_end(at, end)
        if at >= end:
            return 0
        byte = load_byte(at)
        if byte in (OPEN_OBJECT, OPEN_LIST):
            if depth == _MOST_NESTED:
                return 0
            depth += 1
            objects <<= one
            at = blank_end(at + 1, end)
            if at >= end:
                return 0
            if byte == OPEN_OBJECT:
                objects |= one
                byte = load_byte(at)
                if byte != CLOSE_OBJECT:
                    at = _key_end(at, end)
                    if at == 0:
                        return 0
                    continue
            else:
                byte = load_byte(at)
                if byte != CLOSE_LIST:
                    continue
        else:
            at = _simple_end(at, end)
            if at == 0:
                return 0
            at = blank_end(at, end)
            if at >= end:
                return 0
            byte = load_byte(at)
        while byte != _COMMA:
            in_object = (objects & one) == one
            if byte != (CLOSE_OBJECT if in_object else CLOSE_LIST):
                return 0
            depth -= 1
            objects >>= one
            at += 1
            if depth == 0:
                return at
            at = blank_end(at, end)
            if at >= end:
                return 0
            byte = load_byte(at)
        at += 1
        if (objects & one) == one:
            at = _key_end(blank_end(at, end), end)
            if at == 0:
                return 0


@inner
def _key_end(at, end):
    """The address after a key and its colon; 0 if they are not there."""
    if at >= end or load_byte(at) != QUOTE:
        return 0
    at = string_end(at + 1, end)
    if at == 0:
        return 0
    at = blank_end(at, end)
    return at + 1 if at < end and load_byte(at) == _COLON else 0


@inner
def _digits_end(at, end):
    while at < end and DIGIT_0 <= load_byte(at) <= DIGIT_9:
        at += 1
    return at


@inner
def _number_end(at, end):
    start = at
    if load_byte(at) == _MINUS:
        at += 1
    if at < end and load_byte(at) == DIGIT_0:
        at += 1
    else:
        digits = at
        at = _digits_end(at, end)
        if at == digits:
            return 0
    if at < end and load_byte(at) == _POINT:
        digits = at + 1
        at = _digits_end(digits, end)
        if at == digits:
            return 0
    if at < end and load_byte(at) | LOWER == LETTER_E:
        at += 1
        if at < end and (load_byte(at) == _PLUS or load_byte(at) == _MINUS):
            at += 1
        digits = at
        at = _digits_end(digits, end)
        if at == digits:
            return 0
    return at if at - start <= _MOST_DIGITS else 0
