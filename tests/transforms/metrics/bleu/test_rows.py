"""Each tokenizer has an oracle; smoothing methods and presets are as their rows say."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import sacrebleu
import spm_models
from scoring import sacrebleu_signature_of, score_of, sums_of
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


def of_tokenizer(name: str) -> BleuConfig:
    model = SentencePieceModel.of(spm_models.model()) if TOKENIZERS[name].needs_model else None
    return BleuConfig(name, spm_model=model)  # type: ignore[arg-type]


def retokenized(cut: Callable[[str], list[str]]) -> list[Segment]:
    """The segments with single spaces between their tokens."""

    def joined(text: str) -> str:
        # `cut` may leave white space in a token, where "none" would split.
        return " ".join(re.sub(r"\s", "_", token) for token in cut(text))

    return [(joined(one), [joined(each or "") for each in others]) for one, others in SEGMENTS]


IN_EXTRA_TEST = (None, "spm")
"""The extras whose libraries the extra `test` brings, too."""

EACH_TOKENIZER = [
    pytest.param(name, marks=() if row.extra in IN_EXTRA_TEST else pytest.mark.libraries)
    for name, row in TOKENIZERS.items()
]


@pytest.mark.parametrize("name", EACH_TOKENIZER)
def test_a_tokenizer_is_its_oracles(name: str) -> None:
    config, row = of_tokenizer(name), TOKENIZERS[name]
    ours = score_of(SEGMENTS, config)
    if row.sacrebleu is None:
        segments, choices = retokenized(TOKENIZERS_BEYOND_SACREBLEU[name]), {"tokenize": "none"}
    else:
        assert row.sacrebleu in sacrebleu.BLEU.TOKENIZERS
        assert name not in TOKENIZERS_BEYOND_SACREBLEU
        segments, choices = SEGMENTS, {"tokenize": row.sacrebleu}
    metric = sacrebleu.BLEU(**choices)
    streams = itertools.zip_longest(*(references for _, references in segments))
    theirs = metric.corpus_score([candidate for candidate, _ in segments], list(streams))
    assert (ours.score, ours.matches, ours.totals) == (
        theirs.score,
        tuple(theirs.counts),
        tuple(theirs.totals),
    )
    sign_of = sacrebleu_signature_of(sums_of(SEGMENTS, config), config)
    assert sign_of == (None if row.sacrebleu is None else str(metric.get_signature()))


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


def test_weights_alone_set_the_order():
    assert preset("sacrebleu", weights=(0.5, 0.5)).max_ngram_order == 2
    with pytest.raises(ValueError, match=r"max_ngram_order = 3 numbers.*0\.5"):
        preset("sacrebleu", weights=(0.5, 0.5), max_ngram_order=3)


def test_the_weights_of_d2l_follow_the_order():
    assert preset("d2l").weights == (0.5, 0.25, 0.125, 0.0625)
    assert preset("d2l", max_ngram_order=2).weights == (0.5, 0.25)


def test_an_unknown_name_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"preset must be one of sacrebleu, .*, got 'sacre'"):
        preset("sacre")


def test_weights_that_are_too_large_are_refused():
    for largest in ((16.0, 1e-9), (1e308, 1e308), (math.inf, 1.0), (10**400, 1), (math.nan, 1.0)):
        with pytest.raises(ValueError, match="weights must be a tuple"):
            preset("sacrebleu", weights=largest)


def test_a_model_of_another_type_is_refused():
    with pytest.raises(ValueError, match=r"data must be the bytes of a model's file, got "):
        SentencePieceModel.of("text")


def test_presets_with_the_same_tokens_can_be_compared():
    assert list(comparable(BleuConfig())) == ["sacrebleu", "huggingface"]
    assert list(comparable(preset("mteval13a", smooth_method="none"))) == ["mteval13a"]
    assert list(comparable(BleuConfig("none"))) == [
        "papineni2002",
        "tensorflow",
        "d2l",
        "nltk",
        "nltk_legacy",
        "torchmetrics",
    ]
    assert list(comparable(BleuConfig("ascii-space"))) == ["multi_bleu"]
    assert comparable(BleuConfig("none", lowercase=True)) == {}
