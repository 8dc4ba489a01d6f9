"""The sums of a few units of one system, and the columns of units."""

import random
from fractions import Fraction

import numpy as np
import pytest
from scoring import statistics_of
from units_by_hand import statistics_with_domains, sums_by_hand, unit_by_hand

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.products import unit_sums
from beam_bleu.transforms.totals.units import (
    AVERAGE,
    CANDIDATE_LENGTH,
    CLOSEST,
    CLOSEST_FIRST,
    FIRST_MATCHES,
    LONGEST,
    PARTS_OF_A_TOKEN,
    SEGMENTS,
    SHORTEST,
    first_short,
)

WORDS = ["a", "b", "a.", "é,", "1.5", "中文", "&amp;"]


@pytest.mark.parametrize("longest", [40, 2**31])
@pytest.mark.parametrize("rows", [slice(None), slice(2, 3), slice(3, 9), slice(4, 4)])
def test_unit_sums_are_those_of_rows(longest, rows):
    statistics = statistics_with_domains(np.random.default_rng(1), "ab", 20, longest)
    for system in range(2):
        units = [unit_by_hand(statistics, system, i) for i in range(20)[rows]]
        assert unit_sums(statistics, system, rows) == sums_by_hand(units)


def made_segments(seed, references):
    draw = random.Random(seed)

    def text():
        return " ".join(draw.choices(WORDS, k=draw.randrange(9)))

    return [(text(), [text() for _ in range(draw.randint(1, references))]) for _ in range(30)]


@pytest.mark.parametrize("tokenize", ["none", "13a", "intl", "zh", "char"])
def test_corpus_sums_follow_from_unit_sums(tokenize):
    """The columns are a basis: totals and the lengths of all rules follow from them."""
    order = 6
    config = BleuConfig(tokenize=tokenize)
    statistics = statistics_of(to_batch(made_segments(tokenize, references=16)), config, order)
    sums = unit_sums(statistics, 0).sums
    expected = CorpusSums.of(statistics, 0)
    short = sums[first_short(order) :]
    assert sums[SEGMENTS] == expected.segments
    assert sums[CANDIDATE_LENGTH] == expected.candidate_length
    assert sums[FIRST_MATCHES : first_short(order)] == expected.matches
    assert short == expected.short_candidates
    # t_n = c - (n - 1) + h_1 + ... + h_(n-1), for each segment
    totals = [sums[CANDIDATE_LENGTH] - n * sums[SEGMENTS] + sum(short[:n]) for n in range(order)]
    assert tuple(totals) == expected.totals
    shortest = sums[SHORTEST]
    lengths = {
        "shortest": shortest,
        "closest": shortest + sums[CLOSEST],
        "closest_first": shortest + sums[CLOSEST] + sums[CLOSEST_FIRST],
        "longest": shortest + sums[LONGEST],
        "average": shortest + Fraction(sums[AVERAGE], PARTS_OF_A_TOKEN),
    }
    assert lengths == {rule: expected.reference_lengths.by(rule) for rule in REFERENCE_LENGTHS}


def test_the_average_of_many_references_is_rounded_by_less_than_a_millionth():
    segment = ("a", ["a " * n for n in range(17)])
    statistics = statistics_of(to_batch([segment]), BleuConfig(), 4)
    found = Fraction(unit_sums(statistics, 0).sums[AVERAGE], PARTS_OF_A_TOKEN)
    assert 0 <= Fraction(sum(range(17)), 17) - found < Fraction(1, 10**6)
