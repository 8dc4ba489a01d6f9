"""Hashing with a secret, which each process draws for itself.

An attacker who knows how a hash table places its entries can write a text whose tokens all fall
into the same place. Then each look-up has to go past all of them. Here two secret words, drawn
when the process starts, decide the places. Tokens and n-grams are compared exactly, so no
result depends on the secret. It is an argument of the compiled code: a constant would be the
same in every process that loads the code from the cache.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import os

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import folded_product

Seed = tuple[np.uint64, np.uint64]


def new_seed() -> Seed:
    """Two random words. Keys are multiplied by the second one, which is odd."""
    mask, factor = np.frombuffer(os.urandom(16), np.uint64)
    return mask, factor | np.uint64(1)


@inner
def hashed(key, seed):
    """A word that looks random: keys with any pattern are spread over all bits.

    After a plain multiplication, the low bits would depend only on the key's low bits. To fold
    the 128 bits of the product (as in wyhash) costs no more. The mask makes a key of 0 work.
    """
    return folded_product(key ^ seed[0], seed[1])
