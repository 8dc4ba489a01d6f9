"""The words of TER, WER, exact match and ROUGE are those of the tools that these metrics equal."""

from __future__ import annotations

import itertools
import random
import re
import unicodedata
from collections.abc import Sequence

import jiwer
import pyarrow as pa
import pytest
from hostile_texts import CODE_POINTS, FRAGMENTS, WHITE_SPACE, WORDS
from nltk.stem.porter import PorterStemmer
from rouge_score.tokenize import tokenize
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.rouge import RULES
from beam_bleu.transforms.text.splitting import split_words, splittable
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import ALL_TOKENIZERS
from benchmarks.speed.squad_evaluation import normalize_answer


def rewritten(texts: Sequence[str], text: Text, reference_count: int = 1) -> list[str]:
    columns = TextColumns([padded(pa.array(texts, pa.large_string()))])
    (changed,) = splittable(columns, text, reference_count).columns
    found: list[str] = changed.to_pylist()
    return found


def hostile(seed: str, *pieces: str, count: int = 500) -> list[str]:
    rng, pieces = random.Random(seed), (*FRAGMENTS, *WORDS, *pieces, *[" "] * 60)
    return ["".join(rng.choices(pieces, k=rng.randrange(14))) for _ in range(count)]


# TER

OF_TERCOM = [
    *("'s", "it's", "Jim's ", "'S", "'s's", "'s.", "'s,", "'s!", "'s&amp;", "'s\n", "'s\t"),
    *("\n-", "\n--", "a\n-b", "\n\n-", "-\n-", "(c)", "?!", "4.2", "4,2", "a;b", ",5", "5,"),
    *("中", "文", "㈀", "㼢", "㼣", "䶵", "龿", "⺀", "㇀", "豈", "︰", "𠀀", "한", "ไทย"),
    *("り", "の", "カ", "ー", "ㇰ", "りカ", "りの拳", *"、。〈】〔〟｡･・"),
    *("．", "，", "？", "：", "；", "！", "＂", "（", "）", "〒", "【", "＃"),
]


def assert_equal_to_tercom(texts: Sequence[str], name: str, case_sensitive: bool = False) -> None:
    tokenizer = TercomTokenizer("norm" in name, "no-punct" in name, "asian" in name, case_sensitive)
    text = Text(name, lowercase=not case_sensitive)
    found = (rewritten(texts, text, references) for references in (0, 1))
    for given_text, candidate, reference in zip(texts, *found, strict=True):
        once = tokenizer(given_text.rstrip())
        assert candidate.split() == once.split(), given_text
        # sacreBLEU makes the words of references of the words.
        assert reference.split() == tokenizer(once.rstrip()).split(), given_text


@pytest.mark.parametrize("name", [name for name in ALL_TOKENIZERS if name.startswith("tercom")])
def test_tercom(name):
    for case_sensitive in (False, True):
        assert_equal_to_tercom(hostile(name, *OF_TERCOM * 3), name, case_sensitive)
    rng, around = random.Random(name), "a5. 中り's"
    points = [*CODE_POINTS[:0x600], *rng.sample(CODE_POINTS[0x2E00:0x4E20], 800)]
    points += rng.sample(CODE_POINTS, 400)
    texts = [f"{rng.choice(around)}{point}{rng.choice(around)}{point} x" for point in points]
    assert_equal_to_tercom(texts, name)


def test_tercom_has_the_same_asian_characters():
    points = CODE_POINTS[0x2E00:0x3500] + CODE_POINTS[0x9F00:0xA100] + CODE_POINTS[0xF000:0xFFF0]
    points = [chr(0x4DAF + i) for i in range(99)] + points
    for name in ("tercom-norm-asian", "tercom-no-punct-asian"):
        assert_equal_to_tercom([f"a{point}b" for point in points], name)


# WER and CER


JIWER = [name for name in ALL_TOKENIZERS if name.startswith("jiwer")]


@pytest.mark.parametrize("name", [name for name in JIWER if "whisper" not in name])
def test_jiwer(name):
    texts = hostile(name, *WHITE_SPACE * 4) + [f"a {space}b{space} c" for space in WHITE_SPACE]
    texts += [
        "a" * before + space * times + "b" * after
        for space in WHITE_SPACE
        for times in (1, 2)
        for before, after in ((0, 1), (1, 0), (62, 1), (63, 70), (64, 1), (70, 0))
    ]
    transform = jiwer.wer_default if "words" in name else jiwer.cer_default
    if "no-punct" in name:
        transform = jiwer.Compose([jiwer.RemovePunctuation(), *transform.transforms])
    for text, found in zip(texts, rewritten(texts, Text(name)), strict=True):
        # The kernel splits words at spaces, too.
        symbols = found.split(" ") if "words" in name else found
        assert [symbol for symbol in symbols if symbol] == transform(text)[0], text


def test_jiwers_punctuation_marks_are_those_of_category_p():
    # Each one by itself, because the expression removes runs.
    found = rewritten([f"a{point}b" for point in CODE_POINTS], Text("jiwer-characters-no-punct"))
    removed = [point for point, kept in zip(CODE_POINTS, found, strict=True) if kept == "ab"]
    assert removed == [point for point in CODE_POINTS if unicodedata.category(point)[0] == "P"]


