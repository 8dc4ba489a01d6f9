"""The kernel of BLEU: makes the columns of BLEU of every segment from columns of text.

Each token of a candidate gets a mask: bit p is set if the reference has the token at position p.
Let M[1] be the mask of token i. Then M[n] = (M[n - 1] of token i - 1, shifted by one) & M[1] has
the positions where the reference has the n-gram that ends at token i. Equal n-grams have equal
masks, and different n-grams have masks without a common bit. So a match is counted by claiming a
position that no earlier n-gram has claimed. With several references, an occurrence matches if it
can be claimed in any of them, and is claimed in each where it can be. A vector has a lane for each
order. If a reference has more than 64 tokens, or two different tokens have the same key, tokens
become numbers, and statistics/ngrams.py counts these.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

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
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import PARTS_OF_A_TOKEN, SEGMENTS, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import call, compiled, inlined, inner
from beam_bleu.transforms.native.lanes import (
    add_bits,
    claim,
    following,
    lane_sizes,
    no_lanes,
    not_zero,
    store_lanes,
    without,
)
from beam_bleu.transforms.native.memory import (
    KeptMemory,
    address_of,
    load_half,
    load_int,
    store_half,
    store_int,
)
from beam_bleu.transforms.statistics.ngrams import NUMBERS_BYTES, SPARE_NUMBERS, match_long_segment
from beam_bleu.transforms.text.numbered_texts import is_missing, number_texts
from beam_bleu.transforms.text.numbering import length_of
from beam_bleu.transforms.text.tokenization import (
    ANY,
    SPARE_TOKENS,
    TOKENS_AT_ONCE,
    TOKENS_IN_CACHE,
    tokenize,
)
from beam_bleu.transforms.text.tokens import (
    FEW_MASKED,
    MOST_MASKED,
    SLOT_BYTES,
    TOKEN_BYTES,
    difference,
    mask_of,
    mask_of_all,
    table_bits,
    write_keys,
)

LONGEST_REFERENCE = MOST_MASKED
CLAIM_BYTES = 2
"""The memory for the orders that a token of a candidate has claimed, a bit for each."""

MOST_WRITTEN = 2**16
_LONGEST_WRITTEN = 2**10
"""The most bytes of a reference whose tokens are written: longer ones rarely have few tokens."""

# What `_write_tokens` made of the tokens of a segment: `match_segment` can count the short ones.
_SHORT, _LONG, _NOT_WRITTEN = range(3)
_MEMORY = KeptMemory()
_NOTHING = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _enter_keys(first, last, keys, inside, short):
    """Writes the keys of a reference; returns 0 if different tokens have different keys."""
    write_keys(first, last, keys)
    token, different = first, _NOTHING
    while token < last:
        different |= difference(token, mask_of(token, keys, inside, short), first)
        token += TOKEN_BYTES
    return different


def _matching(lanes: int, short: bool, several: bool) -> Any:
    zeros = no_lanes(lanes)

    @inner
    def match(token, end, reference, keys, inside, claimed_orders, kept, counts, orders):
        """Writes the matches of each order in the references up to this one; returns 0 if exact.

        `inside` is the mask of the positions of the reference, `claimed_orders` the address of the
        orders of each token that are claimed in other references; `kept` is 0 for the first one,
        and otherwise all bits.
        """
        grams = claimed = matches = zeros()
        different = _NOTHING
        while token < end:
            mask = mask_of(token, keys, inside, short)
            different |= difference(token, mask, reference)
            grams = following(grams, mask)
            free = without(grams, claimed)
            claimed = claim(claimed, free)
            if several:
                matched = not_zero(free) | (load_half(claimed_orders) & kept)
                store_half(claimed_orders, matched)
                claimed_orders += CLAIM_BYTES
                matches = add_bits(matches, matched)
            token += TOKEN_BYTES
        store_lanes(counts, matches if several else lane_sizes(claimed), orders)
        return different

    return match


_match_one_short = _matching(4, short=True, several=False)
_match_one = _matching(4, short=False, several=False)
_match = _matching(4, short=False, several=True)
_match_high_orders = _matching(16, short=False, several=True)


@inner
def match_segment(texts, max_order, matches, stride):
    """Writes the clipped matches of every candidate of one segment, for each order, to N int64 at
    `matches`, and `stride` bytes later for the next candidate. The memory of the vocabulary and of
    the numbers is overwritten. Returns whether the counts are exact; if not, they are wrong.
    """
    kept = different = _NOTHING
    keys, several = texts.vocabulary, texts.reference_count > 1
    for reference in range(texts.reference_count):
        length = length_of(texts.bounds, reference)
        if length == 0:
            continue
        begin = texts.tokens + load_int(texts.bounds, reference) * TOKEN_BYTES
        inside = mask_of_all(length)
        short = length <= FEW_MASKED
        if short:
            different |= _enter_keys(begin, begin + length * TOKEN_BYTES, keys, inside, True)
        else:
            different |= _enter_keys(begin, begin + length * TOKEN_BYTES, keys, inside, False)
        for text in range(texts.reference_count, texts.texts):
            first = load_int(texts.bounds, text)
            token = texts.tokens + first * TOKEN_BYTES
            end = token + length_of(texts.bounds, text) * TOKEN_BYTES
            claimed = texts.numbers + first * CLAIM_BYTES
            counts = matches + (text - texts.reference_count) * stride
            arguments = (token, end, begin, keys, inside, claimed, kept, counts, max_order)
            if max_order > 4:
                different |= _match_high_orders(*arguments)
            elif several:
                different |= _match(*arguments)
            elif short:
                different |= _match_one_short(*arguments)
            else:
                different |= _match_one(*arguments)
        if different != _NOTHING:
            return False
        kept = _ALL
    if kept == _NOTHING:  # no reference has a token
        for candidate in range(texts.texts - texts.reference_count):
            for n in range(max_order):
                store_int(matches + candidate * stride, n, 0)
    return True


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
    bits, long_row, row = 10, 0, 0
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
    """Writes the tokens of a segment and their bounds; returns what became of them."""
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
            most = TOKENS_AT_ONCE * TOKEN_BYTES if text < texts.reference_count else ANY
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
    """Writes the matches of a segment with long references; only runs with such rows compile it
    (`call` of native/compiling.py). Returns 0, or log2 of the slots of the table that it needs.
    """
    known = number_texts(row, texts, are_written)
    bits = table_bits(load_int(texts.bounds, texts.reference_count))
    if ((1 << bits) + 1) * SLOT_BYTES > table_bytes:
        return bits
    match_long_segment(texts, max_order, known, table, matches, stride)
    return 0


@compiled
def count_rows(first_row, texts, table, table_bytes, counts, long_row):
    """Counts rows from `first_row` on, until one needs what the caller must provide: a hash table,
    or the address of the entry of `count_long_row`. Returns (rows done, log2 of the number of slots
    that the next row needs; 0 if it needs the address).
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
