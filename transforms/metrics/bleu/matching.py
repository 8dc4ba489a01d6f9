"""Compiled counting: how many n-grams of each candidate occur in the references.

The code handles one segment at a time. Each token of a candidate gets a mask: bit p is set if the
reference has the token at position p. A reference of up to 64 tokens has a mask of one word, and
all orders are shifts and ands of masks. Let M[1] be the mask of token i. Then

    M[n] = (M[n - 1] of token i - 1, shifted by one) & M[1]

has the positions where the reference has the n-gram that ends at token i. Equal n-grams have
equal masks, and different n-grams have masks without a common bit. So a match is counted by
claiming a position that no earlier n-gram has claimed, and the matches of an n-gram are clipped to
its occurrences in the reference. With several references, an occurrence in the candidate matches
if it can be claimed in any of them, and is claimed in each where it can be. A vector has a lane for
each order, so all orders take the same few instructions.

The masks are those of text/tokens.py. If two different tokens have the same key there, or if a
reference is longer than 64 tokens, the segment is counted by statistics/ngrams.py instead.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
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
from beam_bleu.transforms.native.memory import load_half, load_int, store_half, store_int
from beam_bleu.transforms.text.numbering import length_of
from beam_bleu.transforms.text.tokens import (
    FEW_MASKED,
    MOST_MASKED,
    TOKEN_BYTES,
    difference,
    mask_of,
    mask_of_all,
    write_keys,
)

LONGEST_REFERENCE = MOST_MASKED

CLAIM_BYTES = 2
"""The memory for the orders that a token of a candidate has claimed, a bit for each."""

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
    """Makes the function that counts a candidate against one reference.

    `short` says whether the reference has at most FEW_MASKED tokens, and `several` whether there
    can be several references.
    """
    zeros = no_lanes(lanes)

    @inner
    def match(token, end, reference, keys, inside, claimed_orders, kept, counts, orders):
        """Writes the matches of each order in the references up to this one; returns 0 if exact.

        The addresses are those of the candidate's tokens and their end, of the reference's tokens
        and keys, of the orders of each token that are claimed in other references, and of N int64.
        `inside` is the mask of the reference's positions; `kept` is all bits, or 0 if there was no
        reference before.
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
    """Writes the clipped matches of every candidate of one segment, for each order.

    `texts` has the tokens of the segment and their bounds; no reference has more than
    LONGEST_REFERENCE. The memory of the vocabulary and of the numbers, CLAIM_BYTES for each token,
    is overwritten. `matches` is the address of N int64 for the first candidate, `stride` the bytes
    from these to those of the next one. Returns whether the counts are exact; if not, they are
    wrong.
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
            if max_order > 4:
                different |= _match_high_orders(
                    token, end, begin, keys, inside, claimed, kept, counts, max_order
                )
            elif several:
                different |= _match(
                    token, end, begin, keys, inside, claimed, kept, counts, max_order
                )
            elif short:
                different |= _match_one_short(
                    token, end, begin, keys, inside, claimed, kept, counts, max_order
                )
            else:
                different |= _match_one(
                    token, end, begin, keys, inside, claimed, kept, counts, max_order
                )
        if different != _NOTHING:
            return False
        kept = _ALL
    if kept == _NOTHING:  # no reference has a token
        for candidate in range(texts.texts - texts.reference_count):
            for n in range(max_order):
                store_int(matches + candidate * stride, n, 0)
    return True
