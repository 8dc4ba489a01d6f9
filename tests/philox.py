"""The random numbers of replicates one by one: what the compiled code draws many at once."""

from __future__ import annotations

from beam_bleu.transforms.totals.replicates import (
    AT_LEAST,
    BLOCK_BITS,
    KEY_STEPS,
    MULTIPLIERS,
    ROUNDS,
    WEIGHT_BITS,
)

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
    """How many times the bootstrap draws a unit in a replicate."""
    bits = random_bits(seed, unit, WEIGHT_BITS * replicate, WEIGHT_BITS)
    return sum(bits >= (1 << WEIGHT_BITS) - values for values in AT_LEAST)


def coin(seed: int, unit: int, replicate: int) -> int:
    """The coin of a unit in a replicate of a randomization, 0 or 1."""
    return random_bits(seed, unit, replicate, 1)
