"""Compiled code: the slots of n-grams, for long_matching.py and long_following.py.

The key of an n-gram has the number of its last token, and the number of the (n-1)-gram before this
token. It is the first word of a slot; 0 if the slot is empty.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined
from beam_bleu.transforms.native.memory import load_count, load_word, prefetch
from beam_bleu.transforms.text.hashing import SLOT_BYTES, home, step
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

SPARE_NUMBERS = 17
"""The number of tokens for whose numbers there must be memory after the last one."""

_AHEAD = 16 * NUMBER_BYTES
_NOTHING = np.uint64(0)
_32 = np.uint64(32)


@inlined
def gram_key(number, shorter):
    """The key of the n-gram whose last token has its number at an address."""
    return np.uint64(load_count(number)) << _32 | np.uint64(shorter)


@inlined
def find_gram(key, index, table, bits, seed):
    """The index of the slot with this key, or of an empty one; the search begins at `index`."""
    in_slot = load_word(table + index * SLOT_BYTES)
    while in_slot != key and in_slot != _NOTHING:
        index = (index + step(key, seed)) & ((1 << bits) - 1)
        in_slot = load_word(table + index * SLOT_BYTES)
    return index


@inlined
def prefetch_gram(number, to_gram, table, bits, seed):
    """Brings the slot of an n-gram further on into the cache: the processor cannot foresee it."""
    ahead = number + _AHEAD
    key = gram_key(ahead, load_count(ahead + to_gram - NUMBER_BYTES))
    prefetch(table + home(key, bits, seed) * SLOT_BYTES)
