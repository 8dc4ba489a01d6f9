"""Compiled code: numbers in place of the words of a segment.

The words are those of sacreBLEU's `CHRF._remove_punctuation`. The text is split at white space, as
by `str.split`. If the last character of a word is an ASCII punctuation mark, it becomes a word of
its own. If it is not, but the first one is, that one becomes a word of its own. A word of a single
character stays as it is. So "(hi)" is "(hi" and ")". A character of several bytes is no such mark,
so bytes are enough to decide.

64 bytes are classified at once, as in tokenization.py.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    clear_lowest_bit,
    load_byte,
    load_int,
    lowest_bit,
    store_int,
)
from beam_bleu.transforms.text.byte_classes import white_space_masks
from beam_bleu.transforms.text.numbering import (
    NUMBER,
    NUMBER_BYTES,
    begin_vocabulary,
    end_references,
    number_places,
)
from beam_bleu.transforms.text.tokenization import wide_white_space
from beam_bleu.transforms.text.tokens import FIRST, SECOND, TOKEN_BYTES

WORDS_AT_ONCE = 256
"""Words are numbered as soon as there are as many, while they are in the nearest cache. A block has
at most one more for each byte, and `NumberedTexts.tokens` has memory for them."""

_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_LOW_MARKS, _HIGH_MARKS = (
    np.uint64(sum(1 << (ord(mark) - first) for mark in _MARKS if 0 <= ord(mark) - first < BLOCK))
    for first in (0, BLOCK)
)

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _is_mark(byte):
    """Whether a byte is an ASCII punctuation mark."""
    marks = _LOW_MARKS if byte < BLOCK else _HIGH_MARKS
    return byte < 2 * BLOCK and (marks >> np.uint64(byte & (BLOCK - 1))) & _ONE != _NOTHING


@inlined
def _write_word(start, end, place):
    """Writes the places of the one or two words that a word becomes; returns the next place."""
    cut = start
    if end - start > 1:
        if _is_mark(load_byte(end - 1)):
            cut = end - 1
        elif _is_mark(load_byte(start)):
            cut = start + 1
    if cut != start:
        store_int(place + FIRST, 0, start)
        store_int(place + SECOND, 0, cut)
        place += TOKEN_BYTES
    store_int(place + FIRST, 0, cut)
    store_int(place + SECOND, 0, end)
    return place + TOKEN_BYTES


@inner
def number_words(row, texts):
    """Numbers the words of all texts of a segment, with `NumberedTexts` of the batch.

    Returns:
      The number of different words of the references.
    """
    size = known = 0
    vocabulary, rows = texts.vocabulary, texts.rows
    for text in range(texts.reference_count):
        at = text * rows + row
        size += load_int(texts.ends, at) - load_int(texts.starts, at)
    begin_vocabulary(vocabulary, texts.different, texts.token_index, size, texts.numbers, True)
    for text in range(texts.texts):
        if text == texts.reference_count:
            known = end_references(vocabulary)
        number = load_int(vocabulary, NUMBER)
        store_int(texts.bounds, text, (number - texts.numbers) // NUMBER_BYTES)
        at = text * rows + row
        start, end = load_int(texts.starts, at), load_int(texts.ends, at)
        _number_text(start, end, texts.tokens, vocabulary, texts.seed)
        # A gap after each text.
        store_int(vocabulary, NUMBER, load_int(vocabulary, NUMBER) + NUMBER_BYTES)
    number = load_int(vocabulary, NUMBER)
    store_int(texts.bounds, texts.texts, (number - texts.numbers) // NUMBER_BYTES)
    return known


@inner
def _number_text(start, end, words, vocabulary, seed):
    """Writes the numbers of the words of a text, where the vocabulary says.

    Args:
      start: address of the text.
      end: address of its end.
      words: address of memory for words.
      vocabulary: address of the vocabulary (see numbering.py).
      seed: the process's secret (see hashing.py).
    """
    place, word = words, start
    was_solid = blank = _NOTHING  # facts from the previous block about the first bytes of this one
    block = start
    while block < end:
        left = end - block
        inside = _EVERYTHING if left >= BLOCK else (_ONE << np.uint64(left)) - _ONE
        white, lead = white_space_masks(block)
        white |= blank
        blank = _NOTHING
        if lead & inside != _NOTHING:
            wide, blank = wide_white_space(block, inside)
            white |= wide
        solid = inside & ~white
        after_solid = (solid << _ONE) | was_solid
        starts, ends = solid & ~after_solid, after_solid & ~solid
        while ends != _NOTHING:
            if was_solid == _NOTHING:
                word = block + lowest_bit(starts)
                starts = clear_lowest_bit(starts)
            was_solid = _NOTHING
            place = _write_word(word, block + lowest_bit(ends), place)
            ends = clear_lowest_bit(ends)
        if starts != _NOTHING:
            word = block + lowest_bit(starts)
        was_solid = solid >> _LAST
        block += BLOCK
        if place >= words + WORDS_AT_ONCE * TOKEN_BYTES:
            number_places(words, place, start, vocabulary, seed)
            place = words
    if was_solid != _NOTHING:
        place = _write_word(word, end, place)
    # No text has entities here, so the end of theirs is its start.
    number_places(words, place, start, vocabulary, seed)
