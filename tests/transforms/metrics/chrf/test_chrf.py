"""chrF as a metric: definitions and standard errors."""

from __future__ import annotations

import dataclasses

import pytest
from scoring import corpus_sums
from test_chrf_against_sacrebleu import counted, hostile, score_of

from beam_bleu import ChrfConfig
from beam_bleu.transforms.chosen_metrics import definition_of
from beam_bleu.transforms.metrics.chrf.columns import chrf_basis
from beam_bleu.transforms.metrics.chrf.kind import KINDS
from beam_bleu.transforms.metrics.chrf.metric import Chrf

SEGMENTS_OF_TEXT = hostile(11, 600, 2)


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"char_order": 0}, "char_order must be 1 to 16, an int, got 0"),
        ({"char_order": 17}, "char_order must be 1 to 16, an int, got 17"),
        ({"char_order": True}, "char_order must be 1 to 16, an int, got True"),
        ({"char_order": 6.0}, "char_order must be 1 to 16, an int, got 6.0"),
        ({"beta": 0}, "beta must be 1 to 1000, an int, got 0"),
        ({"beta": 2.0}, "beta must be 1 to 1000, an int, got 2.0"),
        ({"beta": 1001}, "beta must be 1 to 1000, an int, got 1001"),
        ({"word_order": -1}, "word_order must be 0 to 16, an int, got -1"),
        ({"word_order": 17}, "word_order must be 0 to 16, an int, got 17"),
        ({"word_order": False}, "word_order must be 0 to 16, an int, got False"),
        ({"whitespace": 1}, "whitespace must be True or False, got 1"),
        ({"eps_smoothing": None}, "eps_smoothing must be True or False, got None"),
        ({"lowercase": "ascii"}, "lowercase must be True or False, got 'ascii'"),
        ({"normalize": "nfd"}, "normalize must be one of nfc, nfkc, got 'nfd'"),
    ],
)
def test_an_impossible_definition_is_refused(choices, reason):
    with pytest.raises(ValueError, match=reason):
        ChrfConfig(**choices)


def test_signatures_show_each_choice():
    assert score_of(counted([("a", ["b"])], ChrfConfig()), ChrfConfig()).signature.startswith(
        "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:beam-bleu-"
    )
    config = ChrfConfig(4, 3, "nfkc")
    score = score_of(counted([("a", ["b", "c"]), ("a", ["b", None])], config), config)
    assert score.signature.startswith(
        "nrefs:var|case:mixed|eff:yes|nc:4|nw:0|space:no|beta:3|norm:nfkc|unicode:"
    )
    assert score.sacrebleu_signature is None
    config = ChrfConfig(word_order=2, whitespace=True, lowercase=True, eps_smoothing=True)
    score = score_of(counted([("a", ["b"])], config), config)
    assert score.signature.startswith("nrefs:1|case:lc|eff:no|nc:6|nw:2|space:yes|unicode:")
    assert score.sacrebleu_signature == ("nrefs:1|case:lc|eff:no|nc:6|nw:2|space:yes|version:2.6.0")


def test_names_show_beta_and_the_orders_of_words():
    names = [metric.name for metric in (Chrf(), Chrf(beta=3), Chrf(word_order=2), Chrf(5, 1, 3))]
    assert names == ["chrF2", "chrF3", "chrF2++", "chrF1+++"]


def test_normalized_texts_match():
    segments = [("e\u0301", ["\u00e9"])]
    plain, normalized = ChrfConfig(), ChrfConfig(normalize="nfc")
    assert score_of(counted(segments, plain), plain).score == 0
    assert score_of(counted(segments, normalized), normalized).score == 100


@pytest.mark.parametrize(("smoothed", "expected"), [(False, 0), (True, 1e-14)])
def test_without_matches_there_is_no_standard_error(smoothed, expected):
    segments, config = [("abc", ["xyz"])] * 40, ChrfConfig(eps_smoothing=smoothed)
    score = score_of(counted(segments, config), config)
    assert score.score == pytest.approx(expected, abs=1e-20)
    assert score.standard_error is None
    assert any("no character of a candidate is in its references" in w for w in score.warnings)


def column(name: str, order: int) -> int:
    return chrf_basis(8).names.index(f"{name}_{order}")


WORDS = 6
"""The number of the order before those of words."""


def test_counts_of_other_orders_are_refused():
    sums = corpus_sums(counted([("a", ["b"])], ChrfConfig(3)), 0)
    with pytest.raises(ValueError, match="chrF2 of order 6 needs 20 columns, got 11"):
        Chrf().value(sums.columns)
    with pytest.raises(ValueError, match="chrF2\\+\\+ of order 6 and 2 of words needs 26 columns"):
        Chrf(word_order=2).value(sums.columns)


def test_a_definition_survives_as_json():
    for metric in (Chrf(), Chrf(3, 5), Chrf(word_order=2, whitespace=True, eps_smoothing=True)):
        assert KINDS["chrf"].decoded(KINDS["chrf"].encoded(metric)) == metric
    with pytest.raises(TypeError):
        KINDS["chrf"].decoded({"char_order": 6, "beta": 2, "more": 1})


def test_a_config_of_another_metric_is_refused():
    with pytest.raises(ValueError, match="config must be a BleuConfig, got ChrfConfig"):
        definition_of(ChrfConfig(), ["bleu"])
    _, definition = definition_of(None, ["chrf"])
    assert definition.metric == Chrf()
    assert dataclasses.asdict(Chrf()) == {
        "char_order": 6,
        "beta": 2,
        "word_order": 0,
        "whitespace": False,
        "eps_smoothing": False,
    }
