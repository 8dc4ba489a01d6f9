"""Formulas give their own gradients, against the rules of calculus."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.metrics.differentiation import exp, gradient, log

POSITIVE = st.integers(1, 10**30)
SETTINGS = settings(deadline=None, derandomize=True, max_examples=50)


@SETTINGS
@given(POSITIVE, POSITIVE)
def test_every_operation_has_its_derivative_and_the_number_of_plain_numbers(x, y):
    formulas = {
        lambda x, y: 2 + x + y + 1: (1, 1),
        lambda x, y: 2 - (x - y - 1): (-1, 1),
        lambda x, y: 2 * x * y * 0.5: (y, x),
        lambda x, y: 3 * x / y / 4: (3 / y / 4, -3 * x / y**2 / 4),
        lambda x, y: 5 / x / y: (-5 / x**2 / y, -5 / x / y**2),
        lambda x, y: log(x / y): (1 / x, -1 / y),
        lambda x, y: exp(1 - x / (x + y)): (
            -math.exp(1 - x / (x + y)) * y / (x + y) ** 2,
            math.exp(1 - x / (x + y)) * x / (x + y) ** 2,
        ),
    }
    for formula, slopes in formulas.items():
        value, found = gradient(lambda point, formula=formula: formula(*point), (x, y))
        assert value == formula(x, y)  # to the last bit
        assert found == pytest.approx(slopes, rel=1e-12)


@SETTINGS
@given(POSITIVE)
def test_comparisons_do_not_round(x):
    def compared(point):
        (y,) = point
        assert y == x
        assert y != x + 1
        assert y >= x
        assert y > x - 1
        assert not y >= x + 1
        assert not y > x
        return y

    assert gradient(compared, (x,)) == (x, (1,))


def test_what_is_0_stays_a_plain_number():
    assert gradient(lambda point: point[0] * point[1], (0, 3)) == (0, (0, 0))
    assert gradient(lambda point: point[1] + point[0], (0, 3)) == (3, (0, 1))
