"""The standard error is that of the units' influences, of every metric."""

import dataclasses
from decimal import Decimal, localcontext

import numpy as np
import pytest
from made_units import made_totals, made_units
from scoring import score_of_totals

from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.metrics.error_rates.metric import WerConfig
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.metrics.numbers import MeanConfig, Perplexity
from beam_bleu.transforms.metrics.rouge.metric import Rouge1Config
from beam_bleu.transforms.metrics.squad import ExactMatchConfig, TokenF1Config
from beam_bleu.transforms.metrics.ter.metric import TerConfig
from beam_bleu.transforms.native.fixed_point import value_columns
from beam_bleu.transforms.score.differences import FEWEST_UNITS
from beam_bleu.transforms.score.estimates import Estimates

USUAL = BleuConfig()


def bleu(x):
    segments, length, reference = x[:3]
    totals = [length]
    for short in x[11:14]:
        totals.append(totals[-1] - segments + short)
    logs = sum((m / t).ln() for m, t in zip(x[7:11], totals, strict=True)) / 4
    return 100 * (logs + min(Decimal(0), 1 - reference / length)).exp()


def chrf(x):
    precision = sum(m / h for m, h in zip(x[4::3], x[2::3], strict=True)) / 6
    recall = sum(m / r for m, r in zip(x[4::3], x[3::3], strict=True)) / 6
    return 100 * 5 * precision * recall / (4 * precision + recall)


def value(x):
    return x[0] + x[1] / 2**24 + x[2] / 2**48 + x[3] / 2**72


def chrf_segments(random, size):
    lengths = random.integers(20, 200, (size, 1)) - np.arange(6)
    matches = (lengths * random.uniform(0.2, 0.9, (size, 1)) ** np.arange(1, 7)).astype(int)
    orders = np.stack([lengths, lengths + random.integers(-9, 10, (size, 1)), matches], axis=2)
    return np.concatenate([np.eye(1, 2, dtype=int).repeat(size, 0), orders.reshape(size, 18)], 1)


def integers(*largest):
    return lambda random, size: np.insert(
        random.integers(0, largest, (size, len(largest))), 0, 1, 1
    )


def numbers(center, deviation):
    def segments(random, size):
        drawn = random.normal(center, deviation, size)
        parts = [value_columns(np.maximum(part, 0)) for part in (drawn, -drawn)]
        return np.concatenate([np.ones((size, 1), int), *parts], 1)

    return segments


def surprising(random, size):
    tokens = random.integers(1, 60, size)
    counts = np.stack([np.ones(size, int), tokens, tokens, tokens], 1)
    return np.concatenate([counts, value_columns(random.gamma(tokens, 2.5))], 1)


def bleu_segments(ratio):
    return lambda random, size: made_units(size, seed=int(random.integers(10**9)), ratio=ratio)


CASES = [
    # A metric, its formula for numbers of many digits, and what makes rows of segments.
    (USUAL, bleu, bleu_segments(0.8)),
    (USUAL, bleu, bleu_segments(1.3)),
    (ChrfConfig(), chrf, chrf_segments),
    (WerConfig(), lambda x: 100 * sum(x[2:5]) / x[5], integers(2, 9, 5, 5, 60)),
    (TerConfig(), lambda x: 100 * x[3] / (x[4] + x[5] / 720_720), integers(2, 60, 9, 60, 720_720)),
    (
        Rouge1Config(),
        lambda x: 100 * (x[6] + x[7] / 2**24) / 2**24 / x[0],
        integers(2, 2, 60, 60, 9, *[2**24] * 6),
    ),
    (ExactMatchConfig(), lambda x: 100 * x[2] / x[0], integers(2, 2)),
    (
        TokenF1Config(),
        lambda x: 100 * (x[5] + x[6] / 2**24) / 2**24 / x[0],
        integers(2, 9, 9, 5, 2**24, 2**24),
    ),
    (MeanConfig("x"), lambda x: (value(x[1:5]) - value(x[5:])) / x[0], numbers(0.3, 0.8)),
    (MeanConfig("x"), lambda x: (value(x[1:5]) - value(x[5:])) / x[0], numbers(-1000, 1)),
    (Perplexity("token", ("token",)), lambda x: (value(x[4:]) / x[1]).exp(), surprising),
]


