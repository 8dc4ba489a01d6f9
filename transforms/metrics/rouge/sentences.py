"""Compiled code: the sentences of a text, and whether ROUGE reads it."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    clear_lowest_bit,
    count_bits,
    load_int,
    lowest_bit,
    store_int,
)
from beam_bleu.transforms.text.byte_classes import (
    ascii_white_space_mask,
    newline_mask,
    read_by_rouge_masks,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of

_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _inside(block, end):
    """The mask of the bytes of a block that are before the end of a text."""
    return _ALL if end - block >= BLOCK else (_ONE << np.uint64(end - block)) - _ONE


@inner
def is_unread(row, texts):
    """Whether each reference has more characters beyond ASCII than letters and digits."""
    for reference in range(texts.reference_count):
        at = reference * texts.rows + row
        start, end = load_int(texts.starts, at), load_int(texts.ends, at)
        read = others = 0
        for block in range(start, end, BLOCK):
            letters, beyond = read_by_rouge_masks(block)
            inside = _inside(block, end)
            read += count_bits(letters & inside)
            others += count_bits(beyond & inside)
        if start != 0 and others <= read:
            return False
    return True


@inner
def write_sentences(row, texts, bounds, text, sentences):
    """Finds the sentences of a text, which newlines separate.

    Args:
      row: its segment.
      texts: the `NumberedTexts` of the batch.
      bounds: address of the bounds of the texts of its segment.
      text: the number of the text.
      sentences: address of an int64 for each sentence, and one more, which it writes: where its
        numbers begin; the last one is where those of the text end.

    Returns:
      (the number of sentences, how many of them have words)
    """
    at = text * texts.rows + row
    start, end = load_int(texts.starts, at), load_int(texts.ends, at)
    first = place = load_int(bounds, text)
    count = with_words = 0
    store_int(sentences, 0, first)
    was_word = _NOTHING
    for block in range(start, end, BLOCK):
        inside = _inside(block, end)
        of_words = ~ascii_white_space_mask(block) & inside
        words = of_words & ~((of_words << _ONE) | was_word)  # their first bytes
        was_word = of_words >> _LAST
        newlines = newline_mask(block) & inside
        while newlines != _NOTHING:
            before = (_ONE << np.uint64(lowest_bit(newlines))) - _ONE
            newlines = clear_lowest_bit(newlines)
            place += count_bits(words & before)
            words &= ~before
            with_words += place > load_int(sentences, count)
            count += 1
            store_int(sentences, count, place)
        place += count_bits(words)
    with_words += place > load_int(sentences, count)
    store_int(sentences, count + 1, first + length_of(bounds, text))
    return count + 1, with_words


@inlined
def sentence_words(sentences, sentence, numbers):
    """(address of the numbers of the words of a sentence, how many there are).

    Args:
      sentences: address of what `write_sentences` has written.
      sentence: the number of the sentence.
      numbers: address of the numbers of the segment.
    """
    place = load_int(sentences, sentence)
    return numbers + place * NUMBER_BYTES, load_int(sentences, sentence + 1) - place
