"""The sums of a few units of one system, and the columns of units."""

import random
from fractions import Fraction

import brute_force
import numpy as np
import pytest
from scoring import statistics_of
from units_by_hand import statistics_with_domains, sums_by_hand, unit_by_hand

from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    PARTS_OF_A_TOKEN,
    REFERENCE_LENGTHS,
    BleuColumns,
)
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.totals.products import by_column, sums_of_columns


def unit_sums(statistics, system, rows=slice(None)):
    (columns,) = by_column(statistics.counts[system : system + 1, rows])
    return sums_of_columns(columns)


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


@pytest.mark.parametrize("tokenize", ["none", "char"])
def test_the_columns_are_those_of_brute_force(tokenize):
    """The columns are a basis: totals and the lengths of all rules follow from them."""
    order = 6
    config = BleuConfig(tokenize=tokenize)
    segments = made_segments(tokenize, references=16)
    columns = BleuColumns(
        unit_sums(statistics_of(to_batch(segments), config, order), 0).columns.tolist()
    )
    split = str.split if tokenize == "none" else lambda text: [*text.replace(" ", "")]
    tokens = [(split(one), [split(each) for each in others]) for one, others in segments]
    for rule in REFERENCE_LENGTHS:
        expected = brute_force.corpus_sums(tokens, order, rule)
        assert columns.segments == len(segments)
        assert columns.candidate_length == expected.candidate_length
        assert list(columns.matches) == expected.matches
        assert list(columns.totals) == expected.totals
        assert list(columns.short_candidates) == [
            sum(len(candidate) < n for candidate, _ in tokens) for n in range(1, order + 1)
        ]
        assert Fraction(*columns.reference_length(rule)) == expected.reference_length


def test_the_average_of_many_references_is_rounded_by_less_than_a_millionth():
    segment = ("a", ["a " * n for n in range(17)])
    statistics = statistics_of(to_batch([segment]), BleuConfig(), 4)
    found = Fraction(unit_sums(statistics, 0).columns.tolist()[AVERAGE], PARTS_OF_A_TOKEN)
    assert 0 <= Fraction(sum(range(17)), 17) - found < Fraction(1, 10**6)
