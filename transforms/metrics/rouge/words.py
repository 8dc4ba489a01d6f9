"""Compiled code: the words of all texts of a batch as numbers, and the sentences of a text."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import compiled, inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    address_of,
    clear_lowest_bit,
    count_bits,
    load_int,
    lowest_bit,
    store_byte,
    store_int,
)
from beam_bleu.transforms.text.byte_classes import (
    ascii_white_space_mask,
    newline_mask,
    read_by_rouge_masks,
)
from beam_bleu.transforms.text.numbered_texts import number_segment
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of

_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _inside(block, end):
    """The mask of the bytes of a block that are before the end of a text."""
    return _ALL if end - block >= BLOCK else (_ONE << np.uint64(end - block)) - _ONE


@compiled
def number_words(spans, reference_count, rule, spaces, seed):
    """Numbers the words of all texts. Equal words of a segment have equal numbers, from 1 on.

    Args:
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      rule: how texts are split (see tokenization.py).
      spaces: the addresses of memory: for tokens, the vocabulary, different tokens and their index
        (see `number_segment`); for the bounds of each row; for the place of each row's numbers,
        int64; for the numbers; and for a byte of each row: whether ROUGE does not read it (see
        columns.py).
      seed: the process's secret (see hashing.py).
    """
    starts, ends = spans
    texts, rows = starts.shape
    tokens, vocabulary, kept, index, bounds, places, numbers, unread = spaces
    start_space, end_space = address_of(starts), address_of(ends)
    place = 0
    for row in range(rows):
        store_int(places, row, place)
        number_segment(
            start_space,
            end_space,
            row,
            rows,
            texts,
            reference_count,
            rule,
            tokens,
            bounds,
            numbers + place * NUMBER_BYTES,
            vocabulary,
            kept,
            index,
            seed,
        )
        place += load_int(bounds, texts)
        bounds += (texts + 1) * 8
        is_unread = _is_unread(start_space, end_space, row, rows, reference_count)
        store_byte(unread + row, is_unread)


@inner
def _is_unread(starts, ends, row, rows, reference_count):
    """Whether each reference has more characters beyond ASCII than letters and digits."""
    for reference in range(reference_count):
        start = load_int(starts, reference * rows + row)
        end = load_int(ends, reference * rows + row)
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
def write_sentences(start, end, bounds, text, sentences):
    """Finds the sentences of a text, which newlines separate.

    Args:
      start: address of the text.
      end: address of its end.
      bounds: address of the bounds of the texts of its segment.
      text: the number of the text.
      sentences: address of an int64 for each sentence, and one more, which it writes: where its
        numbers begin; the last one is where those of the text end.

    Returns:
      (the number of sentences, how many of them have words)
    """
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
