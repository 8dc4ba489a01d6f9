"""The random numbers of replicates, from a generator that is a pure function.

Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"
(https://doi.org/10.1145/2063384.2063405): Philox4x32 with 10 rounds enciphers a counter of four
32-bit words with a key of two. Here the key is the seed, and the counter is (block, 0, unit key),
the low words of 64-bit numbers first. So each unit has its own random numbers for all replicates,
on each machine the same ones, and they can be drawn in any order.

A block is 128 bits. Their order is: the first word's lowest bit first. The bootstrap takes 16 of
them for the weight of a replicate, randomization takes 1.

This module says what the numbers are. Compiled code (tiles.py) draws the same ones, many at once.
"""

from __future__ import annotations

GENERATOR = "philox4x32-10"
"""The generator's name in results."""

BLOCK_BITS = 128
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
"""The golden ratio, and the square root of 3 minus 1, as fractions of 2^32."""

WEIGHT_BITS = 16

AT_LEAST = (41426, 17318, 5263, 1244, 240, 39, 5, 1)
"""AT_LEAST[k - 1] of the 2^16 values of 16 bits give a weight of k or more: the largest ones.

The sums of these numbers make the mean and the variance of a weight exactly 1, as those of
Poisson(1) are. Each probability is the one of Poisson(1) but for 2e-5. No weight is more than 8,
which a weight of Poisson(1) is once in a million times.
"""

_WORD = 0xFFFFFFFF


def philox4x32(
    counter: tuple[int, int, int, int], key: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Philox4x32-10: four random words of 32 bits for a counter and a key."""
    (one, two, three, four), (first, second) = counter, key
    for _ in range(ROUNDS):
        low, high = one * MULTIPLIERS[0], three * MULTIPLIERS[1]
        one, two, three, four = (
            (high >> 32) ^ two ^ first,
            high & _WORD,
            (low >> 32) ^ four ^ second,
            low & _WORD,
        )
        first, second = (first + KEY_STEPS[0]) & _WORD, (second + KEY_STEPS[1]) & _WORD
    return one, two, three, four


def random_bits(seed: int, unit: int, first: int, number: int) -> int:
    """Some of the random bits of a unit, as one number whose lowest bit is the first one.

    Args:
      seed: the seed, 0 to 2^64 - 1.
      unit: the unit's key, 0 to 2^64 - 1.
      first: the place of the first bit among the unit's bits.
      number: how many bits there are; all of them are in the same block.
    """
    block, place = divmod(first, BLOCK_BITS)
    words = philox4x32((block, 0, unit & _WORD, unit >> 32), (seed & _WORD, seed >> 32))
    bits = sum(word << 32 * number for number, word in enumerate(words))
    return bits >> place & ((1 << number) - 1)


def weight(seed: int, unit: int, replicate: int) -> int:
    """How many times the bootstrap draws a unit in a replicate.

    >>> [weight(12345, 0, replicate) for replicate in range(12)]
    [0, 2, 2, 0, 1, 2, 1, 2, 1, 0, 1, 0]
    """
    bits = random_bits(seed, unit, WEIGHT_BITS * replicate, WEIGHT_BITS)
    return sum(bits >= (1 << WEIGHT_BITS) - values for values in AT_LEAST)


def coin(seed: int, unit: int, replicate: int) -> int:
    """The coin of a unit in a replicate of a randomization, 0 or 1.

    >>> [coin(12345, 0, replicate) for replicate in range(12)]
    [1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1]
    """
    return random_bits(seed, unit, replicate, 1)
