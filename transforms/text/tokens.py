"""Tokens in compiled code: the three words of each one, their hashes, hash tables and masks.

The first word of a token is its key, a hash of its bytes. If it has up to 15 bytes, the other two
are these, then a byte 1 and zeros. For a longer token, they are its address, and its length with
bits that no short token has. The token of an entity is that of its symbol.

A mask says where a token occurs among up to 64 others. It comes from one comparison of its key with
their keys, 32 bits each. If two different tokens have the same 32 bits, the caller has to count in
another way.

Hashes, and places in tables, depend on two random words of the process. So nobody can make a text
whose tokens all fall into one place, as would be possible with constants in the code.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import os
from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.lanes import equal_numbers
from beam_bleu.transforms.native.memory import (
    clear,
    folded_product,
    load_int,
    load_word,
    lowest_bit,
    store_count,
    store_word,
)

Seed = tuple[np.uint64, np.uint64]
SLOT_BYTES = 16  # of a hash table
FIRST, SECOND, TOKEN_BYTES = 8, 16, 24
_NOTHING, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


def new_seed() -> Seed:
    """Two random words. Keys are multiplied by the second one, which is odd."""
    mask, factor = np.frombuffer(os.urandom(16), np.uint64)
    return mask, factor | np.uint64(1)


@inner
def hashed(key, seed):
    """A word that looks random: after a plain multiplication, the low bits would depend only on the
    key's low bits. The mask makes a key of 0 work.
    """
    return folded_product(key ^ seed[0], seed[1])


@inner
def table_bits(entries):
    """log2 of the number of slots of a table. Small tables are a quarter full, so that most
    look-ups end at the first slot without a mispredicted branch; large ones are half full, to save
    memory.
    """
    wanted = 4 * entries if entries <= 4096 else 2 * entries
    bits = 9
    while (1 << bits) < wanted:
        bits += 1
    return bits


@inner
def clear_table(table, bits):
    clear(table, ((1 << bits) + 1) * SLOT_BYTES)


@inner
def home(key, bits, seed):
    """The slot where the search for a key begins (Dietzfelbinger et al. 1997): two keys share it at
    most twice as often as random numbers.
    """
    return np.int64((key * seed[1]) >> np.uint64(64 - bits))


@inner
def step(key, seed):
    """The distance to the next slot of a search, odd, so that every slot is tried. If it was the
    same for all keys, one secret in a hundred would put neighbouring keys into one long run of
    slots.
    """
    return np.int64(hashed(key, seed)) | 1


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

    As in sacreBLEU, &amp;lt; becomes <, but &amp;quot; becomes &quot; (three tokens).
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
    """The hash of a token of 16 bytes or more: nobody can make many equal ones without the seed."""
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
FEW_MASKED = 32  # up to this number are compared in less time
_KEY_BYTES = 4
KEYS_BYTES = _KEY_BYTES * MOST_MASKED
_equal_few, _equal_all = equal_numbers(FEW_MASKED), equal_numbers(MOST_MASKED)


@inlined
def mask_of_all(count):
    return _ALL >> np.uint64(MOST_MASKED - count) if count > 0 else _NOTHING


@inlined
def mask_of(token, keys, inside, few):
    if few:
        return _equal_few(keys, load_word(token)) & inside
    return _equal_all(keys, load_word(token)) & inside


@inlined
def difference(token, mask, first):
    """0 if the first token of a mask is the same as this token, or if the mask is empty."""
    holder = first + lowest_bit(mask) * TOKEN_BYTES if mask != _NOTHING else token
    words = load_word(token + FIRST) ^ load_word(holder + FIRST)
    words |= load_word(token + SECOND) ^ load_word(holder + SECOND)
    if words != _NOTHING and is_same_token(token, holder):  # a long token at another address
        words = _NOTHING
    return words


@inlined
def write_keys(first, last, keys):
    token, key = first, keys
    while token < last:
        store_count(key, np.int64(load_word(token)))
        token += TOKEN_BYTES
        key += _KEY_BYTES
