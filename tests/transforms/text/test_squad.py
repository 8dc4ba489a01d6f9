"""The words of exact match and token F1 are those of SQuAD's evaluation."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hostile_texts import CODE_POINTS, FRAGMENTS, WORDS
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.splitting import splittable
from beam_bleu.transforms.text.text import Text
from benchmarks.speed.squad_evaluation import normalize_answer

ARTICLES = ["a", "an", "the", "A", "The", "AN", "tHe", "then", "ana", "aa", "th", "e", "n"]
AROUND = [*"_'’-.9é\u0301中²\xa0\x85 Ａﬁİ"]


def normalized(texts: Sequence[str | None], name: str = "squad") -> list[str | None]:
    columns = TextColumns([padded(pa.array(texts, pa.large_string()))])
    (changed,) = splittable(columns, Text(name, lowercase=True), 1).columns
    texts_or_none: list[str | None] = changed.to_pylist()
    return texts_or_none


def assert_equal_to_squad(texts: Sequence[str], name: str = "squad") -> None:
    for text, found in zip(texts, normalized(texts, name), strict=True):
        assert found == normalize_answer(text), repr(text)


@pytest.mark.parametrize("name", ["squad", "squad-whole"])
def test_hostile_text(name):
    rng = random.Random(name)
    pieces = [*FRAGMENTS, *WORDS, *ARTICLES * 6, *AROUND * 4, *[" "] * 60]
    assert_equal_to_squad(
        ["".join(rng.choices(pieces, k=rng.randrange(14))) for _ in range(3000)], name
    )


def test_articles_between_all_code_points():
    # Python's \\w decides where an article begins and ends.
    rng = random.Random(1)
    assert_equal_to_squad([f"{point}{rng.choice(ARTICLES)}{point} x" for point in CODE_POINTS])


@given(st.lists(st.one_of(st.text(), st.text(alphabet=[*"aAnthe_'-. 9é’\u0301𝒳"]))))
def test_any_text(texts):
    texts = [re.sub("[\ud800-\udfff]", "", text) for text in texts]
    assert_equal_to_squad(texts)
