"""Compiled code: hashing with a secret that each process draws for itself, and hash tables by it.

An attacker who knows how a hash table places its entries can write a text whose tokens all fall
into the same place, so that each look-up has to go past all of them. Here two secret words decide
the places. Tokens and n-grams are compared exactly, so no result depends on them. They are an
argument of the compiled code: a constant would be the same in every process that loads the code
from the cache.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import os

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import clear, folded_product

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


SLOT_BYTES = 16

FEWEST_BITS = 9


@inner
def table_bits(entries):
    """log2 of the number of slots of a table for this number of entries.

    Small tables are a quarter full, so that most look-ups end at the first slot without a
    mispredicted branch. Large tables are half full, to save memory.
    """
    wanted = 4 * entries if entries <= 4096 else 2 * entries
    bits = FEWEST_BITS
    while (1 << bits) < wanted:
        bits += 1
    return bits


@inner
def clear_table(table, bits):
    """Empties all slots, and the extra slot after them, which counts entries that are not found."""
    clear(table, ((1 << bits) + 1) * SLOT_BYTES)


@inner
def home(key, bits, seed):
    """The slot where the search for a key begins (Dietzfelbinger et al. 1997).

    With a random odd factor, two keys have the same home at most twice as often as random
    numbers.
    """
    return np.int64((key * seed[1]) >> np.uint64(64 - bits))


@inner
def step(key, seed):
    """The distance to the next slot of a search: an odd number, so that every slot is tried.

    The step depends on the key. With the same step for all keys, one secret in a hundred puts
    neighbouring keys into one long run of slots, and each look-up goes through the run.
    """
    return np.int64(hashed(key, seed)) | 1
