"""The words of TER are those of sacreBLEU's TercomTokenizer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pyarrow as pa
import pytest
from hostile_texts import CODE_POINTS, FRAGMENTS, WORDS
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.splitting import splittable
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import ALL_TOKENIZERS, AnyTokenizerName

NAMES = [name for name in ALL_TOKENIZERS if name.startswith("tercom")]

OF_TERCOM = [
    *("'s", "it's", "Jim's ", "'S", "'s's", "'s.", "'s,", "'s!", "'s&amp;", "'s\n", "'s\t"),
    *("\n-", "\n--", "a\n-b", "\n\n-", "-\n-", "(c)", "?!", "4.2", "4,2", "a;b", ",5", "5,"),
    *("中", "文", "㈀", "㼢", "㼣", "䶵", "龿", "⺀", "㇀", "豈", "︰", "𠀀", "한", "ไทย"),
    *("り", "の", "カ", "ー", "ㇰ", "りカ", "りの拳", *"、。〈】〔〟｡･・"),
    *("．", "，", "？", "：", "；", "！", "＂", "（", "）", "〒", "【", "＃"),
]


def words(
    texts: Iterable[str | None], text: Text, reference_count: int = 0
) -> list[list[str] | None]:
    columns = TextColumns([padded(pa.array(texts, pa.large_string()))])
    (changed,) = splittable(columns, text, reference_count).columns
    return [each and each.split() for each in changed.to_pylist()]


def assert_equal_to_sacrebleu(
    texts: list[str], name: AnyTokenizerName, case_sensitive: bool
) -> None:
    tokenizer = TercomTokenizer("norm" in name, "no-punct" in name, "asian" in name, case_sensitive)
    text = Text(name, lowercase=not case_sensitive)
    candidates, references = words(texts, text), words(texts, text, 1)
    for given, candidate, reference in zip(texts, candidates, references, strict=True):
        once = tokenizer(given.rstrip())
        assert (candidate or []) == once.split(), given
        # sacreBLEU makes the words of references of the words.
        assert (reference or []) == tokenizer(once.rstrip()).split(), given


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case_sensitive", [False, True])
def test_hostile_text(name, case_sensitive):
    rng = random.Random(name)
    pieces = [*FRAGMENTS, *WORDS, *OF_TERCOM * 3, *[" "] * 60]
    texts = ["".join(rng.choices(pieces, k=rng.randrange(14))) for _ in range(500)]
    assert_equal_to_sacrebleu(texts, name, case_sensitive)


@pytest.mark.parametrize("name", NAMES)
def test_code_points_between_others(name):
    around = "a5. 中り's"
    rng = random.Random(name)
    first, last = ord("\u2e00"), ord("\u4e20")
    points = [*CODE_POINTS[:0x600], *rng.sample(CODE_POINTS[first:last], 800)]
    points += rng.sample(CODE_POINTS, 400)
    texts = [f"{rng.choice(around)}{point}{rng.choice(around)}{point} x" for point in points]
    assert_equal_to_sacrebleu(texts, name, False)


def test_each_asian_character_is_in_the_same_class():
    names = ["tercom-norm-asian", "tercom-no-punct-asian"]
    points = CODE_POINTS[0x2E00:0x3500] + CODE_POINTS[0x9F00:0xA100] + CODE_POINTS[0xF000:0xFFF0]
    points = [chr(0x4DAF + i) for i in range(99)] + points
    for name in names:
        assert_equal_to_sacrebleu([f"a{point}b" for point in points], name, False)


@pytest.mark.parametrize("name", ["tercom-norm", "tercom-norm-no-punct"])
def test_short_texts_of_few_symbols(name):
    symbols = ["'s", ".", ",", "5", "a", "-", " ", "\n"]
    texts = ["".join(some) for some in itertools.product(symbols, repeat=4)]
    assert_equal_to_sacrebleu(texts, name, True)
