r"""Rewrites texts for the tokenizers `zh` and `intl`, and for SQuAD, by classes of code points.

sacreBLEU inserts the spaces of `zh` and `intl` with regular expressions. The same rules serve both:

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

SQuAD's `normalize_answer` of lower-cased text removes the marks of `string.punctuation`, puts a
space in the place of each match of `\b(a|an|the)\b`, and then leaves one space between words. A
match is a whole run of word characters (`\w`), so one pass is enough. Masks find the places where
it stops: at articles before a space, and at characters that are neither spaces nor common letters
or digits. It stops at a space only at the start of the text, after another space, or if it is the
first one after such a character: without its marks, the word before the space can be an article.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import re
import string
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.text.byte_classes import (
    WHITE_CODES,
    code_point_classes,
    code_point_masks,
    squad_masks,
)
from beam_bleu.transforms.text.rewriting import written
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import AnyTokenizerName

_OTHER, _WHITE, _ALONE, _POINT, _DIGIT, _HYPHEN, _WORD, _MARK = range(8)

# sacreBLEU writes Extension B as '\u20000'..'\u2a6d6'. Python reads this as U+2000 and "0" to
# U+2A6D and "6", and compares single code points with these. So the first range is U+2001 to
# U+2A6D, and no character above U+FFFF is Chinese.
_CHINESE = {
    "[\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
    "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef"
    r"!-&(-+/:-@\[-`{-~]+": _ALONE,
    "[.,]+": _POINT,
    "[0-9]+": _DIGIT,
    "-+": _HYPHEN,
}

_NOTHING = np.uint64(0)


def spaced(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    # sacreBLEU strips the end of a text for every tokenizer, but the start only for zh.
    trim = pc.utf8_trim if text.tokenize == "zh" else pc.utf8_rtrim
    column = padded(trim(column, "".join(map(chr, WHITE_CODES))))
    # There is at most one space between two code points, and at both ends of a text.
    return written(column, _space_rows, _classes(text.tokenize))


@cache
def _classes(tokenize: AnyTokenizerName) -> Bytes:
    if tokenize == "zh":
        classes = code_point_classes(_CHINESE)
    else:
        # Imported here, so that other tokenizers start without it. sacreBLEU uses the classes of
        # this module. Python's own Unicode tables may be older.
        import regex

        international = {r"\p{S}+": _ALONE, r"\p{P}+": _POINT, r"\p{N}+": _DIGIT}
        classes = code_point_classes(international, regex.finditer)
    classes[WHITE_CODES] = _WHITE
    return classes


@compiled
def _space_rows(starts, ends, classes, texts, offsets):
    first = target = address_of(texts)
    table = address_of(classes)
    for row in range(starts.size):
        target = _space(starts[row], ends[row], table, target)
        offsets[row + 1] = target - first


@inner
def _code_point(address):
    first = load_byte(address)
    if first < 0x80:
        return first, 1
    size = letter_size(first)
    return code_point(address, size), size


@inner
def _space(start, end, table, target):
    """Writes the text at [start, end) with its spaces, and perhaps a block after it; returns its
    end. `table` is the address of the classes of all code points.
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
                joins = after >= end or load_byte(table + _code_point(after)[0]) == _DIGIT
                alone = not (leaves and joins)
                leaves = not leaves
            else:
                if what == _HYPHEN:
                    alone = was_digit
                leaves = what == _DIGIT
            was_digit = what == _DIGIT
            if alone:
                if copied < at:
                    copy_block(target, copied)  # what it copies after `at` is overwritten
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


_ONE = np.uint64(1)
_LAST = np.uint64(BLOCK - 1)  # the shift that brings a mask's last bit down to bit 0
_THE = np.uint64(int.from_bytes(b"the", "little"))
_3_BYTES = np.uint64(0xFFFFFF)


def squad_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    return written(column, _rewrite_rows, _squad_classes())


@cache
def _squad_classes() -> Bytes:
    marks = f"[{re.escape(string.punctuation)}]"  # the underscore, too
    classes = code_point_classes({r"\w+": _WORD, marks: _MARK})
    classes[WHITE_CODES] = _WHITE
    return classes


@compiled
def _rewrite_rows(starts, ends, classes, texts, offsets):
    first = target = address_of(texts)
    table = address_of(classes)
    for row in range(starts.size):
        target = _rewrite(starts[row], ends[row], table, target)
        offsets[row + 1] = target - first


@inner
def _rewrite(start, end, table, target):
    """Writes the text at [start, end), and perhaps a block after it; returns its end."""
    first = target
    run = target  # after the last written character that is neither a space nor a word character
    copied = block = start  # up to `copied` the text is written
    was_space, was_letter, unspaced = _ONE, _NOTHING, _NOTHING  # of the block before, as low bits
    while block < end:
        other, space, letter, article = squad_masks(block)
        look = other | (space & ((space << _ONE) | was_space))
        look |= article & ~((letter << _ONE) | was_letter)
        # Each other character carries a bit through the word to the first space after it.
        look |= (~space + other + unspaced) & space
        if space == _NOTHING:
            unspaced = _ONE if other != _NOTHING else unspaced
        else:
            unspaced = _ONE if other > space else _NOTHING
        was_space, was_letter = space >> _LAST, letter >> _LAST
        while look != _NOTHING:
            at = block + lowest_bit(look)
            look = clear_lowest_bit(look)
            if at >= end:
                break
            if at < copied:  # the space after an article
                continue
            code, size = _code_point(at)
            what = load_byte(table + code)
            if what == _WORD and code >= 0x80:
                continue
            copy_block(target, copied)  # what it copies after `at` is overwritten
            target += at - copied
            copied = at + size
            if what == _MARK:
                continue
            if what == _WORD:  # an article, if it is one in the written text, too
                copied = at
                is_first = target == run or load_byte(target - 1) == ord(" ")
                size = _article_size(at)
                if is_first and at + size <= end:
                    target = _with_space(first, target)
                    copied = at + size + 1
                continue
            target = _without_article(first, run, target)
            if what == _WHITE:
                target = _with_space(first, target)
            else:
                store_word(target, load_word(at))
                target += size
                run = target
        block += BLOCK
        stop = min(block, end)
        if copied < stop:
            copy_block(target, copied)
            target += stop - copied
            copied = stop
    target = _without_article(first, run, target)
    if target > first and load_byte(target - 1) == ord(" "):
        target -= 1
    return target


@inner
def _article_size(at):
    if load_byte(at) == ord("t"):
        return 3
    return 1 if load_byte(at + 1) == ord(" ") else 2


@inner
def _with_space(first, target):
    """Writes a space at `target`, unless one is before it or the text begins there."""
    if target == first or load_byte(target - 1) == ord(" "):
        return target
    store_byte(target, ord(" "))
    return target + 1


@inner
def _without_article(first, run, end):
    """Writes a space for a last word that is an article; returns the end. `run` is after the last
    character that is neither a space nor a word character.
    """
    size = min(end - run, 3)
    if size > 0 and load_byte(end - 1) == ord("a"):
        size = 1
    elif size > 1 and load_byte(end - 1) == ord("n") and load_byte(end - 2) == ord("a"):
        size = 2
    elif size < 3 or load_word(end - 3) & _3_BYTES != _THE:
        return end
    start = end - size
    if start > run and load_byte(start - 1) != ord(" "):
        return end
    return _with_space(first, start)
