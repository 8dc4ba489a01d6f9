"""Japanese, Korean and SentencePiece: the integers equal sacreBLEU's with the same tokenizer."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import spm_models
from hostile_texts import edited
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers import tokenizer_spm
from sacrebleu_counts import assert_equal_to_sacrebleu, counted, integers, name, sacrebleu_integers
from scoring import statistics_of

from beam_bleu.transforms.errors import InputError, installing
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import prepare_counting
from beam_bleu.transforms.text.library_tokenizers import require_library
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

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


def segments(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        text = " ".join(rng.choices(CORPUS, k=rng.choice([1, 1, 2])))
        references = [edited(text, rng, PIECES) for _ in range(rng.choice([1, 1, 2]))]
        yield edited(text, rng, PIECES), [*references, rng.choice([None, rng.choice(CORPUS)])]


@pytest.mark.parametrize("config", CONFIGS, ids=name)
def test_real_and_hostile_lines_count_as_in_sacrebleu(config):
    corpus = [*segments(1, 300), *((text, [text]) for text in CORPUS)]
    ours = assert_equal_to_sacrebleu(corpus, config)
    assert np.count_nonzero(ours[:, 1 + config.max_ngram_order]) > 150


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
    assert_equal_to_sacrebleu(corpus, config)


def test_threads_share_a_tokenizer():
    batches = [to_batch(list(segments(seed, 100))) for seed in range(8)]
    for config in (CONFIGS[0], CONFIGS[2], *SPM[:2]):
        alone = [integers(statistics_of(batch, config)) for batch in batches]
        with ThreadPoolExecutor(4) as pool:
            together = pool.map(partial(statistics_of, config=config), batches)
            for one, other in zip(together, alone, strict=True):
                assert (integers(one) == other).all()


def test_a_line_that_mecab_gives_up_is_bad_input():
    # sacreBLEU ends with "'NoneType' object has no attribute 'strip'".
    line = "x" * 200_000
    with pytest.raises(AttributeError, match="NoneType"):
        sacrebleu_integers([(line, ["x"])], CONFIGS[0])
    with pytest.raises(
        InputError, match=r"ja-mecab cannot .* 200000 characters: too long sentence"
    ):
        statistics_of(to_batch([("x", [line])]), CONFIGS[0])
    assert counted([("猫 だ", ["猫だ"])], CONFIGS[0])[0, 2] == 2


# Missing and bad models and libraries


def test_a_file_that_is_not_a_model_is_bad_input():
    for data in (b"", b"garbage", spm_models.model()[:-1]):
        config = BleuConfig("spm", spm_model=SentencePieceModel.of(data))
        for check in (require_library, lambda text: prepare_counting(text, BleuConfig())):
            with pytest.raises(InputError, match="the file is not a SentencePiece model"):
                check(config.text)


def test_the_error_of_a_missing_library_names_its_extra():
    # In a process of its own, in which the libraries cannot be imported.
    program = """
import sys
for name in ("ipadic", "mecab_ko", "sentencepiece", "whisper_normalizer"):
    sys.modules[name] = None
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.error_rates.metric import WerConfig
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TOKENIZERS
from beam_bleu.transforms.errors import BleuError
from beam_bleu.transforms.statistics.counting import prepare_counting
from beam_bleu.transforms.text.library_tokenizers import require_library
spm = BleuConfig("spm", spm_model=SentencePieceModel.of(b""))
whisper = WerConfig(normalizer="whisper-en")
for config in BleuConfig("ja-mecab"), BleuConfig("ko-mecab"), spm, whisper:
    for check in (require_library, lambda text: prepare_counting(text, config.metric)):
        try:
            check(config.text)
        except BleuError as error:
            print(type(error).__name__, error.cause, error.remedy)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    lines = iter(done.stdout.splitlines())
    for what, extra, library in (
        ("tokenize 'ja-mecab'", "ja", "ipadic"),
        ("tokenize 'ko-mecab'", "ko", "mecab_ko"),
        ("tokenize 'spm'", "spm", "sentencepiece"),
        ("the normalizer whisper-en", "whisper", "whisper_normalizer"),
    ):
        said = f"{what} needs a library that is not installed: "
        for kind, line in zip(("UsageError", "JobError"), lines, strict=False):
            assert line.startswith(f"{kind} {said}")
            assert line.endswith(installing(extra))
            assert library in line or "extra dependencies" in line
    assert next(lines, None) is None


def test_models_of_sacrebleu_are_those_that_it_has_downloaded(tmp_path, monkeypatch):
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    names = {row["signature"]: row["url"] for row in tokenizer_spm.SPM_MODELS.values()}
    assert list(names) == [row.name for row in TOKENIZERS.values() if row.downloaded]
    for tokenize, url in names.items():
        with pytest.raises(InputError, match=f"run sacrebleu once with --tokenize {tokenize}"):
            BleuConfig(tokenize)
        path = tmp_path / "models" / os.path.basename(url)
        path.write_bytes(spm_models.model())
        config = BleuConfig(tokenize)
        assert_equal_to_sacrebleu([(text, [text[3:]]) for text in CORPUS], config)
        digest = SentencePieceModel.of(path.read_bytes()).digest
        own, of_sacrebleu = config.metric.signatures(config.text.name, 1, 1)
        assert f"|tok:{tokenize}-{digest}|" in own
        assert f"|tok:{tokenize}|" in of_sacrebleu
        path.unlink()  # workers need not have it
        assert pickle.loads(pickle.dumps(config)).text == config.text
