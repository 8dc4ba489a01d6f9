"""The words of ROUGE are those of rouge_score's tokenizer, with and without NLTK's stemmer."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hostile_texts import CODE_POINTS, FRAGMENTS, WORDS
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.tokenize import tokenize

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.rouge import RULES
from beam_bleu.transforms.text.splitting import splittable
from beam_bleu.transforms.text.text import Text

STEMMER = PorterStemmer()
RULE_WORDS = " ".join(RULES).replace("|", "").split()
SUFFIXES = sorted({rule.split(":")[0] for rule in RULE_WORDS})
ENDS = [*SUFFIXES, "s", "ss", "sses", "ies", "ied", "eed", "ed", "ing", "y", "e", "ll", "at", "bl"]


def rewritten(texts: Sequence[str | None], is_stemmed: bool) -> list[str | None]:
    column = padded(pa.array(texts, pa.large_string()))
    text = Text("rouge-stemmed" if is_stemmed else "rouge")
    (changed,) = splittable(TextColumns([column]), text, 1).columns
    found: list[str | None] = changed.to_pylist()
    return found


def assert_equal_to_rouge_score(texts: Sequence[str], is_stemmed: bool = False) -> None:
    stemmer = STEMMER if is_stemmed else None
    for text, found in zip(texts, rewritten(texts, is_stemmed), strict=True):
        assert found is not None
        assert found.split() == tokenize(text, stemmer), repr(text)
        # The sentences of ROUGE-Lsum are split before they become words.
        for line, words in zip(text.split("\n"), found.split("\n"), strict=True):
            assert words.split() == tokenize(line, stemmer), repr(text)


@pytest.mark.parametrize("is_stemmed", [False, True])
def test_hostile_text(is_stemmed):
    rng = random.Random(5)
    pieces = [*FRAGMENTS, *WORDS * 6, *ENDS, *["\u212a", "İ", "running", "flies"] * 6, *[" "] * 60]
    texts = ["".join(rng.choices(pieces, k=rng.randrange(14))) for _ in range(2000)]
    assert_equal_to_rouge_score(texts, is_stemmed)
    # At each place of a block, and side by side with the next text.
    texts = [f"{'é' * shift}{'x ' * 30}happily\u212aİ" for shift in range(70)]
    assert_equal_to_rouge_score(texts, is_stemmed)


def test_every_code_point():
    # Those that are no letters with another case stay what they are: a few of them are enough.
    points = [point for point in CODE_POINTS if point.lower() != point]
    points += [*CODE_POINTS[:0x300], *CODE_POINTS[0x300::997]]
    starts = range(0, len(points), 64)
    assert_equal_to_rouge_score(["x".join(points[start : start + 64]) for start in starts])


@given(st.lists(st.one_of(st.text(), st.text(alphabet=[*"aAbZ09_'-.\n\té\u212aİI\u0307"]))))
def test_any_text(texts):
    assert_equal_to_rouge_score([re.sub("[\ud800-\udfff]", "", text) for text in texts])


# The stemmer


def assert_stems(words: Sequence[str]) -> None:
    found = rewritten(words, is_stemmed=True)
    for word, stem in zip(words, found, strict=True):
        expected = STEMMER.stem(word) if len(word) > 3 else word
        assert (stem or "").rstrip() == expected, word


def test_all_pairs_of_suffixes():
    # NLTK's exceptions; runs of y, digits, long words.
    exceptions = "skies dying lying tying news innings outings cannings howe proceed exceed succeed"
    runs = f"yyyy yyyyed syzygy oyying 2019s 1ing a1ed {'yed' * 40}"
    assert_stems(f"{exceptions} {runs}".split())
    starts = ["", "b", "tr", "a", "fal", "oys"]
    ends = itertools.product(starts, SUFFIXES, ["", "s", "ed", "ing", "ly", "e"])
    assert_stems(["".join(parts) for parts in ends])


@given(st.lists(st.text(alphabet=[*"abdegilnorsty1"], min_size=1, max_size=12)))
def test_any_words(words):
    assert_stems(words)
