"""Segments in several languages: the integers equal those of each language by itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu_counts import assert_same, integers, sacrebleu_integers

from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import PreparedBatch, SegmentLabel
from beam_bleu.transforms.text import library_tokenizers
from beam_bleu.transforms.text.tokenizers import tokenizer_of

BLEU = BleuConfig()
LABEL = SegmentLabel("lang", 1)

SENTENCES = {
    "en": ["The cat, of 3.5 kg, sat.", "It's &quot;new&quot;.", "The cat sat on the mat."],
    "de": ["Die Katze saß, 3,5 kg schwer.", "Er sagt: „Neu“.", "Die Katze saß da."],
    "zh": ["猫坐在垫子上。", "他说：“新的”，3.5公斤。", "猫坐在那里。"],
    "en-zh_TW": ["貓坐在墊子上。", "他說：「新的」，3.5公斤。"],
    "zh-en": ["A cat — 猫 — sat.", "It's 北京."],
}
EASTERN = {
    "ja": ["吾輩は猫である。名前はまだ無い。", "東京都に住んでいる。", "吾輩は猫です。"],
    "en-ko": ["나는 학교에 갑니다.", "안녕하세요, 저는 서울에 살고 있습니다.", "나는 집에 갑니다."],
    "ko": ["나는 학교에 갑니다.", "대한민국의 수도는 서울특별시이다."],
}


def labelled(segments, languages, **changes):
    """A batch of segments with languages; the first label has other values."""
    column = pa.array(languages, pa.string()).dictionary_encode()
    other = pa.array(["x"] * len(segments)).dictionary_encode()
    numbers = np.arange(len(segments)) * 2 + 5
    batch = dataclasses.replace(to_batch(segments), numbers=numbers, labels=(other, column))
    return dataclasses.replace(batch, **changes)


def counted_by_language(batch, text, counter):
    return PreparedBatch(batch, LABEL).count([(text, counter)])


def segments_of(sentences, draw, most=40):
    """Random segments in these languages, with one or two references, and their languages."""
    languages = draw.choices(list(sentences), k=draw.randrange(1, most))
    segments = []
    for language in languages:
        texts = [*sentences[language], "", "a"]
        references = [draw.choice(texts)]
        if draw.random() < 0.3:
            references.append(draw.choice(texts))
        segments.append((draw.choice(texts), references))
    return segments, languages


def assert_counts_of_each_language(segments, languages, statistics, max_order=4):
    ours = integers(statistics)[0]
    for language in set(languages):
        rows = [row for row, each in enumerate(languages) if each == language]
        chosen = [segments[row] for row in rows]
        config = BleuConfig(tokenizer_of(language), max_ngram_order=max_order)
        expected = sacrebleu_integers(chosen, config)
        assert_same(chosen, config, ours[rows], expected)


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.data())
def test_each_language_has_the_integers_of_sacrebleu_in_any_order_and_split(draw, data):
    segments, languages = segments_of(SENTENCES, draw)
    at = data.draw(st.integers(0, len(segments)))
    for part in (slice(0, at), slice(at, None), slice(None)):
        if segments[part]:
            batch = labelled(segments[part], languages[part])
            statistics = counted_by_language(batch, BleuConfig().text, BLEU)
            assert_counts_of_each_language(segments[part], languages[part], statistics)


@pytest.mark.libraries
@given(st.randoms(use_true_random=False))
def test_japanese_and_korean_have_the_integers_of_sacrebleu(draw):
    segments, languages = segments_of({**SENTENCES, **EASTERN}, draw, most=20)
    statistics = counted_by_language(labelled(segments, languages), BleuConfig().text, BLEU)
    assert_counts_of_each_language(segments, languages, statistics)


def test_a_missing_or_wrong_language_is_bad_input_and_the_first_one_is_named():
    for languages, cause in [
        (["en", "zh", None, "xx"], "segment 10 has no language in lang"),
        (["en", "jp", None], "segment 8: lang: 'jp' is not a language code"),
        (["en", "en", "English"], "segment 10: lang: 'English' is not a language code"),
        ([""], "segment 6: lang: '' is not a language code"),
    ]:
        batch = labelled([("a", ["a"])] * len(languages), languages)
        with pytest.raises(InputError) as error:
            counted_by_language(batch, BleuConfig().text, BLEU)
        assert error.value.cause == cause
        assert "a pair such as en-de" in error.value.remedy


def test_a_library_is_needed_only_by_its_language(monkeypatch):
    def missing(tokenize):
        raise library_tokenizers._missing(tokenize, ImportError("No module named 'MeCab'"))

    monkeypatch.setattr(library_tokenizers, "mecab", missing)
    text = BleuConfig().text
    counted_by_language(labelled([("a", ["a"])] * 2, ["en", "zh"]), text, BLEU)
    with pytest.raises(JobError) as error:
        counted_by_language(labelled([("a", ["a"])] * 2, ["en", "en-ja"]), text, BLEU)
    assert "'ja-mecab'" in error.value.cause
    assert "beam-bleu[ja]" in error.value.remedy or "install ja" in error.value.remedy
