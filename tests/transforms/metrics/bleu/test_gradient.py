"""The gradient is that of the formula, for every way to configure it."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_units import made_units

from beam_bleu.transforms.metrics.bleu.columns import (
    CANDIDATE_LENGTH,
    FIRST_MATCHES,
    REFERENCE_LENGTHS,
    SHORTEST,
    width,
)
from beam_bleu.transforms.metrics.bleu.formula import CORPUS_SMOOTH_METHODS, SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.differentiation import gradient


@st.composite
def definitions(draw):
    smooth_method = draw(st.sampled_from(CORPUS_SMOOTH_METHODS))
    orders = draw(st.integers(1, 5))
    method = SMOOTH_METHODS[smooth_method]
    weight = st.sampled_from([0.0, 0.1, 1 / 3, 0.25, 1, 2])
    values = [None] if method.value is None else [None, 0, 0.3, 2]
    return BleuConfig(
        smooth_method=smooth_method,
        smooth_value=draw(
            st.sampled_from([each for each in values if each or not method.divides_by_value])
        ),
        max_ngram_order=orders,
        effective_order=method.takes_effective_order and draw(st.booleans()),
        reference_length=draw(st.sampled_from(list(REFERENCE_LENGTHS))),
        weights=draw(st.none() | st.tuples(*[weight] * orders).filter(any)),
    )


UNITS = st.builds(
    made_units,
    st.integers(5, 20),
    st.just(5),
    seed=st.integers(0, 1000),
    longest=st.sampled_from([3, 12]),
    ratio=st.sampled_from([0.7, 1.3]),
    matching=st.just(0.9),
)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(definitions(), UNITS)
def test_it_is_the_derivative_of_the_score(config, rows):
    sums = tuple(np.sum(rows, axis=0).tolist())
    whole = config.parts(sums)
    # Near the corner of the brevity penalty a numerical derivative sees both sides.
    assume(abs(whole["ratio"] - 1) > 0.01)
    if config.why_no_gradient(sums):
        weights = config.weights or (1.0,) * config.max_ngram_order
        assert 0 in [each for each, weight in zip(whole["matches"], weights, strict=True) if weight]
        return
    score, slopes = gradient(config.value, sums)
    assert score == whole["score"]  # to the last bit
    if config.effective_order:  # otherwise a small change would make a longer order count
        orders = sum(map(bool, whole["totals"]))
        config = dataclasses.replace(
            config,
            effective_order=False,
            max_ngram_order=orders,
            weights=config.weights and config.weights[:orders],
        )
    for column in filter(sums.__getitem__, range(width(5))):
        expected = score * numerical(sums, column, config)
        assert slopes[column] == pytest.approx(expected, rel=1e-5, abs=1e-7)


def numerical(sums, column, config):
    """The derivative of log BLEU by differences of the real formula."""
    step = 1e-4 * sums[column]

    def log_score(change):
        moved = [*sums[:column], sums[column] + change, *sums[column + 1 :]]
        return math.log(config.value(moved))

    near, far = (log_score(more) - log_score(-more) for more in (step, 2 * step))
    return (8 * near - far) / (12 * step)


def test_at_the_corner_of_the_brevity_penalty_it_is_that_of_longer_candidates():
    sums = np.sum(made_units(30), axis=0).tolist()
    config = BleuConfig(reference_length="shortest")
    sums[SHORTEST] = sums[CANDIDATE_LENGTH]
    assert gradient(config.value, sums)[1][SHORTEST] == 0
    sums[SHORTEST] += 1
    assert gradient(config.value, sums)[1][SHORTEST] < 0


def test_without_a_match_of_an_order_that_counts_there_is_none():
    sums = np.sum(made_units(30), axis=0).tolist()
    sums[FIRST_MATCHES + 3] = 0
    for smooth_method in CORPUS_SMOOTH_METHODS:
        reason = BleuConfig(smooth_method=smooth_method).why_no_gradient(sums)
        assert reason == "no 4-gram of a candidate is in its references"
        without = BleuConfig(smooth_method=smooth_method, weights=(0.5, 0.25, 0.25, 0.0))
        assert not without.why_no_gradient(sums)
        assert any(gradient(without.value, sums)[1])
