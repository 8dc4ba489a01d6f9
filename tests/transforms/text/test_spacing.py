"""zh and intl put spaces in the same places as sacreBLEU, so the tokens are the same."""

import itertools
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import CODE_POINTS
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text import spacing
from beam_bleu.transforms.text.splitting import splittable


def assert_same_tokens(texts, tokenize):
    column = padded(pa.array(texts, pa.large_string()))
    (spaced,) = splittable(TextColumns([column]), BleuConfig(tokenize).text, 0).columns
    tokenizer = _get_tokenizer(tokenize)()
    uncached = type(tokenizer).__call__.__wrapped__
    for text, ours in zip(texts, spaced.to_pylist(), strict=True):
        assert ours.split() == uncached(tokenizer, text.rstrip()).split(), text


def joined(form, points):
    return [
        " x ".join(form.format(point) for point in points[start : start + 16])
        for start in range(0, len(points), 16)
    ]


@pytest.mark.parametrize(
    ("tokenize", "alphabets"),
    # One or two of each class: ASCII and not ASCII, with one byte and with several.
    [("intl", ["a5.$ -", "é٣。™\u3000,"]), ("zh", ["a5.中 -", "é5,＄\u2003-"])],
)
def test_tokens_are_sacrebleus(tokenize, alphabets):
    for alphabet, length in itertools.product(alphabets, range(6)):
        texts = map("".join, itertools.product(alphabet, repeat=length))
        assert_same_tokens(list(texts), tokenize)
    points = CODE_POINTS[:0x3100] + CODE_POINTS[0x3100::97]
    form = "{0} a{0}b 5{0}6 .{0}. {0}.5 5.{0} {0}-{0}5 5{0}{0} {0}{0}5 5-{0}5 .{0}5"
    assert_same_tokens(joined(form, points), tokenize)
    around = ["", " ", "5", "a", "$", "中", "٣", "。", "5 ", " \u3000", "x" * 61, "5" * 62]
    runs = [
        before + (points * length)[:length] + after
        for points in (".", ",.", "。", ".…,", "-", "..-")
        for length in (*range(1, 10), *range(60, 69), 127, 128)
        for before, after in itertools.product(around, repeat=2)
    ]
    assert_same_tokens(runs, tokenize)


def test_intl_has_the_same_classes_of_code_points_as_sacrebleu():
    # The planes that have code points of a class, and some of the others.
    points = CODE_POINTS[:0x20000] + CODE_POINTS[0x20000::97]
    assert_same_tokens(joined("{0}.{0}5", points), "intl")


def test_zh_has_the_same_chinese_characters_as_sacrebleu():
    is_chinese = TokenizerZh._is_chinese_char.__wrapped__
    expected = [point for point in CODE_POINTS if is_chinese(point) and not point.isspace()]
    alone = np.flatnonzero(spacing._classes("zh") == spacing._ALONE)
    assert [chr(code) for code in alone if code >= 0x80] == expected


def test_only_intl_loads_the_tables_of_unicode():
    program = """
import sys
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.statistics.counting import prepare_counting
for tokenize in ("zh", "intl"):
    prepare_counting(BleuConfig(tokenize).text, BleuConfig(max_ngram_order=1))
    print("regex" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr
