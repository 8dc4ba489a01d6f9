r"""The number of words of texts, as `len(re.split(r"\s+", text))` of Python counts them.

That is one more than the runs of white space. So white space at the beginning or the end of a text
makes an empty word, and an empty text has one, too. White space is that of Python's `str.isspace`.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import BLOCK, address_of, count_bits, load_int, store_int
from beam_bleu.transforms.native.text_columns import spans
from beam_bleu.transforms.text.byte_classes import white_space_masks
from beam_bleu.transforms.text.tokenization import wide_white_space

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


def split_words(column: pa.LargeStringArray) -> Integers:
    """The number of words of each text, int64 (rows,); 0 for a null.

    Args:
      column: texts, padded.
    """
    words = np.empty(len(column), np.int64)
    if len(column):
        _count(spans([column]).both, words)
    return words


@compiled
def _count(spans, words):
    starts, ends = spans
    start_space, end_space, word_space = address_of(starts), address_of(ends), address_of(words)
    for row in range(starts.shape[1]):
        start = load_int(start_space, row)
        runs = _white_space_runs(start, load_int(end_space, row))
        store_int(word_space, row, 0 if start == 0 else runs + 1)


@inner
def _white_space_runs(start, end):
    """The number of runs of white space in the text at [start, end)."""
    runs = 0
    was_white = blank = _NOTHING
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
        white &= inside
        runs += count_bits(white & ~((white << _ONE) | was_white))
        was_white = white >> _LAST
        block += BLOCK
    return runs
