"""The tokenizers `zh` and `intl`: spaces put into a text, which is then split at them.

sacreBLEU inserts them by regular expressions, one after the other. Here a
tokenizer is a table of what every code point is, and one closed form serves
both; the tests prove it against sacreBLEU, token by token:

* what is alone stands alone: to `zh` Chinese code points and the ASCII symbols
  of 13a, to `intl` the symbols of Unicode (S);
* points are `.` and `,` to `zh`, punctuation marks (P) to `intl`; digits are 0-9
  to `zh`, numbers of any script (N) to `intl`. In a run of points, each one
  stands alone, except that the last one joins a digit or the end of the text
  behind it if (the run is odd) == (a digit or the start of the text is before it);
* such a point, if it is the only one of its run, joins the digit before it, too;
* to `zh`, a hyphen stands alone if a digit stands directly before it.

The rules for points are 13a's, but for the ends of the text: 13a pads a text with
spaces, so that there is always something round a point. Where they come from: the
first expression sets apart a point behind what is no digit, then goes on behind
that point, which it thus does not see as what precedes the next one. So every
second point of a run is left, the first one if a digit or nothing precedes it.
The second expression then sets apart points before what is no digit.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
from numba import njit

from beam_bleu.transforms.definition.choices import function_of
from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.columns import padded_column, spans
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    copy_block,
    load_byte,
    load_word,
    lowest_bit,
    store_byte,
    store_word,
)
from beam_bleu.transforms.statistics.byte_classes import code_point_masks
from beam_bleu.transforms.statistics.code_points import code_point, letter_size

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


def spaced(column: pa.LargeStringArray, tokenize: str) -> pa.LargeStringArray:
    """The texts of a padded column, which `none` splits as `tokenize` splits these."""
    starts, ends = spans([column])
    # A space at most between two code points, and at the two ends of a text.
    room = 2 * int((ends - starts).sum()) + len(column) + READ_AHEAD
    texts = np.empty(room, np.uint8)
    offsets = np.zeros(len(column) + 1, np.int64)
    # The end, sacreBLEU strips for every tokenizer.
    strips_start = function_of(_STRIPS_START, tokenize, "tokenizer")
    _space_rows(starts[0], ends[0], strips_start, _classes(tokenize), texts, offsets)
    texts[offsets[-1] : offsets[-1] + READ_AHEAD] = 0
    return padded_column(texts, offsets, column)


@cache
def _classes(tokenize: str) -> Bytes:
    """What every code point is to a tokenizer, uint8 (code points,)."""
    classes = np.zeros(_CODE_POINTS, np.uint8)
    function_of(_CLASSIFY, tokenize, "tokenizer")(classes)
    for code_points in _WHITE_SPACE:
        classes[list(code_points)] = _WHITE
    return classes


def _classify_chinese(classes: Bytes) -> None:
    for symbol in _SYMBOLS:
        classes[ord(symbol)] = _ALONE
    for first, last in _CHINESE:
        classes[first : last + 1] = _ALONE
    classes[[ord("."), ord(",")]] = _POINT
    classes[ord("0") : ord("9") + 1] = _DIGIT
    classes[ord("-")] = _HYPHEN


def _classify_international(classes: Bytes) -> None:
    # Imported here, so that other tokenizers start without it. sacreBLEU's classes are
    # those of this module; Python's own Unicode tables may be older.
    import regex

    code_points = np.arange(_CODE_POINTS, dtype="<u4").tobytes()
    text = code_points.decode("utf-32-le", "surrogatepass")
    for name, what in (("S", _ALONE), ("P", _POINT), ("N", _DIGIT)):
        for run in regex.finditer(rf"\p{{{name}}}+", text):
            classes[run.start() : run.end()] = what


_CLASSIFY = {"zh": _classify_chinese, "intl": _classify_international}
_STRIPS_START = {"zh": True, "intl": False}


@compiled
def _space_rows(starts, ends, strips_start, classes, texts, offsets):
    """Writes the texts with their spaces, one after the other, and where each one ends."""
    first = target = address_of(texts)
    table = address_of(classes)
    for row in range(starts.size):
        start = starts[row]
        end = _stripped_end(start, ends[row], table)
        if strips_start:
            start = _stripped_start(start, end, table)
        target = _space(start, end, table, target)
        offsets[row + 1] = target - first


@njit
def _code_point(address):
    """(code point, bytes of it) at an address."""
    first = load_byte(address)
    if first < 0x80:
        return first, 1
    size = letter_size(first)
    return code_point(address, size), size


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
def _space(start, end, table, target):
    """Writes the text at [start, end) with its spaces; returns where the next one would go.

    Args:
      start: address of the text.
      end: where it ends; nothing counts as following it.
      table: address of the classes of all code points.
      target: address to write to, with room for a space more than code points;
        a block behind the end of what is written may be overwritten.
    """
    copied = start  # up to here the text is written
    # Of the code point of a class that was looked at last:
    behind = start  # where it ends
    leaves = True  # whether the first expression leaves a point that stands there
    was_digit = was_alone = False
    block = start
    while block < end:
        firsts, letters = code_point_masks(block)
        look = firsts & ~letters
        while look != _NOTHING:
            at = block + lowest_bit(look)
            look = clear_lowest_bit(look)
            if at >= end:
                break
            code, size = _code_point(at)
            what = load_byte(table + code)
            if what <= _WHITE:
                continue
            if at != behind:
                leaves = was_digit = was_alone = False
            behind = at + size
            alone = what == _ALONE
            if what == _POINT:
                joins = behind >= end or _class_at(behind, table) == _DIGIT
                alone = not (leaves and joins)
                leaves = not leaves
            else:
                if what == _HYPHEN:
                    alone = was_digit
                leaves = what == _DIGIT
            was_digit = what == _DIGIT
            if alone:
                if copied < at:
                    copy_block(target, copied)  # of which less than a block stays
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
