"""The standard error is that of the units' influences, exactly, and that of a bootstrap."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from made_units import corpus_sums_of_rows, made_units, sums_of_rows

from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.metric import Bleu
from beam_bleu.transforms.metrics.bleu.score import bleu_score
from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.score.uncertainty import FEWEST_UNITS, log_gradient, uncertainty

USUAL = Bleu(Scoring())


def found(rows, metric=USUAL):
    units = sums_of_rows(rows)
    return uncertainty(units, metric, metric.value(units.columns.tolist()))


def by_influences(rows, metric):
    """The standard error from each unit's influence, in fractions."""
    units = sums_of_rows(rows)
    gradient = log_gradient(units.columns.tolist(), metric)
    influences = [
        Fraction(
            sum(n * row[c] for c, n in zip(gradient.columns, gradient.numerators, strict=True)),
            gradient.denominator,
        )
        for row in rows
    ]
    mean = sum(influences) / len(rows)
    variance = sum((each - mean) ** 2 for each in influences)
    score = metric.value(units.columns.tolist())
    return score * math.sqrt(variance * len(rows) / (len(rows) - 1))


@pytest.mark.parametrize(
    "metric",
    [
        USUAL,
        Bleu(Scoring(reference_length="average", smooth_method="add-k")),
        Bleu(Scoring(max_ngram_order=2, weights=(0.3, 0.7), smooth_method="nltk-method2")),
    ],
    ids=str,
)
@pytest.mark.parametrize("ratio", [0.8, 1.3])
def test_it_is_that_of_the_influences(metric, ratio):
    rows = made_units(50, ratio=ratio)
    assert found(rows, metric).standard_error == by_influences(rows, metric)


@pytest.mark.parametrize("ratio", [0.8, 1.3])
def test_it_is_that_of_a_bootstrap(ratio):
    rows = np.array(made_units(400, ratio=ratio))
    weights = np.random.default_rng(7).multinomial(400, np.full(400, 1 / 400), size=2000)
    scores = [USUAL.value(tuple(map(int, sums))) for sums in weights @ rows]
    result = found(rows.tolist())
    assert result.standard_error == pytest.approx(np.std(scores, ddof=1), rel=0.05)
    assert result.interval == pytest.approx(np.quantile(scores, [0.025, 0.975]), abs=0.4)


def test_nothing_cancels():
    # Segments of 2^40 tokens that are nearly the same: their products need more than 64 bits, and
    # what distinguishes the segments is in the last digits of the products.
    rows = made_units(40)
    for row in rows:
        row[CANDIDATE_LENGTH] += 2**40
        for n in range(4):
            row[FIRST_MATCHES + n] += 2**39
    result = found(rows).standard_error
    assert result == by_influences(rows, USUAL)
    assert 0 < result < 1e-6


def test_segments_that_are_all_the_same_have_no_spread():
    score = bleu_of([made_units(1, longest=90, seed=5)[0]] * 30)
    assert score.standard_error == 0
    assert score.interval == (score.score, score.score)


def bleu_of(rows, metric=USUAL):
    sums = corpus_sums_of_rows(rows).with_products(sums_of_rows(rows))
    return bleu_score(sums, BleuConfig().text.name, metric.scoring, judge_input=False)


def test_a_score_has_it_if_its_units_are_given():
    rows = made_units(FEWEST_UNITS, ratio=1.2)
    score, expected = bleu_of(rows), found(rows)
    assert score.standard_error == expected.standard_error
    low, high = score.interval
    assert low < score.score < high
    assert high - low == pytest.approx(2 * 1.96 * score.standard_error, rel=1e-4)
    assert score.warnings == ()
    without = bleu_score(
        corpus_sums_of_rows(rows), BleuConfig().text.name, USUAL.scoring, judge_input=False
    )
    assert without == dataclasses.replace(score, standard_error=None, interval=None)


def test_fewer_than_30_units_have_none():
    score = bleu_of(made_units(29))
    assert (score.standard_error, score.interval) == (None, None)
    assert score.warnings == ("no standard error: 29 segments are fewer than 30",)
    documents = dataclasses.replace(sums_of_rows(made_units(100)), units=1)
    assert uncertainty(documents, USUAL, 20.0).reason == "1 document is fewer than 30"
    assert documents.columns[SEGMENTS] == 100


def test_a_score_of_0_has_none():
    rows = made_units(30, matching=0)
    score = bleu_of(rows)
    assert score.standard_error is None
    assert "no standard error: no 1-gram of a candidate is in its references" in score.warnings
    assert found(made_units(30, longest=0)).reason == "no candidate has a token"
