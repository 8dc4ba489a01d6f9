"""Columns of numbers: which systems they are of, and what is made of their values."""

from __future__ import annotations

import decimal
import itertools
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.canonical import canonical, canonical_schema
from beam_bleu.transforms.pairing.needs import VALUE_PARTS, Role, ValueColumn
from beam_bleu.transforms.pairing.records.choosing import BOTH, choose
from beam_bleu.transforms.pairing.records.number_columns import (
    has_values,
    numbers_as_texts,
    numbers_of,
)
from beam_bleu.transforms.pairing.records.wanted import Wanted

TEXT, NUMBER = pa.large_string(), pa.float64()


SCHEMA = {
    **{"hyp_a": TEXT, "hyp_b": TEXT, "ref": TEXT, "tags": pa.list_(TEXT)},
    **{"comet_a": NUMBER, "comet_b": NUMBER, "judge_a": TEXT, "a9.x": NUMBER, "a10.x": NUMBER},
    **{"y_a10": NUMBER, "y_a9": NUMBER},
}


def chosen(
    *columns: str, roles: tuple[Role, ...] = (), **wanted: Any
) -> tuple[tuple[str, ...], list[list[str]]]:
    """The systems, and the columns of each wanted one."""
    values = tuple(map(ValueColumn, columns))
    found = choose(Wanted(values=values, **wanted), pa.schema(SCHEMA.items()), roles=roles)
    assert [value for value, _ in found.values] == list(values)
    return found.systems, [[path.text for path in paths] for _, paths in found.values]


def test_systems_are_named_after_columns_parts_of_their_names_or_candidates():
    assert chosen("comet_a", "judge_a") == (("comet_a",), [["comet_a"], ["judge_a"]])
    assert chosen("judge_a", system_name="x") == (("x",), [["judge_a"]])
    columns = [["a9.x", "a10.x"], ["y_a9", "y_a10"]]
    assert chosen("{system}.x", "y_{system}") == (("a9", "a10"), columns)
    candidates = ("b=hyp_b", "a=hyp_a")
    found = chosen("comet_{system}", roles=BOTH, candidates=candidates)
    assert found == (("b", "a"), [["comet_b", "comet_a"]])


@pytest.mark.parametrize(
    ("columns", "wanted", "message"),
    [
        (["comit"], {}, "there is no column comit (a column of numbers); the columns are: "),
        (["tags"], {}, "each value of the column tags must be a number above "),
        (["x_{system}"], {}, "no column matches x_{system} (a column of numbers)"),
        (["comet_{system}", "judge_{system}"], {}, "there is no column judge_b (a column of num"),
        (
            ["judge_a"],
            {"candidates": ("hyp_a", "hyp_b"), "roles": BOTH},
            "judge_a is a column of numbers, and each record has 2 systems: hyp_a, hyp_b; write "
            "{system} in place of the system's name",
        ),
        (
            ["comet_{system}"],
            {"system": "hyp_a", "ids": ("hyp_b",)},
            "each record has one system, that of the column hyp_a; write the name of the column "
            "without {system}",
        ),
    ],
)
def test_wrong_columns_are_errors(columns, wanted, message):
    with pytest.raises(InputError, match=re.escape(message)):
        chosen(*columns, **wanted)


def test_numbers_of_every_type_are_read():
    for column in (
        pa.array([1.5, -2.0, 0.25], pa.float32()),
        pa.array(np.array([1.5, -2.0, 0.25], np.float16)),
        pa.array([decimal.Decimal(text) for text in ("1.5", "-2", "0.25")]),
        pa.array(["1.5", "-2.", ".25"], pa.large_string()).dictionary_encode(),
    ):
        assert has_values(canonical(column).type, ValueColumn("a"))
        assert numbers(column, "number") == [1.5, -2, 0.25]
    texts = ["0.7351", "0.0003", "-0.8541", "0.3333"]
    decimals = pa.array([decimal.Decimal(text) for text in texts], pa.decimal128(10, 4))
    expected = [float(text) for text in texts]  # the nearest float of each decimal
    assert numbers_of(decimals, "number").values.tolist() == expected
    assert numbers_as_texts(decimals).equals(numbers_as_texts(pa.array(expected)))


def test_something_else_is_wrong():
    for value in (
        *("", "n/a", "True", "1,5", " 1", "1 ", "+1", "0x10", "1_0", "NaN", "nan", "inf", "1e999"),
        *(math.nan, math.inf, -math.inf, 2.0**24, -(2.0**24), 1e300, "16777216", "-16777216"),
    ):
        assert numbers([value, value], "number") == [WRONG, WRONG], value


def test_equal_numbers_have_equal_texts():
    columns = [pa.array([1, 0]), pa.array([1.0, 0.0]), pa.array([True, False])]
    texts = [numbers_as_texts(column).to_pylist() for column in columns]
    assert texts[0] == texts[1] == texts[2]
    lists = numbers_as_texts(canonical(pa.array([[1, 2], None, [3]])))
    assert lists.to_pylist() == [["1", "2"], None, ["3"]]


