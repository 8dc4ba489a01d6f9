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
from beam_bleu.transforms.text.jiwer import JIWER, JiwerSymbols
from beam_bleu.transforms.text.splitting import splittable
from beam_bleu.transforms.text.text import Text


def split(texts: list[str | None], choices: JiwerSymbols) -> list[list[str] | None]:
    """The words or characters of texts; the kernel splits words at spaces, too."""
    columns = TextColumns([padded(pa.array(texts, pa.large_string()))])
    (changed,) = splittable(columns, Text(choices.name), 1).columns
    return [
        text if text is None else text.split(" ") if choices.symbol == "word" else list(text)
        for text in changed.to_pylist()
    ]


def assert_equal_to_jiwer(texts: list[str], choices: JiwerSymbols) -> None:
    transform = jiwer.wer_default if choices.symbol == "word" else jiwer.cer_default
    if choices.no_punct:
        transform = jiwer.Compose([jiwer.RemovePunctuation(), *transform.transforms])
    for text, symbols in zip(texts, split(list(texts), choices), strict=True):
        assert symbols is not None
        assert [symbol for symbol in symbols if symbol] == transform(text)[0], text


@pytest.mark.parametrize("name", JIWER)
def test_hostile_text(name):
    rng = random.Random(name)
    pieces = [*FRAGMENTS, *WORDS, *WHITE_SPACE * 4, *[" "] * 60]
    texts = ["".join(rng.choices(pieces, k=rng.randrange(30))) for _ in range(500)]
    assert_equal_to_jiwer(texts, JIWER[name])


@pytest.mark.parametrize("name", JIWER)
def test_each_white_space_at_each_place(name):
    texts = [
        "a" * before + space * times + "b" * after
        for space in WHITE_SPACE
        for times in (1, 2)
        for before in (0, 1, 62, 63, 64, 70)
        for after in (0, 1, 70)
    ]
    texts += [f"a {space}b{space} c" for space in WHITE_SPACE]
    assert_equal_to_jiwer(texts, JIWER[name])


def test_punctuation_marks_are_those_of_category_p():
    # Each one by itself, because the expression removes runs.
    points = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    texts: list[str | None] = [f"a{point}b" for point in points]
    kept = split(texts, JiwerSymbols("character", no_punct=True))
    removed = [point for point, symbols in zip(points, kept, strict=True) if symbols == ["a", "b"]]
    assert removed == [point for point in points if unicodedata.category(point)[0] == "P"]
