"""Language codes and the tokenizers that they choose."""

from __future__ import annotations

import re

import pytest
from sacrebleu.metrics import BLEU

from beam_bleu.transforms.text.tokenizers import LANGUAGES, OTHER_LANGUAGES, tokenizer_of


def test_the_choices_are_those_of_sacrebleu():
    assert {row.name: row.tokenize for row in LANGUAGES.values()} == BLEU._TOKENIZER_MAP
    assert OTHER_LANGUAGES == BLEU.TOKENIZER_DEFAULT
    codes = [(code, row.tokenize) for row in LANGUAGES.values() for code in row.codes]
    assert len(codes) == len(dict(codes))
    assert all(tokenizer_of(code) == tokenize for code, tokenize in codes)


def test_the_target_language_chooses():
    codes = {
        # These pairs have the same tokenizer however they are read.
        "13a": "en hsb zh-en es-419 zh-twi zh-tw_GH pt-br en-sr cs-uk zh-my zh-mn ko-kk",
        "zh": "en-zh zh_CN en-zh-Hant zho_Hans zh-Hant-TW zh-TW zho-TW",
        "ja-mecab": "en-ja_JP",
        "ko-mecab": "eng_Latn-kor_Hang ko-KR",
    }
    found = {name: {tokenizer_of(code) for code in of.split()} for name, of in codes.items()}
    assert found == {name: {name} for name in codes}


def test_what_has_another_form_is_no_code():
    for code in [
        *("", " ", "-", "en-", "-en", "en--de", "en-de-fr", " de", "de ", "de\n", "news", "e"),
        *("EN", "EN-DE", "De", "en_de", "en_zh", "zh_cn", "en>zh", "en2zh", "en/zh", "english"),
        *("jp", "en-cn", "cz-en", "und"),  # of no language
        *("zh-TWN", "zh_", "zh_CN_Hans", "zh-hans", "中文", "12", "123"),
    ]:
        with pytest.raises(ValueError, match=re.escape(f"{code!r} is not ")):
            tokenizer_of(code)


def test_a_pair_that_can_be_a_language_with_another_tokenizer_is_refused():
    for code in ("zh-tw", "zho-tw", "zh-Hant-tw", "ko-kr"):
        with pytest.raises(ValueError, match=f"'{code}' can be {code[:-2]}{code[-2:].upper()}"):
            tokenizer_of(code)
