"""Strings of JSON at addresses: compiled functions that find their ends and decode them."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.masks import byte_mask, byte_masks
from beam_bleu.transforms.native.memory import BLOCK, copy, load_byte, lowest_bit, store_byte

QUOTE, _BACKSLASH = ord('"'), ord("\\")
DIGIT_0, DIGIT_9 = ord("0"), ord("9")
LETTER_A, LETTER_E, LETTER_F = ord("a"), ord("e"), ord("f")
_U = ord("u")
LOWER = 0x20  # the bit of ASCII letters that are lower-case

_ESCAPES = np.zeros(256, np.int64)
"""The byte that a letter after a backslash means; 0 for others."""
for _letter, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    _ESCAPES[_letter] = _meaning

_in_string_masks = byte_masks(['"', "\\", ("\x00", "\x1f")])
"""The bytes at which a string ends, or at which its scan must stop."""
_backslash_mask = byte_mask(["\\"])


@inner
def has_backslash(at, end):
    """Whether there is a backslash between two addresses."""
    return _next_backslash(at, end) < end


@inner
def _next_backslash(at, end):
    """The address of the next backslash, or `end`."""
    while at < end:
        found = _backslash_mask(at)
        if found != np.uint64(0):
            return min(at + lowest_bit(found), end)
        at += BLOCK
    return end


@inner
def string_end(at, end):
    """The address after the closing quote of a string; 0 if it is not valid.

    Args:
      at: the address after the opening quote.
      end: the end of the line.
    """
    while at < end:
        (found,) = _in_string_masks(at)
        if found == np.uint64(0):
            at += BLOCK
            continue
        at += lowest_bit(found)
        if at >= end:
            return 0
        byte = load_byte(at)
        if byte == QUOTE:
            return at + 1
        if byte != _BACKSLASH:
            return 0  # a control character
        while byte == _BACKSLASH:  # escapes often follow each other
            at = _escape_end(at + 1)
            if at == 0 or at >= end:
                return 0
            byte = load_byte(at)
    return 0


@inner
def _escape_end(at):
    """The address after an escape, given that of the byte after the backslash; 0 if not valid."""
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
    """The number that the four hexadecimal digits at an address mean."""
    unit = 0
    for i in range(4):
        unit = unit * 16 + _hex_digit(load_byte(at + i))
    return unit


@inner
def unescape(at, end, to):
    """Writes the text of a valid string; returns the end of the text, 0 if it is no text.

    A text has no half of a surrogate pair without the other half.
    """
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
    """Writes a code point in UTF-8, and returns the address after it."""
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
