"""Presets: the choices of each, changes to them, and which ones can be compared."""

import math

import pytest

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import comparable, preset
from beam_bleu.transforms.text.text import SentencePieceModel


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


@pytest.mark.parametrize(
    "weights", [(16.0, 1e-9), (1e308, 1e308), (math.inf, 1.0), (10**400, 1), (math.nan, 1.0)]
)
def test_weights_that_are_too_large_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be a tuple"):
        preset("sacrebleu", weights=weights)


@pytest.mark.parametrize("data", ["text", None])
def test_a_model_of_another_type_is_refused(data):
    with pytest.raises(ValueError, match=r"data must be the bytes of a model's file, got "):
        SentencePieceModel.of(data)


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
