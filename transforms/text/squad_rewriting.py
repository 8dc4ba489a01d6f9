r"""SQuAD's changes of a text: what `normalize_answer` of its evaluation gives for lower-cased text.

It removes the marks of `string.punctuation`, puts a space in the place of each match of
`\b(a|an|the)\b`, and then leaves one space between words, and none around them. A match is a
whole run of word characters (`\w`), so one pass over the text is enough. It stops only at
characters that are no ASCII letters or digits.
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
from beam_bleu.transforms.native.text_columns import padded_column, spans
from beam_bleu.transforms.native.utf8 import code_point, letter_size
from beam_bleu.transforms.text.byte_classes import not_ascii_word_mask

_OTHER, _WORD, _MARK, _WHITE = range(4)

_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_A, _AN, _THE = (np.uint64(int.from_bytes(word, "little")) for word in (b"a", b"an", b"the"))

_CODE_POINTS = 0x110000
_LAST_WHITE_SPACE = 0x3000
"""The last code point that `str.split` takes for white space."""


def squad_rewritten(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts of a padded column without punctuation marks, articles and needless spaces."""
    places = spans([column])
    starts, ends = places.starts[0], places.ends[0]
    texts = np.empty(int((ends - starts).sum()) + READ_AHEAD, np.uint8)
    offsets = np.zeros(len(column) + 1, np.int64)
    _rewrite_rows(starts, ends, _classes(), texts, offsets)
    texts[offsets[-1] : offsets[-1] + READ_AHEAD] = 0
    return padded_column(texts, offsets, column)


@cache
def _classes() -> Bytes:
    """The class of every code point, uint8 (code points,), from this Python's Unicode tables."""
    classes = np.full(_CODE_POINTS, _OTHER, np.uint8)
    code_points = np.arange(_CODE_POINTS, dtype="<u4").tobytes()
    for run in re.finditer(r"\w+", code_points.decode("utf-32-le", "surrogatepass")):
        classes[run.start() : run.end()] = _WORD
    classes[[code for code in range(_LAST_WHITE_SPACE + 1) if chr(code).isspace()]] = _WHITE
    classes[[ord(mark) for mark in string.punctuation]] = _MARK  # the underscore, too
    return classes


@compiled
def _rewrite_rows(starts, ends, classes, texts, offsets):
    """Writes the texts one after the other, and the end of each."""
    first = target = address_of(texts)
    table = address_of(classes)
    for row in range(starts.size):
        target = _rewrite(starts[row], ends[row], table, target)
        offsets[row + 1] = target - first


@inner
def _rewrite(start, end, table, target):
    """Writes the text at [start, end); returns the end of the written text.

    Args:
      start: address of the text.
      end: address of its end.
      table: address of the classes of all code points.
      target: address to write to; a block after the end of the written text may be overwritten.
    """
    first = run = target  # `run` is where the last run of word characters starts
    copied = block = start  # up to `copied` the text is written
    while block < end:
        look = not_ascii_word_mask(block)
        while look != _NOTHING:
            at = block + lowest_bit(look)
            look = clear_lowest_bit(look)
            if at >= end:
                break
            code, size = load_byte(at), 1
            if code >= 0x80:
                size = letter_size(code)
                code = code_point(at, size)
            what = load_byte(table + code)
            if what == _WORD:
                continue
            copy_block(target, copied)  # less than a block of it stays
            target += at - copied
            copied = at + size
            if what == _MARK:
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
def _with_space(first, target):
    """Writes a space at `target`, unless one is before it or the text begins there."""
    if target == first or load_byte(target - 1) == ord(" "):
        return target
    store_byte(target, ord(" "))
    return target + 1


@inner
def _without_article(first, run, end):
    """Writes a space in the place of a run of word characters if it is an article.

    Args:
      first: address of the written text.
      run: address of the run.
      end: address of its end.

    Returns:
      The new end.
    """
    # Up to 4 bytes of it are enough. One branch, because the lengths of words cannot be predicted.
    bits = np.uint64(8 * min(end - run, 4))
    letters = load_word(run) & ((_ONE << bits) - _ONE)
    is_article = (letters == _A) | (letters == _AN) | (letters == _THE)
    return _with_space(first, run) if is_article else end