MISSING, WRONG = "missing", "wrong"


def numbers(values, part, kind=None):
    """The number of each value, or what is the matter with it."""
    found = numbers_of(canonical(pa.array(values, kind)), part)
    assert not (found.missing & found.wrong).any()
    assert not found.values[found.missing | found.wrong].any()
    rows = zip(found.values.tolist(), found.missing, found.wrong, strict=True)
    return [MISSING if missing else WRONG if wrong else value for value, missing, wrong in rows]


LOGARITHMS = [
    ([-1.5, -0.25], -1.75),
    ([0.0], 0),
    ([1e-6, -1.0], -1),  # a rounded 0
    ([2e-5, -1.0], WRONG),
    ([0.5], WRONG),
    ([], WRONG),
    (None, MISSING),
    ([-1.0, None], WRONG),
    ([math.nan], WRONG),
    ([-math.inf, -1.0], WRONG),
    ([-1e7] * 2, WRONG),
]


def test_lists_of_logarithms():
    values, expected = map(list, zip(*LOGARITHMS, strict=True))
    assert numbers(values, "log_probability", pa.list_(pa.float64())) == expected
    values = [row and [item and str(item) for item in row] for row in values]
    values[1] = ["-0"]
    assert numbers(values, "log_probabilities", pa.large_list(pa.large_string())) == expected


def test_logarithms_without_lists():
    values = [-1.5, 0.0, 1e-6, 0.5, None, math.nan, -math.inf, -2e7]
    assert numbers(values, "log_probability") == [-1.5, 0, 0, WRONG, MISSING, WRONG, WRONG, WRONG]
    texts = ["-1.5", "-1e-2", "many", "", "-Infinity", "NaN", None]
    assert numbers(texts, "log_probability") == [-1.5, -0.01, WRONG, WRONG, WRONG, WRONG, MISSING]


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(st.lists(st.floats(-1e5, 0), min_size=1), min_size=1))
def test_sums_are_exact_but_for_the_last_bit(lists):
    for found, items in zip(numbers(lists, "log_probability"), lists, strict=True):
        exact = sum(map(Fraction, items))
        assert abs(Fraction(found) - exact) <= abs(exact) * Fraction(1, 2**52)


def test_whole_numbers():
    values = [0, 1, 12.0, 2.5, -1, None, 2.0**24]
    assert numbers(values, "whole") == [0, 1, 12, WRONG, WRONG, MISSING, WRONG]
    assert numbers(values, "positive") == [WRONG, 1, 12, WRONG, WRONG, MISSING, WRONG]
    assert numbers(["0", "3", "3.0", "0.5", "x"], "whole") == [0, 3, 3, WRONG, WRONG]


def test_a_boolean_is_a_number_only_for_means():
    parts = [part for part in VALUE_PARTS if part != "number"]
    for part, values in itertools.product(parts, ([True, False], ["true", "false"])):
        if "number" in VALUE_PARTS[part].takes:
            assert numbers(values, part) == [WRONG, WRONG]
        if "list" in VALUE_PARTS[part].takes and part != "length":
            assert numbers([[value] for value in values], part) == [WRONG, WRONG]


def test_texts():
    texts = ["a b", " größer\u3000", "", None]
    words = [len(re.split(r"\s+", text)) for text in texts if text is not None]
    assert numbers(texts, "words") == [*words, MISSING]
    assert numbers(texts, "bytes") == [3, len(texts[1].encode()), 0, MISSING]
    column = pa.array(["x", *texts], pa.large_string()).slice(1)
    assert numbers_of(column, "bytes").values.tolist()[:3] == [3, len(texts[1].encode()), 0]


TYPES = {
    "number": [pa.int8(), pa.float32(), pa.decimal128(9, 2), pa.bool_(), pa.large_string()],
    "list": [pa.list_(pa.float32()), pa.large_list(pa.string()), pa.list_(pa.int64())],
    "text": [pa.string(), pa.binary()],
}


def test_types():
    for part, (kind, types) in itertools.product(VALUE_PARTS, TYPES.items()):
        takes = VALUE_PARTS[part].takes
        for one in types:
            (kind_read,) = canonical_schema(pa.schema([("x", one)])).types
            numbers_too = kind_read == pa.large_string() and {"number", "text"} & {*takes}
            expected = kind in takes or bool(numbers_too)
            assert has_values(kind_read, ValueColumn("x", part)) == expected, (part, kind, one)
        lists = pa.large_list(pa.large_list(pa.float64()))
        for wrong in (lists, pa.struct([("x", pa.float64())]), pa.timestamp("s")):
            assert not has_values(wrong, ValueColumn("x", part))
        assert has_values(pa.null(), ValueColumn("x", part))
