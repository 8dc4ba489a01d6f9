"""Japanese, Korean and SentencePiece: the integers equal sacreBLEU's with the same tokenizer."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sacrebleu
import sentencepiece
import spm_models
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_spm import TokenizerSPM
from sacrebleu_counts import integers as integers_of
from sacrebleu_counts import name
from scoring import statistics_of

from beam_bleu.transforms.errors import InputError, installing
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import prepare_counting
from beam_bleu.transforms.text.library_tokenizers import require_library
from beam_bleu.transforms.text.text import SentencePieceModel

JAPANESE = [
    "東京都に住んでいる学生は、毎日図書館で本を読みます。",
    "吾輩は猫である。名前はまだ無い。",
    "すもももももももものうち",
    "コンピュータのﾊﾝｶｸ文字と全角ＡＢＣ１２３",
    "「国境の長いトンネルを抜けると雪国であった。」",
    "2024年7月5日（金）、価格は1,234.56円でした。",
]
KOREAN = [
    "안녕하세요, 저는 서울에 살고 있습니다.",
    "나는 학교에 갑니다.",
    "아버지가방에들어가신다",
    "대한민국의 수도는 서울특별시이다. 인구는 약 9,700,000명이다.",
    "가각간 \u1100\u1161\u11a8",
]
HOSTILE = [
    *("", " ", "\u3000", "\t \n", "\n", "a\nb", "a\r\nb", "日\n本", "  先頭と末尾  ", "x\u3000"),
    *("\u2028", "\0", "a\0b c d", "東京\0大阪", "a\x85b\u2028c\u00a0d", "\ufeffBOM", "EOS"),
    *("%m\\n\\t", "\\", '"', "😀😀 👩‍👩‍👧", "e\u0301 é", "\ufffd", "\U0010ffff", "\ue000"),
    *("<unk> <s> </s> <0x41>", "▁", "▁a ▁", "<user> two words two", "İstanbul ΑΣ ẞ"),
    *("<skipped>a-\nb &amp;", "a" * 3000, "日本" * 3000, "5." * 999),
]
CORPUS = [*JAPANESE, *KOREAN, *HOSTILE, "The cat sat on the mat.", *spm_models.sentences(7, 60)]
PIECES = [*"。、のはを가는 \n▁é\0😀ａ\u3000", "日本", "東京", "학교", "cat"]

KINDS = [("unigram", False), ("unigram", True), ("bpe", False), ("bpe", True), ("char", False)]
SPM = [
    BleuConfig("spm", spm_model=SentencePieceModel.of(spm_models.model(*kind))) for kind in KINDS
]
CONFIGS = [
    BleuConfig("ja-mecab"),
    BleuConfig("ja-mecab", lowercase=True),
    BleuConfig("ko-mecab"),
    *SPM,
    BleuConfig("spm", lowercase=True, max_ngram_order=2, spm_model=SPM[1].spm_model),
]
DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=100)


class TokenizerOfAnyModel(TokenizerSPM):
    """sacreBLEU's, which knows only the models that it downloads."""

    def __init__(self, data):
        self.name = "any"
        self.sp = sentencepiece.SentencePieceProcessor()
        self.sp.LoadFromSerializedProto(data)


def oracle(config):
    spm = config.spm_model is not None
    metric = sacrebleu.BLEU(
        tokenize="none" if spm else config.tokenize,
        lowercase=config.lowercase,
        max_ngram_order=config.max_ngram_order,
        force=True,
    )
    if spm:
        metric.tokenizer = TokenizerOfAnyModel(config.spm_model.data)
    return metric


def expected_integers(segments, config):
    candidates = [candidate for candidate, _ in segments]
    references = list(itertools.zip_longest(*(references for _, references in segments)))
    return np.array(oracle(config)._extract_corpus_statistics(candidates, references)).tolist()


def integers(statistics):
    return integers_of(statistics)[0].tolist()


def edited(text, rng):
    """The text; parts of it are left out, repeated or replaced."""
    at = rng.randrange(len(text) + 1)
    end = min(at + rng.randrange(1, 4), len(text))
    return text[:at] + rng.choice(["", text[at:end] * 2, rng.choice(PIECES)]) + text[end:]


