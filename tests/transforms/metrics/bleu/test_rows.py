"""Each tokenizer has an oracle; smoothing methods and presets are as their rows say."""

from __future__ import annotations

import math
from typing import Any

import pytest
import spm_models
from sacrebleu_counts import assert_equal_to_sacrebleu
from scoring import sacrebleu_signature_of, sums_of
from tokenizer_oracles import TOKENIZERS_BEYOND_SACREBLEU

from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import comparable, preset
from beam_bleu.transforms.pairing.segments.batching import Segment
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

SEGMENTS: list[Segment] = [
    ("The cat's on 1,000 mats, isn't it?", ["The cat is on 1,000 mats, is it?", "A cat"]),
    ("東京都に住んでいる 학생은 a b", ["東京都に住んでいる学生は a b c"]),
    ("a\u001cb c\u00a0d", ["a b c d e f g h i j k l m n o p"]),
    ("x y", ["y x z"]),
]


@pytest.mark.parametrize(
    "name",
    [  # The extra `test` brings the library of spm.
        pytest.param(name, marks=() if row.extra in (None, "spm") else pytest.mark.libraries)
        for name, row in TOKENIZERS.items()
    ],
)
def test_a_tokenizer_is_its_oracles(name: str) -> None:
    row = TOKENIZERS[name]
    model = SentencePieceModel.of(spm_models.model()) if row.needs_model else None
    config = BleuConfig(name, spm_model=model)  # type: ignore[arg-type]
    assert_equal_to_sacrebleu(SEGMENTS, config)
    signature = sacrebleu_signature_of(sums_of(SEGMENTS, config), config)
    assert (signature is None) == (row.sacrebleu is None) == (name in TOKENIZERS_BEYOND_SACREBLEU)
    assert signature is None or f"|tok:{row.sacrebleu}|" in signature


def test_a_smoothing_method_is_as_its_row_says() -> None:
    for name, row in SMOOTH_METHODS.items():
        impossible: list[dict[str, Any]] = []
        if row.smallest_order > 1:
            impossible.append({"max_ngram_order": row.smallest_order - 1})
        if row.value is None or row.divides_by_value:
            impossible.append({"smooth_value": 0})
        if not row.takes_effective_order:
            impossible.append({"effective_order": True})
        for choices in impossible:
            with pytest.raises(ValueError, match=f"{name}.* needs a max|smooth_v|effective_order"):
                BleuConfig(smooth_method=name, **choices)
        config = BleuConfig(smooth_method=name, smooth_value=row.value and 2)
        assert config.for_segments().effective_order is row.takes_effective_order


# Presets


def test_weights_and_order_belong_together():
    assert preset("sacrebleu", weights=(0.5, 0.5)).max_ngram_order == 2
    with pytest.raises(ValueError, match=r"max_ngram_order = 3 numbers.*0\.5"):
        preset("sacrebleu", weights=(0.5, 0.5), max_ngram_order=3)
    assert preset("d2l").weights == (0.5, 0.25, 0.125, 0.0625)
    assert preset("d2l", max_ngram_order=2).weights == (0.5, 0.25)


def test_what_is_no_preset_no_weights_or_no_model_is_refused():
    with pytest.raises(ValueError, match=r"preset must be one of sacrebleu, .*, got 'sacre'"):
        preset("sacre")
    for largest in ((16.0, 1e-9), (1e308, 1e308), (math.inf, 1.0), (10**400, 1), (math.nan, 1.0)):
        with pytest.raises(ValueError, match="weights must be a tuple"):
            preset("sacrebleu", weights=largest)
    with pytest.raises(ValueError, match=r"data must be the bytes of a model's file, got "):
        SentencePieceModel.of("text")


def test_presets_with_the_same_tokens_can_be_compared():
    assert list(comparable(BleuConfig())) == ["sacrebleu", "huggingface"]
    assert list(comparable(preset("mteval13a", smooth_method="none"))) == ["mteval13a"]
    of_words = "papineni2002 tensorflow d2l nltk nltk_legacy torchmetrics"
    assert list(comparable(BleuConfig("none"))) == of_words.split()
    assert list(comparable(BleuConfig("ascii-space"))) == ["multi_bleu"]
    assert comparable(BleuConfig("none", lowercase=True)) == {}
