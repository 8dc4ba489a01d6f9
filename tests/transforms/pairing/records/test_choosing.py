"""The columns that are read, and what is made of those of numbers."""

from __future__ import annotations

import decimal
import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.canonical import canonical, canonical_schema
from beam_bleu.transforms.pairing.needs import VALUE_PARTS, ValueColumn
from beam_bleu.transforms.pairing.records.choosing import (
    BOTH,
    UNCLEAR,
    choice_notes,
    choose,
    has_header,
)
from beam_bleu.transforms.pairing.records.number_columns import (
    has_values,
    numbers_as_texts,
    numbers_of,
)
from beam_bleu.transforms.pairing.records.wanted import Chosen, ColumnPath, Condition, Wanted

TEXT = pa.large_string()


def schema(names: str, **others: pa.DataType) -> pa.Schema:
    """Columns of texts, and columns of other types."""
    return pa.schema([*((name, TEXT) for name in names.split()), *others.items()])


def systems(found: Chosen) -> list[tuple[str, str]]:
    return [(name, path.text) for name, path in found.candidates]


def test_columns_are_chosen_by_their_names():
    for names, wanted, candidates, expected in (
        *((f"src {name} ref", Wanted(), [name], ["ref"]) for name in ("hypothesis", "mt", "hyp")),
        ("src hyp ref10 ref2 ref0", Wanted(), ["hyp"], ["ref0", "ref2", "ref10"]),
        ("hyp refB refA", Wanted(), ["hyp"], ["refA", "refB"]),
        ("hyp refers refAB ref ref_lang Reference", Wanted(), ["hyp"], ["ref"]),
        ("b a x y", Wanted(("b", "a"), ("y", "x")), ["b", "a"], ["y", "x"]),
        ("hyp_10 hyp_2 hyp_1 hyper ref", Wanted(("hyp_*",)), ["hyp_1", "hyp_2", "hyp_10"], ["ref"]),
        ("hyp_2 hyp_1 ref", Wanted(("hyp_2", "hyp_*")), ["hyp_2", "hyp_1"], ["ref"]),
        ("a ref b", Wanted(("*",)), ["a", "b"], ["ref"]),
        ("x a=b ref", Wanted(("base=x", "a=b")), ["base=x", "a=b"], ["ref"]),
        ("hyp ref", Wanted(system_name="atlas"), ["atlas=hyp"], ["ref"]),
    ):
        found = choose(wanted, schema(names))
        named = [text if name == text else f"{name}={text}" for name, text in systems(found)]
        assert named == candidates
        assert [path.text for path in found.references] == expected
        is_told = not (wanted.candidates and wanted.references)
        assert len(choice_notes(wanted, found)) == is_told


def test_columns_that_are_unclear_or_missing_are_an_error():
    for names, wanted, message in (
        ("hyp mt ref", Wanted(), "the candidates could be the columns hyp or mt"),
        ("hyp ref0 ref1 refA", Wanted(), "could be the columns ref0, ref1 or refA"),
        ("src ref", Wanted(), "no column has one of the usual names of candidates"),
        ("src hyp", Wanted(), "no column has one of the usual names of references"),
        ("x y ref", Wanted(("x", "y"), system_name="atlas"), "several columns of candidates: x, y"),
        ("x y ref", Wanted(("same=x", "same=y")), "two systems are called same"),
        ("s1 s2 ref", Wanted(("s=s*",)), "two systems are called s"),
        ("hyp ref", Wanted(("a=hyp", "b=hyp")), "the column hyp is given twice"),
        ("hyp ref", Wanted(("missing",)), "there is no column missing .--candidate_columns."),
        ("hyp ref", Wanted(where=(Condition(ColumnPath("lp", ("lp",)), "x"),)), "lp .--where."),
        ("hyp ref", Wanted(ids=("key",)), "key .the id."),
        ("hyp ref", Wanted(("hyp[",)), "begins neither"),
    ):
        with pytest.raises(InputError, match=f"^input: .*{message}") as raised:
            choose(wanted, schema(names))
        assert raised.value.remedy


def test_columns_without_texts():
    lists = pa.large_list(TEXT)
    struct = pa.struct([("de", TEXT), ("a.b", TEXT)])
    for columns, message in (
        ({"hyp": pa.int64(), "ref": TEXT}, "hyp has no texts: it is int64"),
        ({"hyp": lists, "ref": TEXT}, r"hyp has no texts: .*or hyp\[0\]"),
        ({"hyp": TEXT, "ref0": lists, "ref1": TEXT}, "ref0 has no texts: .*ref0.0."),
        ({"hyp": TEXT, "ref": struct}, "ref has no texts: .*such as ref.NAME"),
    ):
        with pytest.raises(InputError, match=message):
            choose(Wanted(), pa.schema(columns.items()))


