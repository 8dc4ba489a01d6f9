"""Compiled functions that find where JSON values at memory addresses end, and that decode strings.

An end is 0 if the value is invalid, or one that `json_scanner` does not know.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.masks import byte_mask, byte_masks
from beam_bleu.transforms.native.memory import (
    BLOCK,
    copy,
    load_byte,
    load_int,
    load_word,
    lowest_bit,
    store_byte,
    store_int,
)

QUOTE, _BACKSLASH = ord('"'), ord("\\")
DIGIT_0, DIGIT_9 = ord("0"), ord("9")
LETTER_A, LETTER_E, LETTER_F = ord("a"), ord("e"), ord("f")
_U = ord("u")
LOWER = 0x20  # the bit that is set in lower-case ASCII letters

_ESCAPES = np.zeros(256, np.int64)  # the byte that a letter after a backslash stands for, or 0
for _letter, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    _ESCAPES[_letter] = _meaning

# Where a string ends, or where its scan must stop.
_in_string_masks = byte_masks(['"', "\\", ("\x00", "\x1f")])
_backslash_mask = byte_mask(["\\"])

_MOST_NESTED = 63
MOST_DIGITS = 4000  # Python refuses integers of more than 4300 digits

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
def _next_backslash(at, end):
    while at < end:
        backslashes = _backslash_mask(at)
        if backslashes != np.uint64(0):
            return min(at + lowest_bit(backslashes), end)
        at += BLOCK
    return end


@inner
def string_end(at, end):
    """The address after the closing quote of a string; 0 if the string is invalid."""
    while at < end:
        (stops,) = _in_string_masks(at)
        if stops == np.uint64(0):
            at += BLOCK
            continue
        at += lowest_bit(stops)
        if at >= end:
            return 0
        byte = load_byte(at)
        if byte == QUOTE:
            return at + 1
        if byte != _BACKSLASH:
            return 0  # a control character
        while byte == _BACKSLASH:  # several escapes often follow each other
            at = _escape_end(at + 1)
            if at == 0 or at >= end:
                return 0
            byte = load_byte(at)
    return 0


@inner
def _escape_end(at):
    """The address after an escape whose backslash is just before `at`; 0 if it is invalid."""
    letter = load_byte(at)
    if letter != _U:
        return at + 1 if _ESCAPES[letter] != 0 else 0
    for i in range(1, 5):
        if _hex_digit(load_byte(at + i)) < 0:
            return 0
    return at + 5


@inner
def _hex_digit(byte):
    if DIGIT_0 <= byte <= DIGIT_9:
        return byte - DIGIT_0
    letter = byte | LOWER
    return letter - LETTER_A + 10 if LETTER_A <= letter <= LETTER_F else -1


@inner
def _code_unit(at):
    number = 0
    for i in range(4):
        number = number * 16 + _hex_digit(load_byte(at + i))
    return number


@inner
def unescape(at, end, to):
    """Writes the text of a string; returns where it ends, or 0 for half of a surrogate pair."""
    while True:
        plain_end = _next_backslash(at, end)
        copy(to, at, plain_end - at)
        to += plain_end - at
        at = plain_end
        while at < end and load_byte(at) == _BACKSLASH:
            letter = load_byte(at + 1)
            at += 2
            if letter != _U:
                store_byte(to, _ESCAPES[letter])
                to += 1
                continue
            point = _code_unit(at)
            at += 4
            if 0xDC00 <= point < 0xE000:
                return 0
            if 0xD800 <= point < 0xDC00:
                if at + 6 > end or load_byte(at) != _BACKSLASH or load_byte(at + 1) != _U:
                    return 0
                low = _code_unit(at + 2)
                if not 0xDC00 <= low < 0xE000:
                    return 0
                at += 6
                point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
            to = _store_utf8(to, point)
        if at >= end:
            return to


@inner
def _store_utf8(to, point):
    if point < 0x80:
        store_byte(to, point)
        return to + 1
    if point < 0x800:
        store_byte(to, 0xC0 | point >> 6)
        store_byte(to + 1, 0x80 | point & 0x3F)
        return to + 2
    if point < 0x10000:
        store_byte(to, 0xE0 | point >> 12)
        store_byte(to + 1, 0x80 | (point >> 6) & 0x3F)
        store_byte(to + 2, 0x80 | point & 0x3F)
        return to + 3
    store_byte(to, 0xF0 | point >> 18)
    store_byte(to + 1, 0x80 | (point >> 12) & 0x3F)
    store_byte(to + 2, 0x80 | (point >> 6) & 0x3F)
    store_byte(to + 3, 0x80 | point & 0x3F)
    return to + 4


@inner
def find_in_object(at, end, keys, key_offsets, count, begins, ends, stride):
    """Writes the spans of the values of keys in the object that begins at `at`, or after blanks.

    Returns the end of the object, or 0 if the scanner does not know it. The span of the first key
    is written to `begins` and `ends`, that of each further key `stride` integers later.
    """
    at = blank_end(at, end)
    if at >= end or load_byte(at) != OPEN_OBJECT:
        return 0
    return _nested_end(at, end, keys, key_offsets, count, begins, ends, stride)


@inner
def first_item(begin, end):
    at = blank_end(begin + 1, end)
    return 0 if load_byte(at) == CLOSE_LIST else at


@inner
def next_item(at, end):
    at = blank_end(at, end)
    return blank_end(at + 1, end) if load_byte(at) == _COMMA else 0


@inner
def _number_of(key, size, keys, key_offsets, count):
    for i in range(count):
        begin = load_int(key_offsets, i)
        if load_int(key_offsets, i + 1) - begin == size:
            same = 0
            while same < size and load_byte(keys + begin + same) == load_byte(key + same):
                same += 1
            if same == size:
                return i
    return -1


@inner
def blank_end(at, end):
    """The address after blanks. Newlines would also be blanks of JSON, but a line has none."""
    while at < end:
        byte = load_byte(at)
        if byte != _SPACE and byte != _TAB and byte != _RETURN:
            break
        at += 1
    return at


@inner
def value_end(at, end):
    first = load_byte(at)
    if first in (OPEN_OBJECT, OPEN_LIST):
        return _nested_end(at, end, 0, 0, 0, 0, 0, 0)
    return _simple_end(at, end)


@inner
def _simple_end(at, end):
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
def _nested_end(at, end, keys, key_offsets, count, begins, ends, stride):
    """The end of an object or a list; 0 if it is invalid or not known. See `find_in_object`."""
    objects = np.uint64(0)  # a bit for each open object or list: whether it is an object
    one = np.uint64(1)
    depth = 0
    expects_key = False
    key = -1  # the number of the last key of the outermost object
    value = at
    while True:
        at = blank_end(at, end)
        if expects_key:
            if at >= end or load_byte(at) != QUOTE:
                return 0
            name = at + 1
            at = string_end(name, end)
            if at == 0:
                return 0
            if depth == 1 and count > 0:
                if _next_backslash(name, at - 1) < at - 1:
                    return 0
                key = _number_of(name, at - 1 - name, keys, key_offsets, count)
            at = blank_end(at, end)
            if at >= end or load_byte(at) != _COLON:
                return 0
            at = blank_end(at + 1, end)
        if at >= end:
            return 0
        if depth == 1:
            value = at
        byte = load_byte(at)
        is_object = byte == OPEN_OBJECT
        if is_object or byte == OPEN_LIST:
            if depth == _MOST_NESTED:
                return 0
            depth += 1
            objects <<= one
            if is_object:
                objects |= one
            at = blank_end(at + 1, end)
            if at >= end:
                return 0
            byte = load_byte(at)
            if byte != (CLOSE_OBJECT if is_object else CLOSE_LIST):
                expects_key = is_object
                continue
        else:
            at = _simple_end(at, end)
            if at == 0:
                return 0
        while True:
            if depth == 1 and key >= 0:
                store_int(begins, key * stride, value)
                store_int(ends, key * stride, at)
            at = blank_end(at, end)
            if at >= end:
                return 0
            byte = load_byte(at)
            if byte == _COMMA:
                break
            in_object = (objects & one) == one
            if byte != (CLOSE_OBJECT if in_object else CLOSE_LIST):
                return 0
            depth -= 1
            objects >>= one
            at += 1
            if depth == 0:
                return at
        at += 1
        expects_key = (objects & one) == one


@inner
def _digits_end(at, end):
    """The address after one digit or more; 0 if there is none."""
    first = at
    while at < end and DIGIT_0 <= load_byte(at) <= DIGIT_9:
        at += 1
    return at if at > first else 0


@inner
def _number_end(at, end):
    start = at
    if load_byte(at) == _MINUS:
        at += 1
    if at < end and load_byte(at) == DIGIT_0:
        at += 1
    else:
        at = _digits_end(at, end)
    if at != 0 and at < end and load_byte(at) == _POINT:
        at = _digits_end(at + 1, end)
    if at != 0 and at < end and load_byte(at) | LOWER == LETTER_E:
        at += 1
        if at < end and (load_byte(at) == _PLUS or load_byte(at) == _MINUS):
            at += 1
        at = _digits_end(at, end)
    return at if at - start <= MOST_DIGITS else 0
