"""Values as integers of fixed point, against fractions."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.fixed_point import (
    LOW_BITS,
    VALUE_BOUND,
    VALUE_ONE,
    fixed_point,
    fixed_point_mean,
    value_columns,
    value_sum,
)

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=50)
ROUNDING = Fraction(1, 2**49)


@compiled
def in_compiled_code(value):
    return fixed_point(value)


def columns_of(values):
    return np.array([in_compiled_code(value) for value in values]).T


@settings(max_examples=50)
@given(VALUES)
@example([0.0, 1.0])
@example([5e-324, 2.0**-49, 3 * 2.0**-49, 0.49999999999999994 / 2**48])
def test_the_mean_is_that_of_the_values_up_to_the_rounding(values):
    high, low = columns_of(values)
    assert high.max() <= 2**LOW_BITS
    assert low.max() < 2**LOW_BITS
    for value, *columns in zip(values, high.tolist(), low.tolist(), strict=True):
        assert tuple(columns) == fixed_point.function(value), "Python and compiled code differ"
        exact = Fraction(columns[0] * 2**LOW_BITS + columns[1], 2**48)
        assert abs(exact - Fraction(value)) <= ROUNDING
    sums, count = (int(high.sum()), int(low.sum())), len(values)
    mean = fixed_point_mean(*sums, count)
    assert abs(Fraction(mean) - sum(map(Fraction, values)) / count) <= ROUNDING + Fraction(1, 2**53)


LARGER = st.lists(st.floats(0, math.nextafter(VALUE_BOUND, 0)), min_size=1, max_size=50)
LARGER_ROUNDING = Fraction(1, 2 * VALUE_ONE)


@settings(max_examples=50)
@given(LARGER)
@example([0.0, -0.0, 1.0, math.nextafter(VALUE_BOUND, 0)])
@example([5e-324, 2.0**-73, 3 * 2.0**-73, 1e-9, math.nextafter(1, 0) * 2.0**-48])
def test_the_sum_of_larger_values_is_theirs_up_to_the_rounding(values):
    columns = value_columns(np.array(values))
    assert columns.min() >= 0
    assert (columns.max(axis=0) <= 2**LOW_BITS).all()
    for value, of_value in zip(values, columns.tolist(), strict=True):
        rounding = abs(Fraction(value_sum(of_value), VALUE_ONE) - Fraction(value))
        assert rounding <= (LARGER_ROUNDING if value < 2**-20 else 0)
    total = Fraction(value_sum(columns.sum(axis=0).tolist()), VALUE_ONE)
    assert abs(total - sum(map(Fraction, values))) <= len(values) * LARGER_ROUNDING