def test_paths_into_columns_are_chosen():
    texts = pa.struct([("refA", TEXT), ("x", TEXT)])
    wanted = Wanted(("texts.*", "tuned=y[0]"), ("texts.refA",))
    found = choose(wanted, schema("", texts=texts, y=pa.large_list(TEXT)))
    assert systems(found) == [("texts.x", "texts.x"), ("tuned", "y[0]")]


def test_names_that_mean_opposite_things_are_never_taken():
    pairs = (("hyp", "references"), ("ref", "candidates"))
    for name, (other, role) in itertools.product(UNCLEAR, pairs):
        with pytest.raises(InputError, match=f"usual names of {role}") as raised:
            choose(Wanted(), schema(f"source {name} {other}"))
        assert f"the columns are: source, {name}, {other}" in raised.value.remedy


def test_columns_by_number():
    columns = schema("src x 7")
    found = choose(Wanted(("2",), ("7",)), columns, numbered=True)
    assert found.candidates[0][1].steps == (1,)
    assert found.references[0].steps == (2,)  # a name is taken before a number
    for wrong in ("0", "4"):
        with pytest.raises(InputError, match=f"there is no column {wrong} "):
            choose(Wanted((wrong,), ("1",)), columns, numbered=True)
    with pytest.raises(InputError, match="the column x is given"):
        choose(Wanted(("2",), ("x",)), columns, numbered=True)
    with pytest.raises(InputError, match="there is no column 2"):
        choose(Wanted(("2",), ("src",)), columns)


def test_two_columns_with_one_name():
    columns = pa.schema([("hyp", TEXT), ("hyp", TEXT), ("ref", TEXT), ("x", TEXT), ("x", TEXT)])
    with pytest.raises(InputError, match="2 columns are called hyp"):
        choose(Wanted(), columns)
    found = choose(Wanted(("2",)), columns, numbered=True)
    assert found.candidates[0][1].steps == (1,)  # x, which nobody asks for, may be there twice


def test_names_need_a_header_and_numbers_do_not():
    for wanted, header in (
        (Wanted(), True),
        (Wanted(("1",), ("2",)), False),
        (Wanted(("a=1", "3"), ("2",)), False),
        (Wanted(("hyp",), ("2",)), True),
        (Wanted(("1",), ("2",), labels=("domain",)), True),
        (Wanted(("1",), ("2",), labels=("3",)), False),
        (Wanted(("1",), ("2",), where=(Condition(ColumnPath("a", ("a",)), "x"),)), True),
    ):
        assert has_header(wanted) == header


NUMBER = pa.float64()
SCHEMA = {
    **{"hyp_a": TEXT, "hyp_b": TEXT, "ref": TEXT, "tags": pa.list_(TEXT)},
    **{"comet_a": NUMBER, "comet_b": NUMBER, "judge_a": TEXT, "a9.x": NUMBER, "a10.x": NUMBER},
    **{"y_a10": NUMBER, "y_a9": NUMBER},
}


def chosen(*columns, roles=(), **wanted):
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


def test_wrong_columns_are_errors():
    for columns, wanted, message in (
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
    ):
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


@settings(max_examples=40)
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
    assert numbers(texts, "words") == [2, 3, 1, MISSING]
    assert numbers(texts, "bytes") == [3, len(texts[1].encode()), 0, MISSING]
    column = pa.array(["x", *texts], pa.large_string()).slice(1)
    assert numbers_of(column, "bytes").values.tolist()[:3] == [3, len(texts[1].encode()), 0]


def test_types():
    number, texts = "number", {"number", "text"}  # numbers can be texts
    lists = pa.large_list(pa.large_list(pa.float64()))
    for kind, taken in (
        *((kind, {number}) for kind in (pa.int8(), pa.float32(), pa.decimal128(9, 2), pa.bool_())),
        *((kind, {"list"}) for kind in (pa.list_(pa.float32()), pa.large_list(pa.string()))),
        *((kind, texts) for kind in (pa.string(), pa.large_string(), pa.binary())),
        *((kind, set()) for kind in (lists, pa.struct([("x", pa.int8())]), pa.timestamp("s"))),
        (pa.null(), {"number", "list", "text"}),
    ):
        (read,) = canonical_schema(pa.schema([("x", kind)])).types
        for part in VALUE_PARTS:
            expected = bool(taken & {*VALUE_PARTS[part].takes})
            assert has_values(read, ValueColumn("x", part)) == expected, (part, kind)
