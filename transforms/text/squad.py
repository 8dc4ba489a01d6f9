r"""SQuAD's changes of a text: what `normalize_answer` of its evaluation gives for lower-cased text.

It removes the marks of `string.punctuation`, puts a space in the place of each match of
`\b(a|an|the)\b`, and then leaves one space between words, and none around them. A match is a whole
run of word characters (`\w`), so one pass is enough. Masks find the places where it stops: at
articles before a space, and at characters that are neither spaces nor common letters or digits. It
stops at a space only where the text begins, after another space, and at the first one after such a
character: without its marks, the word before the space can be an article.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import re
import string
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
from beam_bleu.transforms.text.byte_classes import WHITE_SPACE, code_point_classes, squad_masks
from beam_bleu.transforms.text.rewriting import written
from beam_bleu.transforms.text.text import Text

_OTHER, _WORD, _MARK, _WHITE = range(4)

_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_LAST = np.uint64(BLOCK - 1)  # the shift that brings a mask's last bit down to bit 0
_THE = np.uint64(int.from_bytes(b"the", "little"))
_3_BYTES = np.uint64(0xFFFFFF)


def squad_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts of a padded column without punctuation marks, articles and needless spaces."""
    return written(column, _rewrite_rows, _classes())


@cache
def _classes() -> Bytes:
    """The class of every code point, uint8 (code points,), from this Python's Unicode tables."""
    marks = f"[{re.escape(string.punctuation)}]"  # the underscore, too
    classes = code_point_classes({r"\w+": _WORD, marks: _MARK})
    classes[WHITE_SPACE] = _WHITE
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
    """Writes the text at [start, end); returns the end of the written text.

    `table` is the address of the classes of all code points, `target` the one to write to. A block
    after the end of the written text may be overwritten.
    """
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
            code, size = load_byte(at), 1
            if code >= 0x80:
                size = letter_size(code)
                code = code_point(at, size)
            what = load_byte(table + code)
            if what == _WORD and code >= 0x80:
                continue
            copy_block(target, copied)  # less than a block of it stays
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
    """Writes a space in the place of the last word if it is an article; returns the new end.

    `run` is the address after the last character that is neither a space nor a word character.
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
