"""Means of numbers against numpy: scores, standard errors and differences."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from scoring import score_of_totals

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.numbers import MeanConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.score.estimates import Estimates
from beam_bleu.transforms.statistics.counting import count_batch, prepare_counting
from beam_bleu.transforms.totals.batch_adder import totals_of_rows
from beam_bleu.transforms.totals.group_totals import GroupTotals

COMET = ValueColumn("comet")
METRIC = MeanConfig("comet")


def draw(seed: int, mean: float, deviation: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, deviation, 300)


SCALES = {
    "comet": draw(1, 0.8, 0.1),
    "around 0": draw(2, 0, 1),
    "tiny": draw(3, 1e-9, 1e-9),
    "log-probabilities": draw(4, -1e7, 1e6),
    "almost equal": 1e7 + draw(5, 0, 1e-3),
    "all equal": np.full(300, -0.25),
    "all 0": np.zeros(300),
}


def counted(*systems: np.ndarray):
    batch = SegmentBatch((), (), values={COMET: np.stack(systems)})
    return count_batch(batch, MeanConfig("comet").text, METRIC)


def totals_of(*systems: np.ndarray) -> GroupTotals:
    pairs = [("2", "1")] if len(systems) == 2 else []
    bases = [METRIC.basis]
    return totals_of_rows(counted(*systems), bases, pairs=pairs, with_products=True).metrics[0]


@pytest.mark.parametrize("values", SCALES.values(), ids=SCALES)
def test_scores_and_standard_errors_are_those_of_numpy(values: np.ndarray) -> None:
    score = score_of_totals(totals_of(values), METRIC)
    assert score.score == pytest.approx(math.fsum(values) / len(values), rel=1e-15, abs=1e-22)
    usual = statistics.stdev(map(float, values)) / math.sqrt(len(values))
    assert score.standard_error == pytest.approx(usual, rel=1e-9, abs=1e-22)
    assert score.warnings == ()


def test_a_mean_does_not_depend_on_split_and_order() -> None:
    values = SCALES["around 0"]
    shuffled = np.random.default_rng(1).permutation(values)
    first, *others = (totals_of(part) for part in np.split(shuffled, [7, 100]))
    assert sum(others, start=first).common.tolist() == totals_of(values).common.tolist()


@pytest.mark.parametrize("shift", [0.01, -3, 0])
def test_differences_are_those_of_the_differences_of_numbers(shift: float) -> None:
    one, other = SCALES["around 0"], SCALES["around 0"] + draw(6, shift, 0.2)
    found = Estimates(totals_of(one, other), METRIC).difference("2", "1")
    assert found is not None
    differences = list(map(float, other - one))
    assert found.difference == pytest.approx(statistics.fmean(differences), abs=1e-15)
    expected = statistics.stdev(differences) / math.sqrt(300)
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def test_the_scores_of_segments_are_the_numbers() -> None:
    values = np.array([[0.5, -3.25, 1e-5], [2.0, 0.0, 123456.789]])
    assert METRIC.segment_scores(counted(*values).rows(0)).tolist() == [*values.ravel()]


def test_a_batch_without_the_numbers_is_refused() -> None:
    text = MeanConfig().text
    prepare_counting(text, METRIC)
    batch = SegmentBatch((), (), values={ValueColumn("judge"): np.zeros((1, 1))})
    with pytest.raises(InputError, match="have no numbers of the column comet"):
        count_batch(batch, text, METRIC)
