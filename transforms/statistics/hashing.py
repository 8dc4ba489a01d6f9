"""Hashing that nobody can steer: every process has a secret of its own.

Whoever knows how a hash table places its entries can write a text whose tokens all
meet in one place, and each look-up then walks past all of them. Two secret words,
drawn when the process starts, decide the places. Tokens and n-grams are compared
exactly, so no result depends on the secret. It is an argument of the compiled code,
because a constant would be the same in every process that loads the code from the cache.
"""

from __future__ import annotations

import os

import numpy as np
from numba import njit

from beam_bleu.transforms.native.memory import folded_product

Seed = tuple[np.uint64, np.uint64]


def new_seed() -> Seed:
    """Two random words; the second one, by which keys are multiplied, is odd."""
    mask, factor = np.frombuffer(os.urandom(16), np.uint64)
    return mask, factor | np.uint64(1)


@njit
def hashed(key, seed):
    """A word as a random one: keys of any pattern are spread over all bits.

    A multiplication alone would leave the low bits to the key's low bits. Its 128
    bits folded (as in wyhash) cost no more, and the mask keeps the key from being 0.
    """
    return folded_product(key ^ seed[0], seed[1])
