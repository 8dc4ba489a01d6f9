"""The kernel: from columns of text to the columns of BLEU of every segment.

The tokens of a segment are written side by side, and matching.py counts them. If a reference has
too many tokens for that, they become numbers, and statistics/ngrams.py counts these. The tokens of
very long texts are not written at all: they are numbered while they are in the cache.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    CANDIDATE_LENGTH,
    CLOSEST,
    CLOSEST_FIRST,
    FIRST_MATCHES,
    LONGEST,
    SHORTEST,
)
from beam_bleu.transforms.metrics.bleu.matching import LONGEST_REFERENCE, match_segment
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import PARTS_OF_A_TOKEN, SEGMENTS, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import call, compiled, inlined, inner
from beam_bleu.transforms.native.memory import KeptMemory, address_of, load_int, store_int
from beam_bleu.transforms.statistics.ngrams import NUMBERS_BYTES, SPARE_NUMBERS, match_long_segment
from beam_bleu.transforms.text.hashing import SLOT_BYTES, table_bits
from beam_bleu.transforms.text.numbered_texts import is_missing, number_texts
from beam_bleu.transforms.text.numbering import length_of
from beam_bleu.transforms.text.tokenization import (
    ANY,
    SPARE_TOKENS,
    TOKENS_AT_ONCE,
    TOKENS_IN_CACHE,
    tokenize,
)
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_MEMORY = KeptMemory()

_FIRST_TABLE_BITS = 10

_NOTHING = np.uint64(0)

MOST_WRITTEN = 2**16

_LONGEST_WRITTEN = 2**10
"""The most bytes of a reference whose tokens are written. Longer ones rarely have few tokens."""

_MOST_TOKENS_WRITTEN = TOKENS_AT_ONCE
"""A reference with as many tokens is long, and its tokens are short."""

# What became of the tokens of a segment.
_SHORT, _LONG, _NOT_WRITTEN = range(3)


def write_counts(metric: BleuConfig, texts: ReadyTexts, counts: Integers) -> None:
    longest = texts.sizes.longest
    numbered, _memory = texts.numbered(_MEMORY)
    # At most one token per byte, and a gap after each text. Unused pages cost nothing.
    most_tokens = max(min(longest, MOST_WRITTEN) + numbered.texts + SPARE_TOKENS, TOKENS_IN_CACHE)
    tokens = _MEMORY.memory_for("tokens of a segment", most_tokens * TOKEN_BYTES)
    numbers = _MEMORY.memory_for(
        "numbers of n-grams", (longest + numbered.texts + SPARE_NUMBERS) * NUMBERS_BYTES
    )
    numbered = numbered._replace(tokens=tokens.address, numbers=numbers.address)
    bits, long_row, row = _FIRST_TABLE_BITS, 0, 0
    while True:
        table = _MEMORY.memory_for("table", (2**bits + 1) * SLOT_BYTES)
        row, needed_bits = count_rows(row, numbered, table.address, table.size, counts, long_row)
        if row == numbered.rows:
            return
        if needed_bits:
            bits = needed_bits
        else:
            long_row = count_long_row.entry(0, numbered, 0, 0, 0, 0, 0, 0)


@inlined
def _write_tokens(row, texts):
    """Writes the tokens of a segment and their bounds.

    Returns:
      _SHORT if matching.py can count the segment; otherwise _LONG, or _NOT_WRITTEN if not all
      tokens are written.
    """
    size = longest = 0  # the bytes of all texts, and of the longest reference
    for text in range(texts.texts):
        at = text * texts.rows + row
        of_text = load_int(texts.ends, at) - load_int(texts.starts, at)
        size += of_text
        if text < texts.reference_count:
            longest = max(longest, of_text)
    if longest > _LONGEST_WRITTEN or size > MOST_WRITTEN:
        return _NOT_WRITTEN
    longest = 0  # the bytes of the tokens of the longest reference
    tokens, token = texts.tokens, texts.tokens
    for text in range(texts.texts):
        store_int(texts.bounds, text, (token - tokens) // TOKEN_BYTES)
        at = text * texts.rows + row
        start = load_int(texts.starts, at)
        if start != 0:
            most = _MOST_TOKENS_WRITTEN * TOKEN_BYTES if text < texts.reference_count else ANY
            begin = token
            token = tokenize(
                start, load_int(texts.ends, at), texts.rule, token, most, 0, texts.seed
            )
            if token - begin >= most:
                return _NOT_WRITTEN
            if text < texts.reference_count:
                longest = max(longest, token - begin)
        token += TOKEN_BYTES
    store_int(texts.bounds, texts.texts, (token - tokens) // TOKEN_BYTES)
    return _LONG if longest > LONGEST_REFERENCE * TOKEN_BYTES else _SHORT


@inner
def _store_reference_lengths(columns, length, row, texts):
    """Writes the columns of the lengths of the references, for a candidate of `length` tokens."""
    closest = first = shortest = longest = -1
    total = present = 0
    for reference in range(texts.reference_count):
        if not is_missing(texts, row, reference):
            other = length_of(texts.bounds, reference)
            if closest < 0:
                closest = first = shortest = longest = other
            distance = abs(other - length)
            if distance < abs(first - length):
                first = other
            further = distance - abs(closest - length)
            if further < 0 or (further == 0 and other < closest):
                closest = other
            shortest = min(shortest, other)
            longest = max(longest, other)
            total += other
            present += 1
    store_int(columns, SHORTEST, shortest)
    store_int(columns, CLOSEST, closest - shortest)
    store_int(columns, CLOSEST_FIRST, first - closest)
    store_int(columns, LONGEST, longest - shortest)
    above = total - present * shortest
    parts = _NOTHING
    if above:  # a division takes long, and one of signed integers longer
        parts = np.uint64(above * PARTS_OF_A_TOKEN) // np.uint64(present)
    store_int(columns, AVERAGE, np.int64(parts))


@compiled
def count_long_row(row, texts, are_written, max_order, matches, stride, table, table_bytes):
    """Writes the matches of a segment whose references are too long for matching.py.

    `count_rows` calls it by its address (`call` of native/compiling.py). So a run without such rows
    does not compile it. `are_written` is 1 if all tokens and their bounds are written, `table` the
    address of memory for a hash table; see `match_segment` for the others.

    Returns:
      0, or log2 of the number of slots of the table that it needs to write the matches.
    """
    known = number_texts(row, texts, are_written)
    bits = table_bits(load_int(texts.bounds, texts.reference_count))
    if ((1 << bits) + 1) * SLOT_BYTES > table_bytes:
        return bits
    match_long_segment(texts, max_order, known, table, matches, stride)
    return 0


@compiled
def count_rows(first_row, texts, table, table_bytes, counts, long_row):
    """Counts rows from `first_row` on, until one needs what the caller must provide.

    `texts` has memory for all tokens of a segment of MOST_WRITTEN bytes, and for its numbers as for
    `match_long_segment`. `table` is the address of memory for a hash table, `counts` int64
    (systems, rows, W). `long_row` is the address of the entry of `count_long_row`, or 0 if it was
    not needed yet.

    Returns:
      (rows done, log2 of the number of slots of the table that the next row needs; 0 if it
      needs `long_row`)
    """
    row_bytes = counts.shape[2] * 8
    max_order = (counts.shape[2] - FIRST_MATCHES) // 2
    stride = texts.rows * row_bytes
    for row in range(first_row, texts.rows):
        tokens_are = _write_tokens(row, texts)
        columns = address_of(counts) + row * row_bytes
        matches = columns + FIRST_MATCHES * 8
        if tokens_are != _SHORT or not match_segment(texts, max_order, matches, stride):
            if long_row == 0:
                return row, 0
            written = 0 if tokens_are == _NOT_WRITTEN else 1
            bits = call(
                long_row, (row, texts, written, max_order, matches, stride, table, table_bytes)
            )
            if bits != 0:
                return row, bits
        for text in range(texts.reference_count, texts.texts):
            length = length_of(texts.bounds, text)
            store_int(columns, SEGMENTS, 1)
            store_int(columns, CANDIDATE_LENGTH, length)
            _store_reference_lengths(columns, length, row, texts)
            for n in range(max_order):
                store_int(columns, FIRST_MATCHES + max_order + n, length <= n)
            columns += stride
    return texts.rows, 0
