"""What each metric has: its definition, its signature, and reasons for what it cannot say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scoring import score_of

from beam_bleu.pipeline.saved.totals_file import decoded, encoded
from beam_bleu.transforms.known_metrics import METRICS, config_type

CHOICES: dict[str, dict[str, Any]] = {
    "perplexity": {"token_count_column": "tokens"},
    "mean": {"column": "comet"},
    "mean_error": {"column": "comet"},
}
"""What a config of these metrics cannot be without."""

NORMALIZED = [name for name in METRICS if "normalize" in config_type(name).text_fields()]


def config_of(name: str, **choices: Any) -> Any:
    return config_type(name)(**{**CHOICES.get(name, {}), **choices})


@pytest.mark.parametrize("name", METRICS)
def test_a_definition_survives_as_json_and_scores_many_sums_at_once(name):
    definition = config_of(name).metric
    fields = json.loads(json.dumps(encoded(definition)))
    assert decoded(type(definition), fields) == definition
    with pytest.raises(KeyError):
        decoded(type(definition), {**fields, "more": 1})
    if name in ("bleu", "perplexity"):  # not any numbers can be their sums: they have other tests
        return
    rng, shape = np.random.default_rng(3), (50, definition.basis.width)
    for largest in (10**3, 10**10, 10**15):
        sums = rng.integers(0, largest, shape) * rng.integers(0, 2, shape)
        assert definition.values(sums).tolist() == [definition.value(row) for row in sums.tolist()]
    assert definition.values(np.zeros((0, shape[1]), np.int64)).tolist() == []


def test_normalized_texts_are_equal():
    segments = [("e\u0301 e\u0301 e\u0301 e\u0301", ["\u00e9 \u00e9 \u00e9 \u00e9"])]
    for name in NORMALIZED:
        perfect = score_of([("e e e e", ["e e e e"])], name).score
        assert score_of(segments, name).score != perfect
        if not name.startswith("rouge"):  # it reads only a-z and 0-9
            assert score_of(segments, name, normalize="nfc").score == pytest.approx(perfect)


IMPOSSIBLE = [
    *((name, "normalize", "nfd") for name in NORMALIZED),
    *(("chrf", "char_order", order) for order in (0, 17, True, 6.0)),
    *(("chrf", "beta", beta) for beta in (0, 2.0, 1001)),
    *(("chrf", "word_order", order) for order in (-1, 17, False)),
    *(("chrf", choice, 1) for choice in ("whitespace", "eps_smoothing", "lowercase")),
    *(("ter", choice, "no") for choice in ("normalized", "no_punct", "asian_support")),
    *(("ter", "case_sensitive", None), ("rougeL", "stemmer", 1)),
    *((name, choice, 1) for name in ("wer", "cer") for choice in ("lowercase", "no_punct")),
    ("perplexity", "per", "line"),
    *((name, "column", column) for name in ("mean", "mean_error") for column in ("", "a=b", None)),
]


def test_an_impossible_definition_is_refused():
    for name, choice, value in IMPOSSIBLE:
        with pytest.raises(ValueError, match=f"^{choice} must be "):
            config_of(name, **{choice: value})


ONE, SEVERAL = [("a", ["b"])], [("a", ["b", "c"]), ("a", ["b", None])]
NFKC = {"normalize": "nfkc"}
SIGNATURES = [
    (
        *("chrf", {"char_order": 4, "beta": 3, **NFKC}, SEVERAL),
        "nrefs:var|case:mixed|eff:yes|nc:4|nw:0|space:no|beta:3|norm:nfkc|unicode:",
    ),
    (
        *("ter", {"normalized": True, "no_punct": True, "asian_support": True}, SEVERAL),
        "nrefs:var|case:lc|tok:tercom|norm:yes|punct:no|asian:yes|unicode:",
    ),
    (
        *("rougeL", {"stemmer": True, **NFKC}, SEVERAL),
        "nrefs:var|case:lc|tok:rouge|stem:yes|normalize:nfkc|unicode:",
    ),
    (
        *("wer", {"no_punct": True}, ONE),
        "nrefs:1|case:mixed|tok:jiwer|unit:word|punct:no|unicode:",
    ),
    (
        *("cer", {"lowercase": True, **NFKC}, SEVERAL),
        "nrefs:var|case:lc|tok:jiwer|unit:character|punct:yes|normalize:nfkc|unicode:",
    ),
    ("exact_match", {}, ONE, "nrefs:1|case:lc|tok:squad|unicode:"),
    ("token_f1", NFKC, SEVERAL, "nrefs:var|case:lc|tok:squad|normalize:nfkc|unicode:"),
]


def test_signatures_show_each_choice():
    for name, choices, segments, signature in SIGNATURES:
        assert score_of(segments, name, **choices).signature.startswith(signature)


def test_where_a_score_has_no_gradient_there_is_no_standard_error_but_a_reason():
    for name, segment, reason in [
        ("chrf", ("abc", ["xyz"]), "no character of a candidate is in its references"),
        ("ter", ("a", ["a"]), "no candidate needs an edit"),
        ("wer", ("a", ["a"]), "no candidate needs an edit"),
        ("wer", ("a", [""]), "no reference has a word"),
        ("rouge1", ("x", ["y"]), "no candidate has a match"),
        ("rougeLsum", ("x", ["y"]), "no candidate has a match"),
        ("exact_match", ("x", ["y"]), "no candidate equals a reference"),
        ("token_f1", ("x", ["y"]), "no word of a candidate is in its references"),
    ]:
        score = score_of([segment] * 40, name)
        assert score.standard_error is None
        assert any(reason in warning for warning in score.warnings)
