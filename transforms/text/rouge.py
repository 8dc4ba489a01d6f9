"""The words of ROUGE: what rouge_score's `tokenize` makes of a text, separated by white space.

It lower-cases the text like `str.lower`, and replaces all but a-z and 0-9 by spaces. Two characters
beyond ASCII have a lower case with an ASCII letter: the Kelvin sign, which becomes k, and U+0130,
which becomes i and a combining dot.

The texts keep their sizes, and so their places. Newlines stay, because they separate the sentences
of ROUGE-Lsum. A tab takes the place of a character beyond ASCII, and a space that of all others.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    lowest_bit,
    store_byte,
)
from beam_bleu.transforms.native.text_columns import offsets_of, padded, padded_column
from beam_bleu.transforms.text.byte_classes import (
    ascii_white_space_mask,
    copy_lower_block,
    dotted_capital_mask,
    replace_block_by_spaces,
    replace_block_by_tabs,
)
from beam_bleu.transforms.text.porter import LONGEST_RULE, TABLES, stem
from beam_bleu.transforms.text.text import Text

LONGEST_WITHOUT_STEM = 3

_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def rouge_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts with nothing but their words, and white space between them."""
    column = padded(pc.replace_substring(column, "\N{KELVIN SIGN}", "k"))
    offsets = offsets_of(column)
    size = int(offsets[-1] - offsets[0])
    # The stemmer reads before the first word.
    memory = np.zeros(LONGEST_RULE + size + BLOCK + READ_AHEAD, np.uint8)
    words = memory[LONGEST_RULE:]
    _keep_words(column.buffers()[2].address + int(offsets[0]), size, words)
    words[size:] = 0
    starts = offsets - offsets[0]
    if text.tokenize == "rouge-stemmed":
        _stem_words(words, starts, _tables())
    return padded_column(words, starts, column)


@compiled
def _keep_words(source, size, words):
    """Writes the words of all texts of a column to their places, and white space between them.

    `source` is the address of the texts, `size` their bytes; `words` is uint8, with a block more.
    """
    target = address_of(words)
    for at in range(0, size, BLOCK):
        dotted = dotted_capital_mask(source + at)[0]
        copy_lower_block(target + at, source + at)
        replace_block_by_spaces(target + at, target + at)
        replace_block_by_tabs(target + at, target + at)
        while dotted != _NOTHING:
            store_byte(target + at + lowest_bit(dotted), ord("i"))
            dotted = clear_lowest_bit(dotted)


@cache
def _tables() -> tuple[int, ...]:
    """The addresses of the stemmer's rules, which live as long as their module."""
    return tuple(table.ctypes.data for table in TABLES)


@compiled
def _stem_words(words, starts, tables):
    """Writes the stem of each long word in place of it, and spaces after it.

    `starts` is int64 (rows + 1,), where each text begins, and the end of the last one.
    """
    first = address_of(words)
    for row in range(starts.size - 1):
        _stem_text(first + starts[row], first + starts[row + 1], tables)


@inner
def _stem_text(start, end, tables):
    word = start
    was_word = _NOTHING
    for block in range(start, end, BLOCK):
        left = end - block
        inside = _ALL if left >= BLOCK else (_ONE << np.uint64(left)) - _ONE
        of_words = ~ascii_white_space_mask(block) & inside
        # Where a word begins, and where it ends, in turn.
        edges = of_words ^ ((of_words << _ONE) | was_word)
        is_word = was_word != _NOTHING
        was_word = of_words >> _LAST
        while edges != _NOTHING:
            at = block + lowest_bit(edges)
            edges = clear_lowest_bit(edges)
            if is_word:
                _stem_word(word, at, tables)
            word = at
            is_word = not is_word
    if was_word != _NOTHING:
        _stem_word(word, end, tables)


@inner
def _stem_word(start, end, tables):
    if end - start > LONGEST_WITHOUT_STEM:
        for at in range(stem(start, end, tables), end):
            store_byte(at, ord(" "))