def segments(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        text = " ".join(rng.choices(CORPUS, k=rng.choice([1, 1, 2])))
        references = [edited(text, rng) for _ in range(rng.choice([1, 1, 2]))]
        yield edited(text, rng), [*references, rng.choice([None, rng.choice(CORPUS)])]


@pytest.mark.parametrize("config", CONFIGS, ids=name)
def test_real_and_hostile_lines_count_as_in_sacrebleu(config):
    corpus = [*segments(1, 300), *((text, [text]) for text in CORPUS)]
    ours = integers(statistics_of(to_batch(corpus), config))
    assert ours == expected_integers(corpus, config)
    assert sum(row[2 + config.max_ngram_order - 1] > 0 for row in ours) > 150


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(CORPUS[:30]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    ),
    max_size=8,
).map("".join)


@DETERMINISTIC
@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.one_of(st.none(), TEXTS)), min_size=1, max_size=4),
    st.sampled_from(CONFIGS),
)
def test_any_text_counts_as_in_sacrebleu(triples, config):
    corpus = [(one + two, [two, three]) for one, two, three in triples]
    ours = integers(statistics_of(to_batch(corpus), config))
    assert ours == expected_integers(corpus, config)


@pytest.mark.parametrize("config", [CONFIGS[0], CONFIGS[2], *SPM[:2]], ids=name)
def test_threads_share_a_tokenizer(config):
    batches = [to_batch(list(segments(seed, 100))) for seed in range(8)]
    alone = [integers(statistics_of(batch, config)) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            together = pool.map(lambda batch: integers(statistics_of(batch, config)), batches)
            assert list(together) == alone


def test_a_line_that_mecab_gives_up_is_bad_input():
    # sacreBLEU ends with "'NoneType' object has no attribute 'strip'".
    line = "x" * 200_000
    with pytest.raises(AttributeError, match="NoneType"):
        oracle(CONFIGS[0])._extract_corpus_statistics([line], [["x"]])
    with pytest.raises(
        InputError, match=r"ja-mecab cannot .* 200000 characters: too long sentence"
    ):
        statistics_of(to_batch([("x", [line])]), CONFIGS[0])
    assert integers(statistics_of(to_batch([("猫 だ", ["猫だ"])]), CONFIGS[0]))[0][2] == 2


# Missing and bad models and libraries


@pytest.mark.parametrize("data", [b"", b"garbage", spm_models.model()[:-1]], ids=len)
def test_a_file_that_is_not_a_model_is_bad_input(data):
    config = BleuConfig("spm", spm_model=SentencePieceModel.of(data))
    for check in (require_library, lambda text: prepare_counting(text, BleuConfig())):
        with pytest.raises(InputError, match="the file is not a SentencePiece model"):
            check(config.text)


@pytest.mark.parametrize(
    ("tokenize", "extra", "library"),
    [("ja-mecab", "ja", "ipadic"), ("ko-mecab", "ko", "mecab_ko"), ("spm", "spm", "sentencepiece")],
)
def test_the_error_of_a_missing_library_names_its_extra(tokenize, extra, library):
    # In a process of its own, in which the library cannot be imported.
    program = f"""
import sys
sys.modules[{library!r}] = None
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.errors import BleuError
from beam_bleu.transforms.statistics.counting import prepare_counting
from beam_bleu.transforms.text.library_tokenizers import require_library
model = SentencePieceModel.of(b"") if {tokenize!r} == "spm" else None
for check in (require_library, lambda text: prepare_counting(text, BleuConfig())):
    try:
        check(BleuConfig({tokenize!r}, spm_model=model).text)
    except BleuError as error:
        print(type(error).__name__, error.cause, error.remedy)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    here, worker = done.stdout.splitlines()
    said = f"tokenize '{tokenize}' needs a library that is not installed: "
    assert here.startswith(f"UsageError {said}")
    assert worker.startswith(f"JobError {said}")
    for line in (here, worker):
        assert line.endswith(installing(extra))
        assert library in line or "extra dependencies" in line
