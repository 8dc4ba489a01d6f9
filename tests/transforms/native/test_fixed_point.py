"""Values as integers of fixed point, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.metrics.dual_numbers import Dual
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.fixed_point import (
    LOW_BITS,
    fixed_point,
    fixed_point_is_possible,
    fixed_point_mean,
)

SETTINGS = settings(deadline=None, derandomize=True, max_examples=100)
VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=50)
ROUNDING = Fraction(1, 2**49)


@compiled
def in_compiled_code(value):
    return fixed_point(value)


def columns_of(values):
    return np.array([in_compiled_code(value) for value in values]).T


@SETTINGS
@given(VALUES)
@example([0.0, 1.0])
@example([5e-324, 2.0**-49, 3 * 2.0**-49, 0.49999999999999994 / 2**48])
def test_the_mean_is_that_of_the_values_up_to_the_rounding(values):
    high, low = columns_of(values)
    assert high.max() <= 2**LOW_BITS
    assert low.max() < 2**LOW_BITS
    for value, *columns in zip(values, high.tolist(), low.tolist(), strict=True):
        assert tuple(columns) == fixed_point.function(value), "Python and compiled code differ"
        assert abs(Fraction(columns[0] * 2**LOW_BITS + columns[1], 2**48) - Fraction(value)) <= (
            ROUNDING
        )
    sums, count = (int(high.sum()), int(low.sum())), len(values)
    mean = fixed_point_mean(*sums, count)
    assert abs(Fraction(mean) - sum(map(Fraction, values)) / count) <= ROUNDING + Fraction(1, 2**53)
    dual = fixed_point_mean(*(Dual.variable(i, column) for i, column in enumerate((*sums, count))))
    assert dual.value == mean


@SETTINGS
@given(VALUES)
def test_sums_of_values_are_possible(values):
    high, low = columns_of(values).sum(axis=1)
    count = np.array(len(values))
    assert fixed_point_is_possible(high, low, count)
    many = [np.array([int(column) * 10**20], object) for column in (high, low, count)]
    assert fixed_point_is_possible(*many)


@pytest.mark.parametrize(
    ("high", "low", "count"),
    [(2**24 + 1, 0, 1), (0, 2**24, 1), (2**24, 1, 1), (2**40 + 1, 0, 2**16), (1, 0, 0)],
)
def test_other_sums_are_not(high, low, count):
    assert not fixed_point_is_possible(*np.array([high, low, count])[:, np.newaxis])
