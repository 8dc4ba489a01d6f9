"""Agreement with people, against recorded numbers of mt-metrics-eval and against the jackknife."""

from __future__ import annotations

import random

import numpy as np
import pytest

from beam_bleu.transforms.score.agreement import MEASURES, Agreement

SYSTEMS, SEGMENTS = 6, 50


def corpus(seed, step=1.0, unrated=0.0, missing=0.0):
    """Human scores and those of a metric, as arrays. Scores of people are multiples of a step, some
    segments are not rated, and some scores are missing.
    """
    draw = random.Random(seed)
    human = np.full((SYSTEMS, SEGMENTS), np.nan)
    metric = np.empty((SYSTEMS, SEGMENTS))
    for segment in range(SEGMENTS):
        difficulty, is_rated = draw.gauss(0, 1), draw.random() >= unrated
        for system in range(SYSTEMS):
            quality = difficulty + system / 8 + draw.gauss(0, 1)
            if is_rated and draw.random() >= missing:
                human[system, segment] = round(quality / step) * step
            metric[system, segment] = round((quality + draw.gauss(0, 1)) * 8) / 8
    return human, metric


# What mt-metrics-eval (https://github.com/google-research/mt-metrics-eval, 68a481a) gives for
# c = stats.Correlation(SYSTEMS, human, metric), with lists of all scores, system by system, and
# None for NaN: c.PairwiseConfidenceError(), which cannot leave out single scores;
# c.KendallWithTiesOpt("item", sample_rate=1.0); c.Pearson(); c.Kendall(); and the threshold, from
# stats.KendallWithTiesOpt(human, metric, "acc23", SYSTEMS, "item", 1.0).
RECORDED = {
    (1,): [0.9705333333333334, 0.6333333333333332, 0.7898807286788698, 0.6507044081240992, 0.375],
    (2, 0.5): [0.7554666666666667, 0.6533333333333333, 0.8063074685919168, 0.6208277097111758, 0.0],
    (3, 4.0): [0.7644, 0.7879999999999997, 0.6021109213530241, 0.45489207103074597, 4.125],
    (4, 1.0, 0.3): [
        0.9184666666666667,
        0.6742857142857142,
        0.796882617482409,
        0.6423271561257167,
        0.25,
    ],
    (5, 1.0, 0.2, 0.2): [None, 0.6649122807017546, 0.8030280106962167, 0.6404855115319783, 0.75],
}


@pytest.mark.parametrize("case", RECORDED)
def test_values_equal_those_of_mt_metrics_eval(case):
    human, metric = corpus(*case)
    found = {name: measure.agreement(human, metric) for name, measure in MEASURES.items()}
    numbers = [*(each.value for each in found.values()), found["acc_eq"].threshold]
    for number, recorded in zip(numbers, RECORDED[case], strict=True):
        assert recorded is None or number == pytest.approx(recorded, rel=1e-12)


@pytest.mark.parametrize("name", ["acc_eq", "pearson", "kendall"])
def test_standard_errors_are_close_to_those_of_the_jackknife(name):
    measure, (human, metric) = MEASURES[name], corpus(5, unrated=0.2)
    human[2, 7] = np.nan
    found = measure.agreement(human, metric)
    rated = np.flatnonzero(~np.isnan(human).all(axis=0))
    values = [
        measure.agreement(*(np.delete(scores, place, axis=1) for scores in (human, metric))).value
        for place in rated
    ]
    share = (len(rated) - 1) / len(rated)
    jackknife = np.sqrt(share * np.square(values - np.mean(values)).sum())
    assert found.standard_error == pytest.approx(jackknife, rel=0.05)
    assert found.segments == len(rated)
    assert measure.agreement(human, human).standard_error == 0  # and not a rounding error


def test_what_is_not_defined_has_a_reason():
    human, metric = corpus(6)
    reasons = {
        name: measure.agreement(human[:1], metric[:1] * 0).reason
        for name, measure in MEASURES.items()
    }
    assert reasons == {
        "spa": "no segment has the scores of two or more systems",
        "acc_eq": "no segment has the scores of two or more systems",
        "pearson": "all metric scores are equal",
        "kendall": "all metric scores are equal",
    }
    constant = {measure.agreement(human * 0, metric) for measure in MEASURES.values()}
    assert constant == {Agreement(reason="all human scores are equal")}
    few = MEASURES["pearson"].agreement(human[:, :20], metric[:, :20])
    assert few.value is not None
    assert (few.standard_error, few.reason) == (None, "20 segments are fewer than 30")
