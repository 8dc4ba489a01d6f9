"""Tokenizers that put spaces into a text, which is then split at white space.

sacreBLEU writes them as passes over the whole text. Here each one is a table
of what every code point is, and one closed form serves them all; the tests
prove it against sacreBLEU, token by token:

* `char`: every code point stands alone;
* `zh`: so do Chinese code points and the ASCII symbols of 13a; full stops and
  commas are points, 0-9 are digits, and a hyphen stands alone if a digit
  stands directly before it;
* `intl`: symbols (Unicode's S) stand alone, punctuation marks (P) are points
  and numbers (N) are digits, of any script.

A point's two regular expressions set it apart from what precedes it unless that
is a digit, then from what follows it unless that is a digit. Matches do not
overlap: where the first expression has matched a point, it does not look from
that point at the next one. So in a run of points every second one is bound to
what precedes it: the first one if a digit or nothing precedes the run. A point
stands alone unless it is bound in this sense and a digit or nothing follows it.
Nothing, at the two ends of a text, counts as a digit: 13a pads a text with
spaces, `zh` and `intl` do not. The last point of a text is thus part of a
number before it: a known fault of mteval-v14, which sacreBLEU keeps.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
from numba import njit

from transforms.arrays import Bytes
from transforms.columns import padded_column, spans
from transforms.compiled import compiled
from transforms.machine import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    code_point_masks,
    copy_block,
    load_byte,
    load_word,
    lowest_bit,
    store_byte,
    store_word,
)

SPACED = ("intl", "zh", "char")
"""The tokenizers that `spaced` knows."""

_OTHER, _WHITE, _ALONE, _POINT, _DIGIT, _HYPHEN = range(6)

_CODE_POINTS = 0x110000
_WHITE_SPACE = [
    *(range(first, last + 1) for first, last in ((0x09, 0x0D), (0x1C, 0x20), (0x2000, 0x200A))),
    (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]
_SYMBOLS = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'

# What sacreBLEU takes for Chinese: its ranges, in order and joined where they
# touch. It writes Extension B as '\u20000'..'\u2a6d6', which Python reads as
# U+2000 and "0" to U+2A6D and "6", and compares single code points with these:
# so the first range is U+2001 to U+2A6D, and the astral planes have none.
_CHINESE = (
    (0x2001, 0x2A6D),
    (0x2E80, 0x2FDF),
    (0x2FF0, 0x303F),
    (0x3100, 0x312F),
    (0x31A0, 0x31BF),
    (0x31C0, 0x31EF),
    (0x3200, 0x4DB5),
    (0x4E00, 0x9FBB),
    (0xF900, 0xFA2D),
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
)

_NOTHING = np.uint64(0)
_EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


def spaced(column: pa.LargeStringArray, tokenize: str) -> pa.LargeStringArray:
    """The texts of a padded column, which `none` splits as `tokenize` splits these."""
    starts, ends = spans([column])
    # A space at most between two code points, and at the two ends of a text.
    room = 2 * int((ends - starts).sum()) + len(column) + READ_AHEAD
    texts = np.empty(room, np.uint8)
    offsets = np.zeros(len(column) + 1, np.int64)
    steps_over_letters = tokenize != "char"
    strips_start = tokenize == "zh"
    _space_rows(
        starts[0], ends[0], _classes(tokenize), steps_over_letters, strips_start, texts, offsets
    )
    texts[offsets[-1] : offsets[-1] + READ_AHEAD] = 0
    return padded_column(texts, offsets, column)


@cache
def _classes(tokenize: str) -> Bytes:
    """What every code point is to a tokenizer, uint8 (code points,)."""
    classes = np.zeros(_CODE_POINTS, np.uint8)
    if tokenize == "char":
        classes[:] = _ALONE
    elif tokenize == "zh":
        for symbol in _SYMBOLS:
            classes[ord(symbol)] = _ALONE
        for first, last in _CHINESE:
            classes[first : last + 1] = _ALONE
        classes[[ord("."), ord(",")]] = _POINT
        classes[ord("0") : ord("9") + 1] = _DIGIT
        classes[ord("-")] = _HYPHEN
    else:
        # Only here, so that other tokenizers start without it. sacreBLEU asks it, too: the
        # Unicode tables of Python itself may be older.
        import regex

        code_points = np.arange(_CODE_POINTS, dtype="<u4").tobytes()
        text = code_points.decode("utf-32-le", "surrogatepass")
        for name, what in (("S", _ALONE), ("P", _POINT), ("N", _DIGIT)):
            for run in regex.finditer(rf"\p{{{name}}}+", text):
                classes[run.start() : run.end()] = what
    for some in _WHITE_SPACE:
        classes[list(some)] = _WHITE
    return classes


@compiled
def _space_rows(starts, ends, classes, steps_over_letters, strips_start, texts, offsets):
    """Writes the texts with their spaces, one after the other, and where each one ends."""
    first = target = address_of(texts)
    table = address_of(classes)
    plain = _EVERYTHING if steps_over_letters else _NOTHING
    for row in range(starts.size):
        start = starts[row]
        end = _stripped_end(start, ends[row], table)
        if strips_start:
            start = _stripped_start(start, end, table)
        target = _space(start, end, table, plain, target)
        offsets[row + 1] = target - first


@njit
def _code_point(address):
    """(code point, bytes of it) at an address."""
    first = load_byte(address)
    if first < 0x80:
        return first, 1
    code = load_byte(address + 1) & 0x3F
    if first < 0xE0:
        return ((first & 0x1F) << 6) | code, 2
    code = (code << 6) | (load_byte(address + 2) & 0x3F)
    if first < 0xF0:
        return ((first & 0xF) << 12) | code, 3
    return ((first & 0x7) << 18) | (code << 6) | (load_byte(address + 3) & 0x3F), 4


@njit
def _class_at(address, table):
    return load_byte(table + _code_point(address)[0])


@njit
def _stripped_start(start, end, table):
    while start < end and _class_at(start, table) == _WHITE:
        start += _code_point(start)[1]
    return start


@njit
def _stripped_end(start, end, table):
    while start < end:
        last = end - 1
        while load_byte(last) & 0xC0 == 0x80:
            last -= 1
        if _class_at(last, table) != _WHITE:
            break
        end = last
    return end


@njit
def _space(start, end, table, plain, target):
    """Writes the text at [start, end) with its spaces; returns where the next one would go.

    Args:
      start: address of the text.
      end: where it ends; nothing counts as following it.
      table: address of the classes of all code points.
      plain: all bits if ASCII letters and spaces have no class, else none.
      target: address to write to, with room for a space more than code points;
        a block behind the end of what is written may be overwritten.
    """
    copied = start  # up to here the text is written
    behind = start  # where the code point that was looked at last ends
    bound = True  # whether a point that stands there is bound to what precedes it
    was_digit = was_alone = False
    block = start
    while block < end:
        firsts, letters = code_point_masks(block)
        look = firsts & ~(letters & plain)
        while look != _NOTHING:
            at = block + lowest_bit(look)
            look = clear_lowest_bit(look)
            if at >= end:
                break
            if at != behind:
                bound = was_digit = was_alone = False
            code, size = _code_point(at)
            what = load_byte(table + code)
            behind = at + size
            alone = what == _ALONE
            if what == _POINT:
                ends_number = behind >= end or _class_at(behind, table) == _DIGIT
                alone = not (bound and ends_number)
                bound = not bound
            else:
                if what == _HYPHEN:
                    alone = was_digit
                bound = what == _DIGIT
            was_digit = what == _DIGIT
            if alone:
                if copied < at:
                    copy_block(target, copied)  # less than a block is of use
                    target += at - copied
                store_byte(target, ord(" "))
                target += np.int64(not was_alone)
                store_word(target, load_word(at))
                target += size
                store_byte(target, ord(" "))
                target += 1
                copied = behind
            was_alone = alone
        block += BLOCK
        stop = min(block, end)
        if copied < stop:
            copy_block(target, copied)
            target += stop - copied
            copied = stop
    return target
