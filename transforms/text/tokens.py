"""Compiled tokens: the words that stand for a token, when two are the same, and their masks.

A token is three words. The first is its key, a hash of its bytes. The other two are its bytes,
with a byte 1 and zeros after them, if they are up to 15. So two such tokens are the same if their
words are the same. A longer token has its address, and its length with bits that no other token
has. The token of an entity is that of its symbol.

Where a token occurs among up to 64 others is a mask, from one comparison of its key with their
keys, 32 bits each. Keys are not enough to be exact. So each token is compared with the first one of
its key. If two different tokens have the same 32 bits, which no text can provoke (see hashing.py),
the caller has to count in another way.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.lanes import equal_numbers
from beam_bleu.transforms.native.memory import (
    folded_product,
    load_int,
    load_word,
    lowest_bit,
    store_count,
    store_word,
)
from beam_bleu.transforms.text.hashing import hashed

FIRST, SECOND, TOKEN_BYTES = 8, 16, 24

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)


def _little_endian(text: str) -> Any:
    return np.uint64(int.from_bytes(text.encode(), "little"))


_QUOT, _AMP, _LT, _GT = (_little_endian(text) for text in ("&quot;", "&amp;", "&lt;", "&gt;"))
_AFTER_AMP_LT, _AFTER_AMP_GT = _little_endian("lt;"), _little_endian("gt;")
_3, _4, _5, _6 = (np.uint64((1 << 8 * count) - 1) for count in (3, 4, 5, 6))
_LONGEST_SHORT = 15
_LONG = np.uint64(0xFF << 56)  # no byte of UTF-8 is 0xFF
_63, _3_BITS, _6_BITS = (np.uint64(bits) for bits in (63, 3, 6))
_END_OF_ONE = np.uint64(1 << 8)  # the byte 1 after a token of one byte
_AMPERSAND_ALONE = np.uint64(ord("&")) | _END_OF_ONE
_QUOTE, _AMPERSAND, _LESS, _GREATER = (np.uint64(ord(symbol)) for symbol in '"&<>')


@inner
def entity(address, end):
    """(symbol, length in bytes) of the entity that begins with the ampersand at `address`.

    sacreBLEU replaces &quot;, then &amp;, then &lt;, then &gt;. So &amp;lt; becomes <, but
    &amp;quot; becomes &quot; (three tokens).
    """
    left = end - address
    word = load_word(address)
    if left >= 6 and word & _6 == _QUOT:
        return _QUOTE, 6
    if left >= 5 and word & _5 == _AMP:
        if left >= 8:
            rest = load_word(address + 5) & _3
            if rest == _AFTER_AMP_LT:
                return _LESS, 8
            if rest == _AFTER_AMP_GT:
                return _GREATER, 8
        return _AMPERSAND, 5
    if left >= 4 and word & _4 == _LT:
        return _LESS, 4
    if left >= 4 and word & _4 == _GT:
        return _GREATER, 4
    return _AMPERSAND, 1


@inner
def _fold(key, word, seed):
    return hashed(key, seed) ^ word


@inner
def _long_key(address, length, seed):
    """The hash of a token of 16 bytes or more, of which nobody can make many without the seed.

    (Up to 8 tokens can have the same key with any seed: runs of one letter, with the same words and
    different lengths.)
    """
    key = load_word(address)
    last = address + length - 8  # the last word overlaps the one before
    at = address + 8
    while at < last:
        key = _fold(key, load_word(at), seed)
        at += 8
    return _fold(key, load_word(last), seed)


@inlined
def write_token(token, entities_end, seed):
    """Turns the places where a token starts and ends into its words."""
    address = load_int(token + FIRST, 0)
    length = load_int(token + SECOND, 0) - address
    # Masks instead of branches on the length, because a branch predictor cannot learn it.
    bits = np.uint64(length) << _3_BITS
    after = _ONE << (bits & _63)
    over_8 = _NOTHING - ((bits >> _6_BITS) & _ONE)
    one, other = load_word(address), load_word(address + 8)
    first = (one & ((after - _ONE) | over_8)) | (after & ~over_8)
    second = ((other & (after - _ONE)) | after) & over_8
    if first == _AMPERSAND_ALONE:
        first = entity(address, entities_end)[0] | _END_OF_ONE
    key = folded_product(first ^ seed[0], second ^ seed[1])
    if length > _LONGEST_SHORT:
        first = np.uint64(address)
        second = _LONG | np.uint64(length)
        key = hashed(_long_key(address, length, seed) ^ second, seed)
    store_word(token, key)
    store_word(token + FIRST, first)
    store_word(token + SECOND, second)


@inner
def is_same_token(one, other):
    second = load_word(one + SECOND)
    if load_word(other + SECOND) != second:
        return False
    if second < _LONG:
        return load_word(one + FIRST) == load_word(other + FIRST)
    length = np.int64(second - _LONG)
    one, other = np.int64(load_word(one + FIRST)), np.int64(load_word(other + FIRST))
    last = length - 8
    at = 0
    while at < last:
        if load_word(one + at) != load_word(other + at):
            return False
        at += 8
    return load_word(one + last) == load_word(other + last)


MOST_MASKED = 64

KEYS_BYTES = 4 * MOST_MASKED

FEW_MASKED = 32
"""So many are compared in less time."""

_KEY_BYTES = 4

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_equal_few, _equal_all = equal_numbers(FEW_MASKED), equal_numbers(MOST_MASKED)


@inlined
def mask_of_all(count):
    """The mask of this number of tokens, at most MOST_MASKED."""
    return _ALL >> np.uint64(MOST_MASKED - count) if count > 0 else _NOTHING


@inlined
def mask_of(token, keys, inside, few):
    """The positions of the tokens with the same key.

    `keys` is what `write_keys` writes, `inside` the mask of all tokens, and `few` says whether they
    are at most FEW_MASKED.
    """
    if few:
        return _equal_few(keys, load_word(token)) & inside
    return _equal_all(keys, load_word(token)) & inside


@inlined
def difference(token, mask, first):
    """0 if the first token of a mask is the same as this token, or if there is none.

    `first` is the address of the tokens with the keys.
    """
    holder = first + lowest_bit(mask) * TOKEN_BYTES if mask != _NOTHING else token
    words = load_word(token + FIRST) ^ load_word(holder + FIRST)
    words |= load_word(token + SECOND) ^ load_word(holder + SECOND)
    if words != _NOTHING and is_same_token(token, holder):  # a long token at another address
        words = _NOTHING
    return words


@inlined
def write_keys(first, last, keys):
    """Writes the keys of the tokens at the addresses first..last."""
    token, key = first, keys
    while token < last:
        store_count(key, np.int64(load_word(token)))
        token += TOKEN_BYTES
        key += _KEY_BYTES
