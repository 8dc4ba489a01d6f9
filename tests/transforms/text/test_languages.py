"""Language codes and the tokenizers that they choose."""

from __future__ import annotations

import pytest
from sacrebleu.metrics import BLEU

from beam_bleu.transforms.text.tokenizers import LANGUAGES, OTHER_LANGUAGES, tokenizer_of


def test_the_choices_are_those_of_sacrebleu():
    assert {row.name: row.tokenize for row in LANGUAGES.values()} == BLEU._TOKENIZER_MAP
    assert OTHER_LANGUAGES == BLEU.TOKENIZER_DEFAULT
    codes = [(code, row.tokenize) for row in LANGUAGES.values() for code in row.codes]
    assert len(codes) == len(dict(codes))
    assert all(tokenizer_of(code) == tokenize for code, tokenize in codes)


@pytest.mark.parametrize(
    ("code", "tokenizer"),
    [
        ("en", "13a"),
        ("hsb", "13a"),
        ("en-zh", "zh"),
        ("zh-en", "13a"),
        ("en-ja_JP", "ja-mecab"),
        ("zh_CN", "zh"),
        ("en-zh-Hant", "zh"),
        ("zho_Hans", "zh"),
        ("eng_Latn-kor_Hang", "ko-mecab"),
        ("zh-Hant-TW", "zh"),
        ("es-419", "13a"),
        # These pairs have the same tokenizer however they are read.
        *((pair, "13a") for pair in ("pt-br", "en-sr", "cs-uk", "zh-my", "zh-mn", "ko-kk")),
    ],
)
def test_the_target_language_chooses(code, tokenizer):
    assert tokenizer_of(code) == tokenizer


@pytest.mark.parametrize(
    "code",
    [
        *("", " ", "-", "en-", "-en", "en--de", "en-de-fr", " de", "de ", "de\n", "news", "e"),
        *("EN", "EN-DE", "De", "en_de", "en_zh", "zh_cn", "en>zh", "en2zh", "en/zh", "english"),
        *("jp", "en-cn", "cz-en", "und"),  # of no language
        *("zh-TWN", "zh_", "zh_CN_Hans", "zh-hans", "中文", "12", "123"),
    ],
)
def test_what_has_another_form_is_no_code(code):
    with pytest.raises(ValueError, match="is not ") as error:
        tokenizer_of(code)
    assert repr(code) in str(error.value)


@pytest.mark.parametrize("code", ["zh-tw", "zho-tw", "zh-Hant-tw", "ko-kr"])
def test_a_pair_that_can_be_a_language_with_another_tokenizer_is_refused(code):
    region = f"{code[:-2]}{code[-2:].upper()}"
    with pytest.raises(ValueError, match=f"'{code}' can be {region}"):
        tokenizer_of(code)
    assert tokenizer_of(region) != "13a"
    assert tokenizer_of("zh-twi") == tokenizer_of("zh-tw_GH") == "13a"
