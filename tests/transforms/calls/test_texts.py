"""Texts in every form have the same scores, and what is not a text is refused with its place."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu.transforms.calls import _text_lists as text_lists
from beam_bleu.transforms.calls import _texts as texts

TEXTS = ["the cat", "über 日本語 😀", "", "a b c"]
LISTS: list[list[str | None]] = [["the cat", None], ["x"], ["", "y", "z"], [None, "a b d"]]


def sliced(texts: list[Any], kind: Any) -> pa.Array:
    return pa.array(["before", *texts, "after"], kind)[1:-1]


FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "string": lambda texts: pa.array(texts, pa.string()),
    "large string": lambda texts: pa.array(texts, pa.large_string()),
    "string view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "chunks": lambda texts: pa.chunked_array([texts[:1], [], texts[1:]], pa.string()),
    "slice": lambda texts: sliced(texts, pa.string()),
    "numpy objects": lambda texts: np.array(texts, object),
}
OF_COMPLETE = {
    "numpy str": np.array,
    "numpy StringDType": lambda texts: np.array(texts, np.dtypes.StringDType()),
    "str of numpy": lambda texts: [*map(np.str_, texts)],
}


def test_texts_in_every_form():
    for form in {**FORMS, **OF_COMPLETE}:
        column = texts({**FORMS, **OF_COMPLETE}[form](TEXTS), "texts")
        assert column.to_pylist() == TEXTS
        assert column.type == pa.large_string()


def test_none_is_a_missing_text():
    for form in FORMS:
        assert texts(FORMS[form](["a", None]), "texts").to_pylist() == ["a", None]


LIST_FORMS: dict[str, Callable[[], Any]] = {
    "lists": lambda: LISTS,
    "tuples": lambda: tuple(map(tuple, LISTS)),
    "list array": lambda: pa.array(LISTS, pa.list_(pa.string())),
    "slice": lambda: pa.array([["q"], *LISTS, ["q"]], pa.large_list(pa.string_view()))[1:-1],
    "chunks": lambda: pa.chunked_array([LISTS[:2], LISTS[2:]], pa.list_(pa.large_string())),
    "arrays": lambda: [np.array(texts, object) for texts in LISTS],
}


def test_lists_in_every_form():
    for form in LIST_FORMS:
        assert text_lists(LIST_FORMS[form](), "lists").to_pylist() == LISTS


NO_TEXTS = [
    (
        ["a", b"b"],
        r"texts\[1\] must be Unicode text, got b'b', of type bytes; decode bytes",
    ),
    (
        ["a", math.nan],
        r"texts\[1\] must be Unicode text, got nan, of type float; .*pandas",
    ),
    (["a", "b\ud800c"], r"texts\[1\] must be Unicode text"),
    (
        np.array([["a"]]),
        r"texts\[0\] must be Unicode text, got \['a'\], of type list",
    ),
    (pa.array([1, 2]), "the column 'texts' must have strings, but its type is int64"),
    (
        pa.array([b"\xff"]).view(pa.string()),
        "the column 'texts' is not valid: .*[Ii]nvalid UTF",
    ),
]


def test_what_is_not_a_text_is_refused():
    for values, message in NO_TEXTS:
        with pytest.raises(ValueError, match=message):
            texts(values, "texts")


def test_what_has_no_order_or_one_value_is_refused():
    for values in ["a", {"a"}, {"a": "b"}, None, np.array("a")]:
        with pytest.raises(ValueError, match="texts must be "):
            texts(values, "texts")


NO_LISTS = [
    ([["a"], "b"], r"lists\[1\] must be a list of texts, got 'b', of type str; lists= takes"),
    (
        [["a"], [], ["b", b"c"]],
        r"lists\[2\]\[1\] must be Unicode text, got b'c'",
    ),
    (pa.array(["a"]), "the column 'lists' must have lists of strings"),
]


def test_what_is_not_a_list_of_texts_is_refused():
    for lists, message in NO_LISTS:
        with pytest.raises(ValueError, match=message):
            text_lists(lists, "lists")


@pytest.mark.libraries
class TestPandas:
    """The texts of a Series."""

    @pytest.fixture
    def pandas(self) -> Any:
        return importlib.import_module("pandas")

    def test_series_of_every_type(self, pandas):
        for kind in (object, "string", "category", pandas.ArrowDtype(pa.string())):
            series = pandas.Series(TEXTS, dtype=kind, index=[5, 6, 7, 8])
            assert texts(series, "texts").to_pylist() == TEXTS
        assert texts(pandas.Index(TEXTS), "texts").to_pylist() == TEXTS
        assert text_lists(pandas.Series(LISTS), "lists").to_pylist() == LISTS

    def test_missing_values_of_pandas_are_refused(self, pandas):
        series = pandas.Series(["a", math.nan], dtype="string")
        message = r"texts\[1\] must be Unicode text, got .*by '' or None"
        with pytest.raises(ValueError, match=message):
            texts(series, "texts")

    def test_none_in_a_series_of_objects_is_missing(self, pandas):
        series = pandas.Series(["a", None], dtype=object)
        assert texts(series, "texts").to_pylist() == ["a", None]
