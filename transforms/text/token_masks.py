"""Compiled code: where a token occurs among up to 64 others, as a mask.

The mask of a token comes from one comparison of its key with the keys of all these tokens, 32 bits
each. Keys are not enough to be exact. So each token is compared with the first one of its key. If
two different tokens have the same 32 bits, which no text can provoke (see hashing.py), the caller
has to count in another way.

All memory is addressed directly (see native/memory.py).
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined
from beam_bleu.transforms.native.lanes import equal_numbers
from beam_bleu.transforms.native.memory import load_word, lowest_bit, store_count
from beam_bleu.transforms.text.tokens import FIRST, SECOND, TOKEN_BYTES, is_same_token

MOST_MASKED = 64
"""The most tokens that have masks: the bits of a mask."""

KEYS_BYTES = 4 * MOST_MASKED
"""The memory for the low 32 bits of their keys."""

FEW_MASKED = 32
"""So many are compared in less time."""

_KEY_BYTES = 4

_NOTHING = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_equal_few, _equal_all = equal_numbers(FEW_MASKED), equal_numbers(MOST_MASKED)


@inlined
def mask_of_all(count):
    """The mask of this number of tokens, at most MOST_MASKED."""
    return _ALL >> np.uint64(MOST_MASKED - count) if count > 0 else _NOTHING


@inlined
def mask_of(token, keys, inside, few):
    """The positions of the tokens with the same key.

    Args:
      token: address of the token.
      keys: address of the keys, as `write_keys` writes them.
      inside: the mask of all tokens.
      few: whether they are at most FEW_MASKED.
    """
    if few:
        return _equal_few(keys, load_word(token)) & inside
    return _equal_all(keys, load_word(token)) & inside


@inlined
def difference(token, mask, first):
    """0 if the first token of a mask is the same as this token, or if there is none.

    Args:
      token: address of the token.
      mask: its mask.
      first: address of the tokens with the keys.
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
