"""Which labels are missing in batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from beam_bleu.transforms.pairing.canonical import label_column, without_blanks

TEXTS = ["a", "", " \t", "\u00a0\u3000", None, " a", "NaN", "null"]
NAMED = ["a", None, None, None, None, " a", "NaN", "null"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_text_without_a_visible_character_names_nothing(kind):
    texts = pa.array(TEXTS, kind)
    assert without_blanks(texts).to_pylist() == NAMED
    for column in (texts, texts.dictionary_encode()):
        labels = label_column(column)
        assert labels.to_pylist() == NAMED
        assert labels.type == pa.dictionary(pa.int32(), pa.string())
        assert not labels.dictionary.null_count


def test_a_null_in_the_dictionary_is_a_null_of_the_segment():
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["a", None]))
    labels = label_column(column)
    assert labels.to_pylist() == [None, "a", None]
    assert labels.indices.to_pylist() == [None, 0, None]
