"""zh and intl put spaces in the same places as sacreBLEU, so the tokens are the same."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import recorded
from hostile_texts import CODE_POINTS
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from spaced_texts import RECORD, SPACED, in_blocks, sacrebleu_tokens

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text import spacing
from beam_bleu.transforms.text.splitting import splittable


def tokens_of(texts, tokenize):
    column = padded(pa.array(texts, pa.large_string()))
    spaced = splittable(TextColumns([column]), BleuConfig(tokenize).text, 0)
    return [text.split() for text in spaced.columns[0].to_pylist()]


def assert_same_tokens(texts, tokenize, ours=None):
    ours = tokens_of(texts, tokenize) if ours is None else ours
    rows = zip(texts, sacrebleu_tokens(texts, tokenize), ours, strict=True)
    wrong = [row for row in rows if row[1] != row[2]]
    assert not wrong[:3], f"{len(wrong)} of {len(texts)}: text, expected, got"


@pytest.mark.parametrize("title", SPACED)
def test_texts_of_each_kind_have_sacrebleus_tokens(title):
    tokenize, make = SPACED[title]
    texts = make()
    ours = tokens_of(texts, tokenize)
    for number in recorded.unrecorded(RECORD, title, in_blocks(ours)):
        block = slice(number * recorded.BLOCK, (number + 1) * recorded.BLOCK)
        assert_same_tokens(texts[block], tokenize, ours[block])
    assert_same_tokens(texts[:: max(len(texts) // 75, 1)], tokenize)


def test_zh_has_the_same_chinese_characters_as_sacrebleu():
    is_chinese = TokenizerZh._is_chinese_char.__wrapped__
    expected = [point for point in CODE_POINTS if is_chinese(point) and not point.isspace()]
    alone = np.flatnonzero(spacing._classes("zh") == spacing._ALONE)
    assert [chr(code) for code in alone if code >= 0x80] == expected


@pytest.mark.parametrize(("tokenize", "loaded"), [("zh", "False"), ("intl", "True")])
def test_only_intl_loads_the_tables_of_unicode(tokenize, loaded):
    program = (
        "import sys\n"
        "from beam_bleu.transforms.metrics.bleu.metric import BleuConfig\n"
        "from beam_bleu.transforms.statistics.counting import prepare_counting\n"
        f"prepare_counting(BleuConfig({tokenize!r}).text, BleuConfig(max_ngram_order=1))\n"
        "print('regex' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == loaded, done.stderr
