"""The tokenizers `zh` and `intl`: they put spaces into a text, which is then split at them.

sacreBLEU inserts the spaces with several regular expressions. Here a tokenizer is a table with the
class of every code point, and the same rules serve both:

* Some characters are always tokens of their own ("alone"): for `zh` Chinese code points and the
  ASCII symbols of 13a, for `intl` the symbols of Unicode (S).
* Points are `.` and `,` for `zh`, and punctuation marks (P) for `intl`. Digits are 0-9 for `zh`,
  and numbers of any script (N) for `intl`. In a run of points, each point is a token of its own.
  The exception is the last one: it joins a digit after it, or the end of the text, if (the
  length of the run is odd) == (there is a digit, or the start of the text, before the run).
* Such a last point, if it is the only one of its run, also joins the digit before it.
* For `zh`, a hyphen is a token of its own if a digit is directly before it.

The rules for points follow from sacreBLEU's two regular expressions. The first one matches a point
together with a character before it that is not a digit, and separates them. Its next match starts
after that point, so every second point of a run is left, beginning with the first one if a digit or
nothing is before it. The second expression separates the points that are left if the next character
is not a digit. 13a adds spaces at the ends of the text, so there a point always has neighbours.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.masks import code_point, letter_size
from beam_bleu.transforms.native.memory import (
    BLOCK,
    address_of,
    clear_lowest_bit,
    copy_block,
    load_byte,
    load_word,
    lowest_bit,
    store_byte,
    store_word,
)
from beam_bleu.transforms.text.byte_classes import (
    CODE_POINTS,
    WHITE_SPACE,
    code_point_classes,
    code_point_masks,
)
from beam_bleu.transforms.text.rewriting import written
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import AnyTokenizerName

_OTHER, _WHITE, _ALONE, _POINT, _DIGIT, _HYPHEN = range(6)

_CHINESE = {
    # The first and the last character of sacreBLEU's ranges. It writes Extension B as
    # '\u20000'..'\u2a6d6'. Python reads this as U+2000 and "0" to U+2A6D and "6", and compares
    # single code points with these. So the first range is U+2001 to U+2A6D, and no character above
    # U+FFFF is Chinese.
    _ALONE: "\u2001\u2a6d\u2e80\u2fdf\u2ff0\u303f\u3100\u312f\u31a0\u31ef\u3200\u4db5\u4e00\u9fbb"
    "\uf900\ufa2d\ufa30\ufa6a\ufa70\ufad9\ufe10\ufe1f\ufe30\ufe4f\uff00\uffef"
    "!&(+//:@[`{~",
    _POINT: "..,,",
    _DIGIT: "09",
    _HYPHEN: "--",
}

_NOTHING = np.uint64(0)


def spaced(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts of a padded column with spaces between the tokens of a tokenizer."""
    # sacreBLEU strips the end of a text for every tokenizer, but the start only for zh. There is at
    # most one space between two code points, and at both ends of a text.
    return written(column, _space_rows, text.tokenize == "zh", _classes(text.tokenize))


@cache
def _classes(tokenize: AnyTokenizerName) -> Bytes:
    """The class of every code point for a tokenizer, uint8 (code points,)."""
    classes = {"zh": _chinese_classes, "intl": _international_classes}[tokenize]()
    classes[WHITE_SPACE] = _WHITE
    return classes


def _chinese_classes() -> Bytes:
    classes = np.zeros(CODE_POINTS, np.uint8)
    for what, ranges in _CHINESE.items():
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            classes[ord(first) : ord(last) + 1] = what
    return classes


def _international_classes() -> Bytes:
    # Imported here, so that other tokenizers start without it. sacreBLEU uses the classes of
    # this module. Python's own Unicode tables may be older.
    import regex

    classes = {r"\p{S}+": _ALONE, r"\p{P}+": _POINT, r"\p{N}+": _DIGIT}
    return code_point_classes(classes, regex.finditer)


@compiled
def _space_rows(starts, ends, strips_start, classes, texts, offsets):
    """Writes the texts with their spaces, one after the other, and the end of each."""
    first = target = address_of(texts)
    table = address_of(classes)
    for row in range(starts.size):
        start = starts[row]
        end = _stripped_end(start, ends[row], table)
        if strips_start:
            start = _stripped_start(start, end, table)
        target = _space(start, end, table, target)
        offsets[row + 1] = target - first


@inner
def _code_point(address):
    """(code point, its number of bytes) at an address."""
    first = load_byte(address)
    if first < 0x80:
        return first, 1
    size = letter_size(first)
    return code_point(address, size), size


@inner
def _class_at(address, table):
    return load_byte(table + _code_point(address)[0])


@inner
def _stripped_start(start, end, table):
    while start < end and _class_at(start, table) == _WHITE:
        start += _code_point(start)[1]
    return start


@inner
def _stripped_end(start, end, table):
    while start < end:
        last = end - 1
        while load_byte(last) & 0xC0 == 0x80:
            last -= 1
        if _class_at(last, table) != _WHITE:
            break
        end = last
    return end


@inner
def _space(start, end, table, target):
    """Writes the text at [start, end) with its spaces; returns the end of the written text.

    `table` is the address of the classes of all code points, `target` the one to write to. A block
    after the end of the written text may be overwritten.
    """
    copied = start  # up to here the text is written
    # About the last code point with a class:
    after = start  # its end
    leaves = True  # whether the first expression leaves a point at this place
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
            if at != after:
                leaves = was_digit = was_alone = False
            after = at + size
            alone = what == _ALONE
            if what == _POINT:
                joins = after >= end or _class_at(after, table) == _DIGIT
                alone = not (leaves and joins)
                leaves = not leaves
            else:
                if what == _HYPHEN:
                    alone = was_digit
                leaves = what == _DIGIT
            was_digit = what == _DIGIT
            if alone:
                if copied < at:
                    copy_block(target, copied)  # less than a block of it stays
                    target += at - copied
                store_byte(target, ord(" "))
                target += np.int64(not was_alone)
                store_word(target, load_word(at))
                target += size
                store_byte(target, ord(" "))
                target += 1
                copied = after
            was_alone = alone
        block += BLOCK
        stop = min(block, end)
        if copied < stop:
            copy_block(target, copied)
            target += stop - copied
            copied = stop
    return target
