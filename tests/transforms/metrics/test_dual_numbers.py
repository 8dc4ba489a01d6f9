"""Numbers that carry their derivatives along, against rules of calculus in fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.metrics.dual_numbers import Dual, Exponential, exp, log

POSITIVE = st.integers(1, 10**30)
SETTINGS = settings(deadline=None, derandomize=True, max_examples=50)


def slopes(number):
    return {key: Fraction(slope, number.denominator) for key, slope in number.slopes.items()}


@SETTINGS
@given(POSITIVE, POSITIVE)
def test_slopes_are_exact(x, y):
    one, two = Dual.variable(0, x), Dual.variable(1, y)
    quotient = (2 * one + 1) / (two * two - 0.5)  # the float is a half exactly
    divisor = Fraction(y) ** 2 - Fraction(1, 2)
    assert Fraction(quotient.numerator, quotient.denominator) == (2 * x + 1) / divisor
    assert slopes(quotient) == {0: 2 / divisor, 1: -(2 * x + 1) * 2 * y / divisor**2}
    assert slopes(1 - 3 / one) == {0: Fraction(3, x * x)}
    assert slopes(log(one / two)) == {0: Fraction(1, x), 1: Fraction(-1, y)}
    assert log(one / two).value == pytest.approx(math.log(x / y))


@SETTINGS
@given(POSITIVE, POSITIVE)
def test_the_logarithm_of_exponential_functions_has_exact_slopes(x, y):
    one, two = Dual.variable(0, x), Dual.variable(1, y)
    product = 100 * exp(1 - one / y) * exp(0.25 * log(two) / 2)
    assert isinstance(product, Exponential)
    assert slopes(product.exponent) == {0: Fraction(-1, y), 1: Fraction(1, 8 * y)}


@SETTINGS
@given(POSITIVE)
def test_comparisons_do_not_round(x):
    one = Dual.variable(0, x)
    assert one == x
    assert one != x + 1
    assert one >= x
    assert not one >= x + 1
    assert one > x - 1
    assert not one > x
    assert one / 3 > Fraction(3 * x - 1, 9)


def test_a_product_with_a_logarithm_says_that_it_has_no_exact_slopes():
    one = Dual.variable(0, 5)
    for number in (one * log(one), 1 / log(one), log(log(one)), one + one * log(one)):
        assert number.slopes is None
    assert (2 / log(one)).value == pytest.approx(2 / math.log(5))


def test_plain_numbers_stay_plain():
    assert (log(2), exp(2)) == (math.log(2), math.exp(2))
