"""Compiled code: the columns of the rows of a batch.

The tokens of a segment are written side by side, and matching.py counts them. If a reference has
too many tokens for that, count_long_row.py counts the segment, with numbers in place of tokens. The
tokens of very long texts are not written at all: they are numbered while they are in the cache.
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
    PARTS_OF_A_TOKEN,
    SHORTEST,
)
from beam_bleu.transforms.metrics.bleu.matching import (
    LONGEST_REFERENCE,
    match_segment,
)
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.compiling import call, compiled, inlined, inner
from beam_bleu.transforms.native.memory import address_of, load_int, store_int
from beam_bleu.transforms.text.tokenization import ANY, TOKENS_AT_ONCE, tokenize
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_NOTHING = np.uint64(0)

MOST_WRITTEN = 2**16
"""The most bytes of a segment whose tokens are written."""

_LONGEST_WRITTEN = 2**10
"""The most bytes of a reference whose tokens are written. Longer ones rarely have few tokens."""

_MOST_TOKENS_WRITTEN = TOKENS_AT_ONCE
"""A reference with as many tokens is long, and its tokens are short."""

# What became of the tokens of a segment.
_SHORT, _LONG, _NOT_WRITTEN = range(3)


@inlined
def _write_tokens(starts, ends, row, rows, texts, reference_count, rule, tokens, bounds, seed):
    """Writes the tokens of a segment and their bounds; the arguments are those of `number_texts`.

    Returns:
      _SHORT if matching.py can count the segment; otherwise _LONG, or _NOT_WRITTEN if not all
      tokens are written.
    """
    size = longest = 0  # the bytes of all texts, and of the longest reference
    for text in range(texts):
        of_text = load_int(ends, text * rows + row) - load_int(starts, text * rows + row)
        size += of_text
        if text < reference_count:
            longest = max(longest, of_text)
    if longest > _LONGEST_WRITTEN or size > MOST_WRITTEN:
        return _NOT_WRITTEN
    longest = 0  # the bytes of the tokens of the longest reference
    token = tokens
    for text in range(texts):
        store_int(bounds, text, (token - tokens) // TOKEN_BYTES)
        start = load_int(starts, text * rows + row)
        if start != 0:
            most = _MOST_TOKENS_WRITTEN * TOKEN_BYTES if text < reference_count else ANY
            begin = token
            token = tokenize(start, load_int(ends, text * rows + row), rule, token, most, 0, seed)
            if token - begin >= most:
                return _NOT_WRITTEN
            if text < reference_count:
                longest = max(longest, token - begin)
        token += TOKEN_BYTES
    store_int(bounds, texts, (token - tokens) // TOKEN_BYTES)
    return _LONG if longest > LONGEST_REFERENCE * TOKEN_BYTES else _SHORT


@inner
def _store_reference_lengths(counts, length, row, rows, reference_count, starts, bounds):
    """Writes the columns of the lengths of the references.

    Args:
      counts: address of the segment's columns.
      length: the candidate's tokens.
      row: the segment's row.
      rows: the number of rows.
      reference_count: the number of references; they are the first texts.
      starts: address of the addresses of the texts, int64 (texts, rows); 0 if one is missing.
      bounds: address of the numbers of each text's first token.
    """
    closest = first = shortest = longest = -1
    total = present = 0
    for text in range(reference_count):
        if load_int(starts, text * rows + row) != 0:
            other = load_int(bounds, text + 1) - 1 - load_int(bounds, text)
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
    store_int(counts, SHORTEST, shortest)
    store_int(counts, CLOSEST, closest - shortest)
    store_int(counts, CLOSEST_FIRST, first - closest)
    store_int(counts, LONGEST, longest - shortest)
    above = total - present * shortest
    parts = _NOTHING
    if above:  # a division takes long, and one of signed integers longer
        parts = np.uint64(above * PARTS_OF_A_TOKEN) // np.uint64(present)
    store_int(counts, AVERAGE, np.int64(parts))


@compiled
def count_rows(
    first_row,
    spans,
    reference_count,
    rule,
    spaces,
    table_bytes,
    counts,
    long_row,
    seed,
):
    """Counts rows from `first_row` on, until one needs what the caller must provide.

    Args:
      first_row: the first row.
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      rule: how texts are split (see tokenization.py).
      spaces: the addresses of memory: for tokens, numbers, different tokens, their index, the
        vocabulary and bounds (see `number_texts`), for keys (see `match_segment`), and for a
        hash table (see `match_long_segment`).
      table_bytes: the size of the last one.
      counts: int64 (systems, rows, W), for the columns (columns.py).
      long_row: the address of `entry_for_long_rows`, or 0 if it was not needed yet.
      seed: the process's secret (see hashing.py).

    Returns:
      (rows done, log2 of the number of slots of the table that the next row needs; 0 if it
      needs `long_row`)
    """
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    max_order = (counts.shape[2] - FIRST_MATCHES) // 2
    token_space, number_space, _, _, _, bound_space, key_space, _ = spaces
    count_space = address_of(counts)
    start_space, stop_space = address_of(starts), address_of(ends)
    for row in range(first_row, rows):
        tokens_are = _write_tokens(
            start_space,
            stop_space,
            row,
            rows,
            texts,
            reference_count,
            rule,
            token_space,
            bound_space,
            seed,
        )
        matches = count_space + row * row_bytes + FIRST_MATCHES * 8
        if tokens_are != _SHORT or not match_segment(
            reference_count,
            texts,
            bound_space,
            max_order,
            token_space,
            number_space,
            key_space,
            matches,
            rows * row_bytes,
        ):
            if long_row == 0:
                return row, 0
            bits = call(
                long_row,
                (
                    row,
                    rows,
                    start_space,
                    stop_space,
                    texts,
                    reference_count,
                    rule,
                    0 if tokens_are == _NOT_WRITTEN else 1,
                    max_order,
                    matches,
                    rows * row_bytes,
                    spaces,
                    table_bytes,
                    seed,
                ),
            )
            if bits != 0:
                return row, bits
        for text in range(reference_count, texts):
            of_segment = count_space + ((text - reference_count) * rows + row) * row_bytes
            length = load_int(bound_space, text + 1) - 1 - load_int(bound_space, text)
            store_int(of_segment, SEGMENTS, 1)
            store_int(of_segment, CANDIDATE_LENGTH, length)
            _store_reference_lengths(
                of_segment,
                length,
                row,
                rows,
                reference_count,
                start_space,
                bound_space,
            )
            for n in range(max_order):
                store_int(of_segment, FIRST_MATCHES + max_order + n, length <= n)
    return rows, 0
