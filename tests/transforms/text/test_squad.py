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
from beam_bleu.transforms.text.squad import SQUAD_TOKENIZERS
from beam_bleu.transforms.text.text import Text
from benchmarks.speed.squad_evaluation import normalize_answer

ARTICLES = ["a", "an", "the", "A", "The", "AN", "tHe", "then", "ana", "aa", "th", "e", "n"]
AROUND = [
    "_",
    "'",
    "’",
    "-",
    ".",
    "9",
    "é",
    "\u0301",
    "中",
    "²",
    "\xa0",
    "\x85",
    " ",
    "Ａ",
    "ﬁ",
    "İ",
]


def normalized(texts: Sequence[str | None], name: str = "squad") -> list[str | None]:
    columns = TextColumns([padded(pa.array(texts, pa.large_string()))])
    (changed,) = splittable(columns, Text(name, lowercase=True), 1).columns
    texts_or_none: list[str | None] = changed.to_pylist()
    return texts_or_none


def assert_equal_to_squad(texts: Sequence[str], name: str = "squad") -> None:
    for text, found in zip(texts, normalized(texts, name), strict=True):
        assert found == normalize_answer(text), repr(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("The cat.", "cat"),
        ("a the an", ""),
        ("The U.S.A.", "usa"),
        ("the_", ""),  # the underscore is a punctuation mark
        ("a's", "as"),  # one word, and no article
        ("the9", "the9"),
        ("t-h-e end", "end"),  # an article as soon as the marks are gone
        ("a’s", "’s"),  # this mark is not ASCII: it stays, and a is a word of its own
        ("the\xa0end\x85a", "end"),
        ("Ａ", "ａ"),
        ("İ a\u0301", "i\u0307 \u0301"),  # a combining mark is no word character
        ("ﬁ the中", "ﬁ the中"),
        ("a²", "a²"),
        ("\0a\0", "\0 \0"),
    ],
)
def test_cases(text, expected):
    assert normalized([text]) == [normalize_answer(text)] == [expected]


@pytest.mark.parametrize("name", SQUAD_TOKENIZERS)
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


def test_slices_of_columns():
    texts = ["the one", "a two", "an!", "three"]
    column = padded(pa.array(texts, pa.large_string())).slice(1, 2)
    (changed,) = splittable(TextColumns([column]), Text("squad"), 1).columns
    assert changed.to_pylist() == ["two", ""]
