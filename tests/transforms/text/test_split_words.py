"""The words of texts, against Python's `re`."""

from __future__ import annotations

import re

import pyarrow as pa
from hostile_texts import CODE_POINTS
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.text.splitting import split_words

SETTINGS = settings(deadline=None, derandomize=True, max_examples=100)


def assert_as_in_python(texts: list[str]) -> None:
    column = padded(pa.array(texts, pa.large_string()))
    assert split_words(column).tolist() == [len(re.split(r"\s+", text)) for text in texts]


def test_every_code_point():
    assert_as_in_python([f"a{point}b" for point in CODE_POINTS])


@SETTINGS
@given(st.lists(st.text(), min_size=1))
def test_any_texts(texts):
    assert_as_in_python(texts)


def test_a_null_has_no_words():
    column = pa.array(["a b", None, ""], pa.large_string())
    assert split_words(padded(column)).tolist() == [2, 0, 1]
    assert split_words(padded(column.slice(3))).tolist() == []
