"""Replicates equal sums of weighted units, in Python's integers, for any split and order."""

import hashlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_statistics import made_statistics, rows_of

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.totals.replicates import (
    AT_LEAST,
    BLOCK_BITS,
    KEY_STEPS,
    MULTIPLIERS,
    ROUNDS,
    WEIGHT_BITS,
    ReplicateAdder,
    unit_keys,
)

BASIS = bleu_basis(4)
ONES = 0xFFFFFFFF


# The random numbers one by one: what the compiled code draws many at once


def philox4x32(counter, key):
    """Philox4x32-10: four random words of 32 bits for a counter and a key."""
    (one, two, three, four), (first, second) = counter, key
    for _ in range(ROUNDS):
        low, high = one * MULTIPLIERS[0], three * MULTIPLIERS[1]
        one, two = (high >> 32) ^ two ^ first, high & ONES
        three, four = (low >> 32) ^ four ^ second, low & ONES
        first, second = (first + KEY_STEPS[0]) & ONES, (second + KEY_STEPS[1]) & ONES
    return one, two, three, four


def random_bits(seed, unit, first, number):
    """So many of the random bits of a unit, in one block, as a number: its lowest bit is first."""
    block, place = divmod(first, BLOCK_BITS)
    words = philox4x32((block, 0, unit & ONES, unit >> 32), (seed & ONES, seed >> 32))
    bits = sum(word << 32 * number for number, word in enumerate(words))
    return bits >> place & ((1 << number) - 1)


def weight(seed, unit, replicate):
    """How many times the bootstrap draws a unit in a replicate."""
    bits = random_bits(seed, unit, WEIGHT_BITS * replicate, WEIGHT_BITS)
    return sum(bits >= (1 << WEIGHT_BITS) - values for values in AT_LEAST)


def coin(seed, unit, replicate):
    """The coin of a unit in a replicate of a randomization, 0 or 1."""
    return random_bits(seed, unit, replicate, 1)


METHODS = {"bootstrap": weight, "randomization": coin}
KNOWN = [  # Random123 1.14, tests/kat_vectors, "philox4x32 10"
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def test_the_generator_has_the_numbers_of_random123_by_seed_unit_and_replicate():
    for counter, key, expected in KNOWN:
        assert philox4x32(counter, key) == expected
    seed, unit = 0x299F31D0_A4093822, 0x03707344_13198A2E
    words = philox4x32((2, 0, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))
    bits = [word >> place & 1 for word in words for place in range(32)]
    assert [coin(seed, unit, 256 + number) for number in range(128)] == bits
    halves = [part for word in words for part in (word & 0xFFFF, word >> 16)]
    assert [weight(seed, unit, 16 + number) for number in range(8)] == [
        sum(half >= 65536 - values for values in AT_LEAST) for half in halves
    ]


def test_weights_have_the_mean_and_variance_of_poisson_and_almost_its_probabilities():
    values = 1 << WEIGHT_BITS
    assert sum(AT_LEAST) == values
    squares = sum((2 * k - 1) * number for k, number in enumerate(AT_LEAST, 1))
    assert Fraction(squares, values) - 1 == 1
    tails = [values, *AT_LEAST, 0]
    for k in range(len(AT_LEAST) + 1):
        probability = (tails[k] - tails[k + 1]) / values
        assert probability == pytest.approx(math.exp(-1) / math.factorial(k), abs=3e-5)


def added(resampling, batches, documents=None):
    adder = ReplicateAdder(resampling, ("document",), BASIS, documents)
    for each in batches:
        adder.add(each)
    return adder.sums()


def by_hand(resampling, statistics, replicates, documents=None):
    """The sums of some replicates, in unbounded integers, as (systems, replicates, W)."""
    label = None if documents is None else statistics.labels[0]
    units = unit_keys(resampling.partition, statistics.numbers, label).tolist()
    draw = METHODS[resampling.method]
    drawn = [[draw(resampling.seed, unit, number) for unit in units] for number in replicates]
    return np.array(drawn, object) @ statistics.counts[0].astype(object)


CASES = [
    ("bootstrap", 40, 1, None),
    ("bootstrap", 2**31, 3, "document"),
    ("randomization", 40, 3, "document"),
    ("randomization", 2**31, 1, None),
]


def test_replicates_are_weighted_sums():
    for method, longest, references, documents in CASES:
        statistics = made_statistics(37, longest=longest, references=references)
        resampling = Resampling(method, 1100, seed=2**64 - 5, partition="x")
        found = added(resampling, [statistics], documents)
        assert found.shape == (2, 1100, BASIS.width)
        checked = [0, 1, 2, 7, 8, 63, 64, 127, 128, 129, 511, 512, 513, 1023, 1024, 1099]
        expected = by_hand(resampling, statistics, checked, documents)
        assert found[:, checked].tolist() == expected.tolist()


def test_sums_of_more_units_than_float32_holds_are_exact():
    # The largest digit in all units and columns, and more units than are summed up in float32.
    statistics = rows_of(made_statistics(13), np.arange(1300) % 13)
    statistics.counts[0][:] = 4095
    for method in METHODS:
        resampling = Resampling(method, 2)
        expected = by_hand(resampling, statistics, range(2))
        assert added(resampling, [statistics]).tolist() == expected.tolist()


@settings(max_examples=25)
@given(st.data())
def test_any_split_and_order_give_the_same_replicates(data):
    statistics = made_statistics(23, longest=5000, references=2)
    resampling = Resampling(data.draw(st.sampled_from(list(METHODS))), 1030, seed=3)
    documents = data.draw(st.sampled_from([None, "document"]))
    whole = added(resampling, [statistics], documents)
    order = data.draw(st.permutations(range(23)))
    bounds = sorted({0, 23, *data.draw(st.lists(st.integers(0, 23), max_size=4))})
    parts = [rows_of(statistics, order[start:stop]) for start, stop in itertools.pairwise(bounds)]
    bundles = data.draw(st.integers(1, len(parts)))
    found = added(resampling, parts[:bundles], documents)
    if parts[bundles:]:
        rest = added(resampling, parts[bundles:], documents)
        found = found + rest if rest.size else found
    assert found.tobytes() == whole.tobytes()


def test_a_batch_that_lacks_a_system_is_an_error():
    batches = [made_statistics(3), made_statistics(3, ("a",))]
    with pytest.raises(JobError, match="not all segments have the same systems"):
        added(Resampling("bootstrap", 5), batches)


def hashed(name):
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


def test_the_keys_of_units_depend_on_their_names_alone():
    found = unit_keys("2026-11-21", np.array([0, 7, 2**40]))
    first = hashed(b"2026-11-21")
    assert found.tolist() == [(first + number) % 2**64 for number in (0, 7, 2**40)]
    names = pa.array(["b", "é", "b", "b"]).dictionary_encode()
    found = unit_keys("p", None, names).tolist()
    assert found == [hashed(b"p\0" + name) for name in (b"b", "é".encode(), b"b", b"b")]
    values = pa.array(["é", "unused", "b", None])
    reordered = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2, 2], pa.int32()), values)
    assert unit_keys("p", None, reordered).tolist() == found
    missing = pa.DictionaryArray.from_arrays(pa.array([0, 3], pa.int32()), values)
    for names in (pa.array(["a", None]).dictionary_encode(), missing):
        with pytest.raises(JobError, match="a segment has no document"):
            unit_keys("", None, names)
    with pytest.raises(JobError, match="without numbers"):
        unit_keys("", None)
