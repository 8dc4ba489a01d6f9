"""The generator gives the published numbers, and weights that are almost those of Poisson(1)."""

import math
from fractions import Fraction

import pytest
from philox import coin, philox4x32, weight

from beam_bleu.transforms.totals.replicates import AT_LEAST, WEIGHT_BITS


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    # Random123 1.14, tests/kat_vectors, "philox4x32 10".
    [
        (
            (0x00000000, 0x00000000, 0x00000000, 0x00000000),
            (0x00000000, 0x00000000),
            (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ),
        (
            (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
            (0xFFFFFFFF, 0xFFFFFFFF),
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_the_generator_gives_the_numbers_of_random123(counter, key, expected):
    assert philox4x32(counter, key) == expected


def test_the_counter_has_the_block_and_the_unit_and_the_key_is_the_seed():
    seed, unit = 0x299F31D0_A4093822, 0x03707344_13198A2E
    words = philox4x32((2, 0, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))
    bits = [word >> place & 1 for word in words for place in range(32)]
    assert [coin(seed, unit, 256 + number) for number in range(128)] == bits
    halves = [part for word in words for part in (word & 0xFFFF, word >> 16)]
    assert [weight(seed, unit, 16 + number) for number in range(8)] == [
        sum(half >= 65536 - values for values in AT_LEAST) for half in halves
    ]


def test_the_mean_and_the_variance_of_a_weight_are_exactly_1():
    values = 1 << WEIGHT_BITS
    assert Fraction(sum(AT_LEAST), values) == 1
    squares = sum((2 * k - 1) * number for k, number in enumerate(AT_LEAST, 1))
    assert Fraction(squares, values) - 1 == 1


def test_the_probabilities_of_weights_are_almost_those_of_poisson():
    values = 1 << WEIGHT_BITS
    tails = [values, *AT_LEAST, 0]
    for k in range(len(AT_LEAST) + 1):
        probability = (tails[k] - tails[k + 1]) / values
        assert probability == pytest.approx(math.exp(-1) / math.factorial(k), abs=3e-5)
    beyond = 1 - sum(math.exp(-1) / math.factorial(k) for k in range(len(AT_LEAST) + 1))
    assert beyond < 2e-6
