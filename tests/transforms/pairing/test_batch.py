"""Batches of files have about the same number of rows; which labels are missing in them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.batch import even_rows, usual_rows
from beam_bleu.transforms.pairing.canonical import label_column, without_blanks
from beam_bleu.transforms.pairing.line_parallel.corpus import ENDLESS


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 10**9) | st.just(ENDLESS), st.integers(2, 100_000))
def test_no_batch_is_much_larger_or_smaller_than_usual(lines, columns) -> None:
    rows, usual = even_rows(lines, columns), usual_rows(columns)
    full, rest = divmod(lines, rows)
    assert 1 <= rows < usual * 9 / 8 + 1
    assert full >= 1
    # The last batch has fewer rows than the others: at most one less for each of them.
    assert not rest or rows - rest <= full + 1
    if lines > 2 * usual:
        assert rows > usual / 2


TEXTS = ["a", "", " \t", "\u00a0\u3000", None, " a", "NaN", "null"]
NAMED = ["a", None, None, None, None, " a", "NaN", "null"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_text_without_a_visible_character_names_nothing(kind: pa.DataType) -> None:
    texts = pa.array(TEXTS, kind)
    assert without_blanks(texts).to_pylist() == NAMED
    for column in (texts, texts.dictionary_encode()):
        labels = label_column(column)
        assert labels.to_pylist() == NAMED
        assert labels.type == pa.dictionary(pa.int32(), pa.string())
        assert not labels.dictionary.null_count


def test_a_null_in_the_dictionary_is_a_null_of_the_segment() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["a", None]))
    labels = label_column(column)
    assert labels.to_pylist() == [None, "a", None]
    assert labels.indices.to_pylist() == [None, 0, None]