# Exact match and token F1

ARTICLES = ["a", "an", "the", "A", "The", "AN", "tHe", "then", "ana", "aa", "th", "e", "n"]


def assert_equal_to_squad(texts: Sequence[str], name: str = "squad") -> None:
    for text, found in zip(texts, rewritten(texts, Text(name, lowercase=True)), strict=True):
        assert found == normalize_answer(text), repr(text)


@pytest.mark.parametrize("name", ["squad", "squad-whole"])
def test_squad(name):
    around = [*"_'’-.9é\u0301中²\xa0\x85 Ａﬁİ"]
    assert_equal_to_squad(hostile(name, *ARTICLES * 6, *around * 4, count=2000), name)


def test_squads_articles_between_code_points():
    # Python's \\w decides where an article begins and ends.
    rng = random.Random(1)
    points = CODE_POINTS[:0x3400] + CODE_POINTS[0x3400::37]
    assert_equal_to_squad([f"{point}{rng.choice(ARTICLES)}{point} x" for point in points])


# ROUGE

STEMMER = PorterStemmer()
SUFFIXES = sorted({rule.split(":")[0] for rule in " ".join(RULES).replace("|", "").split()})
ENDS = [*SUFFIXES, "s", "ss", "sses", "ies", "ied", "eed", "ed", "ing", "y", "e", "ll", "at", "bl"]


def assert_equal_to_rouge_score(texts: Sequence[str], is_stemmed: bool = False) -> None:
    name, stemmer = ("rouge-stemmed", STEMMER) if is_stemmed else ("rouge", None)
    for text, found in zip(texts, rewritten(texts, Text(name)), strict=True):
        assert found.split() == tokenize(text, stemmer), repr(text)
        # The sentences of ROUGE-Lsum are split before they become words.
        for line, words in zip(text.split("\n"), found.split("\n"), strict=True):
            assert words.split() == tokenize(line, stemmer), repr(text)


@pytest.mark.parametrize("is_stemmed", [False, True])
def test_rouge(is_stemmed):
    pieces = [*ENDS, *["\u212a", "İ", "running", "flies"] * 6]
    assert_equal_to_rouge_score(hostile("rouge", *pieces, count=1000), is_stemmed)
    # At each place of a block, and side by side with the next text.
    texts = [f"{'é' * shift}{'x ' * 30}happily\u212aİ" for shift in range(70)]
    assert_equal_to_rouge_score(texts, is_stemmed)


def test_rouge_of_every_code_point():
    # Those that are no letters with another case stay what they are: a few of them are enough.
    points = [point for point in CODE_POINTS if point.lower() != point]
    points += [*CODE_POINTS[:0x300], *CODE_POINTS[0x300::997]]
    starts = range(0, len(points), 64)
    assert_equal_to_rouge_score(["x".join(points[start : start + 64]) for start in starts])


def rouge_words(name: str, text: str) -> list[str]:
    """The words of ROUGE other than rouge_score's, as docs/metrics.md defines them."""
    if name == "rouge-char":
        return [character for character in text.lower() if not character.isspace()]
    return "".join(
        character if unicodedata.category(character)[0] in "LMN" else " "
        for character in text.lower()
    ).split()


@pytest.mark.parametrize("name", ["rouge-unicode", "rouge-char"])
def test_other_words_of_rouge(name):
    texts = hostile(name, *["naïve", "हिन्दी", "ΑΣ", "İ", "٣½", "_", "\n"], count=1000)
    texts += ["x".join(CODE_POINTS[start : start + 997]) for start in range(0, 0x11000, 997)]
    for text, found in zip(texts, rewritten(texts, Text(name)), strict=True):
        for line, words in zip(text.split("\n"), found.split("\n"), strict=True):
            # ASCII white space, at which the kernel splits.
            assert re.findall("[^\t-\r ]+", words) == rouge_words(name, line), repr(text)


def test_stems():
    # NLTK's exceptions; runs of y, digits, long words.
    exceptions = "skies dying lying tying news innings outings cannings howe proceed exceed succeed"
    words = [*exceptions.split(), "yyyy", "yyyyed", "syzygy", "oyying", "2019s", "1ing", "a1ed"]
    starts, ends = ["", "b", "tr", "a", "fal", "oys", "yed" * 40], ["", "s", "ed", "ing", "ly", "e"]
    words += map("".join, itertools.product(starts, SUFFIXES, ends))
    rng = random.Random(1)
    words += ["".join(rng.choices("abdegilnorsty1", k=rng.randrange(1, 13))) for _ in range(3000)]
    for word, stem in zip(words, rewritten(words, Text("rouge-stemmed")), strict=True):
        assert stem.rstrip() == (STEMMER.stem(word) if len(word) > 3 else word), word


# The words of perplexity


def test_split_words_are_those_of_python():
    texts = [f"a{point}b" for point in CODE_POINTS]
    texts += [f"{space}a{space}{space}b{space}" for space in WHITE_SPACE] + ["", "a"]
    column = padded(pa.array([*texts, None], pa.large_string()))
    assert split_words(column).tolist() == [*(len(re.split(r"\s+", text)) for text in texts), 0]
    assert split_words(padded(column.slice(len(column)))).tolist() == []