def documents(segments, seed):
    """Documents of very different sizes, which are the same for each seed."""
    sizes = (np.random.default_rng(1).pareto(0.6, 50) + 1).clip(max=400).astype(int).tolist()
    random = np.random.default_rng(seed)
    return [np.sum(segments(random, size), axis=0).tolist() for size in sizes]


def by_influences(formula, rows):
    """The standard error from each unit's influence on a score, with many digits."""
    with localcontext() as context:
        context.prec = 120
        sums = [Decimal(sum(column)) for column in zip(*rows, strict=True)]
        slopes = []
        for column, total in enumerate(sums):
            step = max(total, Decimal(1)) / 10**40
            moved = [[*sums[:column], total + by, *sums[column + 1 :]] for by in (step, -step)]
            higher, lower = map(formula, moved)
            slopes.append((higher - lower) / (2 * step) if total else Decimal(0))
        influences = [sum(map(Decimal.__mul__, slopes, map(Decimal, row))) for row in rows]
        mean = sum(influences) / len(rows)
        squares = sum((influence - mean) ** 2 for influence in influences)
        return float((squares * len(rows) / (len(rows) - 1)).sqrt())


def test_it_is_that_of_the_influences_of_documents():
    for metric, formula, segments in CASES:
        system, baseline = documents(segments, 1), documents(segments, 2)
        error, _ = Estimates(made_totals(system), metric).standard_error("a")
        assert error == pytest.approx(by_influences(formula, system), rel=1e-9), metric

        def difference(x, formula=formula):
            return formula(x[: len(x) // 2]) - formula(x[len(x) // 2 :])

        # Systems that are almost the same, and others.
        for other in (baseline, [*system[:-1], baseline[-1]]):
            rows = [[*left, *right] for left, right in zip(system, other, strict=True)]
            found = Estimates(made_totals(system, other), metric).difference("a", "b")
            expected = pytest.approx(by_influences(difference, rows), rel=1e-9)
            assert found.standard_error == expected, metric


def found_in(rows):
    return Estimates(made_totals(rows), USUAL).standard_error("a")


def test_nothing_cancels():
    # Segments of 2^40 tokens that are nearly the same: their products need more than 64 bits, and
    # what distinguishes the segments is in the last digits of the products.
    rows = made_units(40)
    for row in rows:
        row[CANDIDATE_LENGTH] += 2**40
        for n in range(4):
            row[FIRST_MATCHES + n] += 2**39
    result, _ = found_in(rows)
    assert result == pytest.approx(by_influences(bleu, rows), rel=1e-9)
    assert 0 < result < 1e-6


def bleu_with_error(rows):
    return score_of_totals(made_totals(rows), BleuConfig(), judge_input=False)


def test_a_score_has_it_if_its_units_are_given():
    rows = made_units(FEWEST_UNITS, ratio=1.2)
    score = bleu_with_error(rows)
    assert (score.standard_error, "") == found_in(rows)
    low, high = score.interval
    assert low < score.score < high
    assert high - low == pytest.approx(2 * 1.96 * score.standard_error, rel=1e-4)
    assert score.warnings == ()
    totals = made_totals(rows)
    totals = dataclasses.replace(totals, common=totals.common[..., : 1 + totals.width])
    without = score_of_totals(totals, BleuConfig(), judge_input=False)
    assert without == dataclasses.replace(score, standard_error=None, interval=None)


def test_fewer_than_30_units_have_none():
    score = bleu_with_error(made_units(29))
    assert (score.standard_error, score.interval) == (None, None)
    assert score.warnings == ("no standard error: 29 segments are fewer than 30",)
    document = np.sum(made_units(100), axis=0).tolist()
    assert document[SEGMENTS] == 100
    assert found_in([document]) == (None, "1 document is fewer than 30")
