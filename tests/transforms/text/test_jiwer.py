"""The words of WER and the characters of CER are those of jiwer's transforms."""

from __future__ import annotations

import random
import sys
import unicodedata

import jiwer
import pyarrow as pa
import pytest
from hostile_texts import FRAGMENTS, WHITE_SPACE, WORDS

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.splitting import splittable
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import ALL_TOKENIZERS, AnyTokenizerName

NAMES = [name for name in ALL_TOKENIZERS if name.startswith("jiwer")]


def split(texts: list[str | None], name: AnyTokenizerName) -> list[list[str] | None]:
    """The words or characters of texts; the kernel splits words at spaces, too."""
    columns = TextColumns([padded(pa.array(texts, pa.large_string()))])
    (changed,) = splittable(columns, Text(name), 1).columns
    return [
        text if text is None else text.split(" ") if "words" in name else list(text)
        for text in changed.to_pylist()
    ]


def assert_equal_to_jiwer(texts: list[str], name: AnyTokenizerName) -> None:
    transform = jiwer.wer_default if "words" in name else jiwer.cer_default
    if "no-punct" in name:
        transform = jiwer.Compose([jiwer.RemovePunctuation(), *transform.transforms])
    for text, symbols in zip(texts, split(list(texts), name), strict=True):
        assert symbols is not None
        assert [symbol for symbol in symbols if symbol] == transform(text)[0], text


@pytest.mark.parametrize("name", NAMES)
def test_hostile_text(name):
    rng = random.Random(name)
    pieces = [*FRAGMENTS, *WORDS, *WHITE_SPACE * 4, *[" "] * 60]
    texts = ["".join(rng.choices(pieces, k=rng.randrange(30))) for _ in range(500)]
    assert_equal_to_jiwer(texts, name)


@pytest.mark.parametrize("name", NAMES)
def test_each_white_space_at_each_place(name):
    texts = [
        "a" * before + space * times + "b" * after
        for space in WHITE_SPACE
        for times in (1, 2)
        for before in (0, 1, 62, 63, 64, 70)
        for after in (0, 1, 70)
    ]
    texts += [f"a {space}b{space} c" for space in WHITE_SPACE]
    assert_equal_to_jiwer(texts, name)


def test_punctuation_marks_are_those_of_category_p():
    # Each one by itself, because the expression removes runs.
    points = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    texts: list[str | None] = [f"a{point}b" for point in points]
    kept = split(texts, "jiwer-characters-no-punct")
    removed = [point for point, symbols in zip(points, kept, strict=True) if symbols == ["a", "b"]]
    assert removed == [point for point in points if unicodedata.category(point)[0] == "P"]
