"""Numbers in columns of records: of every type, and what is none."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu.transforms.pairing.canonical import canonical
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.records.number_columns import (
    has_values,
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
    column = canonical(column)
    assert has_values(column.type, ValueColumn("a"))
    numbers = numbers_of(column, "number")
    assert numbers.values.tolist() == [1.5, -2, 0.25]
    assert not (numbers.missing | numbers.wrong).any()


def test_a_decimal_is_the_nearest_float() -> None:
    texts = ["0.7351", "0.0003", "-0.8541", "0.3333"]
    decimals = pa.array([decimal.Decimal(text) for text in texts], pa.decimal128(10, 4))
    expected = [float(text) for text in texts]
    assert numbers_of(decimals, "number").values.tolist() == expected
    assert numbers_as_texts(decimals).equals(numbers_as_texts(pa.array(expected)))


@pytest.mark.parametrize(
    "value",
    [
        *("", "n/a", "True", "1,5", " 1", "1 ", "+1", "0x10", "1_0", "NaN", "nan", "inf", "1e999"),
        *(math.nan, math.inf, -math.inf, 2.0**24, -(2.0**24), 1e300),
        *("16777216", "-16777216"),
    ],
)
def test_something_else_is_wrong(value: Any) -> None:
    numbers = numbers_of(canonical(pa.array([value, value])), "number")
    assert numbers.wrong.all()
    assert not numbers.missing.any()
    assert not numbers.values.any()


def test_equal_numbers_have_equal_texts() -> None:
    columns = [pa.array([1, 0]), pa.array([1.0, 0.0]), pa.array([True, False])]
    texts = [numbers_as_texts(column).to_pylist() for column in columns]
    assert texts[0] == texts[1] == texts[2]
    lists = numbers_as_texts(canonical(pa.array([[1, 2], None, [3]])))
    assert lists.to_pylist() == [["1", "2"], None, ["3"]]
