"""The numbers that are made of the values of columns, and which values are wrong."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.canonical import canonical, canonical_type
from beam_bleu.transforms.pairing.needs import VALUE_PARTS, ValueColumn
from beam_bleu.transforms.pairing.records.number_columns import has_values, numbers_of

SETTINGS = settings(deadline=None, derandomize=True, max_examples=100)

MISSING, WRONG = "missing", "wrong"


def numbers(values, part, kind=None):
    """The number of each value, or what is the matter with it."""
    found = numbers_of(canonical(pa.array(values, kind)), part)
    assert not (found.missing & found.wrong).any()
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


@pytest.mark.parametrize("part", ["log_probability", "log_probabilities"])
@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.large_string())])
def test_lists_of_logarithms(part, kind):
    values, expected = map(list, zip(*LOGARITHMS, strict=True))
    if kind.value_type == pa.large_string():
        values = [row and [item and str(item) for item in row] for row in values]
        values[1] = ["-0"]
    assert numbers(values, part, kind) == expected


def test_logarithms_without_lists():
    values = [-1.5, 0.0, 1e-6, 0.5, None, math.nan, -math.inf, -2e7]
    assert numbers(values, "log_probability") == [-1.5, 0, 0, WRONG, MISSING, WRONG, WRONG, WRONG]
    texts = ["-1.5", "-1e-2", "many", "", "-Infinity", "NaN", None]
    assert numbers(texts, "log_probability") == [-1.5, -0.01, WRONG, WRONG, WRONG, WRONG, MISSING]


@SETTINGS
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


@pytest.mark.parametrize("part", [part for part in VALUE_PARTS if part != "number"])
def test_a_boolean_is_a_number_only_for_means(part):
    for values in ([True, False], ["true", "false"]):
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


@pytest.mark.parametrize("part", VALUE_PARTS)
def test_types(part):
    for kind, types in TYPES.items():
        for one in types:
            both = canonical_type(one) == pa.large_string()  # numbers can be texts
            expected = kind in VALUE_PARTS[part].takes or (
                both and not {"number", "text"}.isdisjoint(VALUE_PARTS[part].takes)
            )
            assert has_values(canonical_type(one), ValueColumn("x", part)) == expected, (kind, one)
    assert not has_values(pa.large_list(pa.large_list(pa.float64())), ValueColumn("x", part))
    assert not has_values(pa.struct([("x", pa.float64())]), ValueColumn("x", part))
    assert not has_values(pa.timestamp("s"), ValueColumn("x", part))
    assert has_values(pa.null(), ValueColumn("x", part))
