"""Numbers in columns of records: of every type, and what is none."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.records.columns.numbers import (
    has_numbers,
    numbers_as_texts,
    numbers_of,
)

COLUMNS = [
    pa.array([1.5, -2.0, 0.25]),
    pa.array([1.5, -2.0, 0.25], pa.float32()),
    pa.array(np.array([1.5, -2.0, 0.25], np.float16)),
    pa.array([decimal.Decimal(text) for text in ("1.5", "-2", "0.25")]),
    pa.array(["1.5", "-2", "25e-2"]),
    pa.array(["1.5", "-2.", ".25"], pa.large_string()).dictionary_encode(),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_numbers_of_every_type_are_read(column: pa.Array) -> None:
    assert has_numbers(column.type, lists=False)
    numbers = numbers_of(column, "number")
    assert numbers.values.tolist() == [1.5, -2, 0.25]
    assert not (numbers.missing | numbers.wrong).any()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([True, False]), [1, 0]),
        (pa.array(["true", "false"]), [1, 0]),
        (pa.array([2**53 + 1 - 2**53, -7], pa.int8()), [1, -7]),
    ],
)
def test_a_boolean_is_1_or_0(column: pa.Array, expected: list[float]) -> None:
    assert numbers_of(column, "number").values.tolist() == expected


@pytest.mark.parametrize(
    "value",
    [
        *("", "n/a", "True", "1,5", " 1", "1 ", "+1", "0x10", "1_0", "NaN", "nan", "inf", "1e999"),
        *(math.nan, math.inf, -math.inf, 2.0**24, -(2.0**24), 1e300),
        *("16777216", "-16777216"),
    ],
)
def test_something_else_is_wrong(value: Any) -> None:
    numbers = numbers_of(pa.array([value, value]), "number")
    assert numbers.wrong.all()
    assert not numbers.missing.any()
    assert not numbers.values.any()


@pytest.mark.parametrize(
    "column", [pa.nulls(2), pa.array([None, None], pa.float64()), pa.array([[], [1, None]])]
)
def test_null_is_missing(column: pa.Array) -> None:
    assert numbers_of(column, "sum").missing.all()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20), min_size=1, max_size=5))
@example([[1e16 / 1e10, 1.0, -1e16 / 1e10], [0.1] * 10])
def test_a_list_has_a_sum_and_a_length(lists: list[list[float]]) -> None:
    for column in (pa.array(lists), pa.array([list(map(repr, row)) for row in lists])):
        sums, counts = numbers_of(column, "sum"), numbers_of(column, "count")
        for row, total, count in zip(lists, sums.values, counts.values, strict=True):
            exact = sum(map(Fraction, row))
            largest = max(map(abs, row))
            assert abs(Fraction(float(total)) - exact) <= Fraction(largest) / 2**52 + abs(
                exact
            ) / Fraction(2**53)
            assert count == len(row)


def test_a_sum_can_be_too_large_although_no_number_is() -> None:
    assert numbers_of(pa.array([[1e7, 1e7], [1e7, -1e7]]), "sum").wrong.tolist() == [True, False]


@pytest.mark.parametrize(
    ("kind", "one", "lists"),
    [
        (pa.float64(), True, True),
        (pa.large_string(), True, True),
        (pa.bool_(), True, True),
        (pa.null(), True, True),
        (pa.list_(pa.float32()), False, True),
        (pa.list_(pa.list_(pa.float32())), False, False),
        (pa.timestamp("s"), False, False),
        (pa.struct([("a", pa.float64())]), False, False),
        (pa.binary(), False, False),
    ],
    ids=str,
)
def test_which_types_have_numbers(kind: pa.DataType, one: bool, lists: bool) -> None:
    assert has_numbers(kind, lists=False) == one
    assert has_numbers(kind, lists=True) == lists


def test_equal_numbers_have_equal_texts() -> None:
    columns = [pa.array([1, 0]), pa.array([1.0, 0.0]), pa.array([True, False])]
    texts = [numbers_as_texts(column).to_pylist() for column in columns]
    assert texts[0] == texts[1] == texts[2]
    lists = numbers_as_texts(pa.array([[1, 2], None, [3]]))
    assert lists.to_pylist() == [["1", "2"], None, ["3"]]


def test_an_unknown_part_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"part must be one of number, .*, got 'mean'"):
        ValueColumn("a", "mean")  # type: ignore[arg-type]
