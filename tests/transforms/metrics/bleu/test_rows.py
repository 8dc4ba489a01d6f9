"""Each choice is a row of a table, and each row has everything that belongs to it.

These tests fail if a row has no function or no oracle. A row without a function also gives an error
when it is used, and never the number of another choice.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import brute_force
import numpy as np
import pytest
import sacrebleu
import spm_models
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from scoring import (
    bleu_table,
    of_segments,
    sacrebleu_signature_of,
    score_of,
    signature_of,
    statistics_of,
    sums_of,
)
from tokenizer_oracles import TOKENIZERS_BEYOND_SACREBLEU

from beam_bleu.transforms.metrics.bleu.columns import (
    REFERENCE_LENGTHS,
    BleuColumns,
)
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.scoring import (
    SMOOTH_METHODS,
    Scoring,
    corpus_smooth_methods,
    counted_order,
)
from beam_bleu.transforms.pairing.segments.batching import Segment, to_batch
from beam_bleu.transforms.text.text import (
    CASES,
    NORMALIZATIONS,
    Lowercase,
    SentencePieceModel,
)
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

SEGMENTS: list[Segment] = [
    ("The cat's on 1,000 mats, isn't it?", ["The cat is on 1,000 mats, is it?", "A cat"]),
    ("東京都に住んでいる 학생은 a b", ["東京都に住んでいる学生は a b c"]),
    ("a\u001cb c\u00a0d", ["a b c d e f g h i j k l m n o p"]),
    ("x y", ["y x z"]),
]
PLAIN: list[Segment] = [
    ("a b c d e f", ["a b c e d f g", "a b", "f"]),
    ("b a", ["a b c", "b"]),
    ("a b d c a", ["b d c", "b d c a a b"]),
]
PLAIN_WITHOUT_4GRAMS: list[Segment] = [("a b c x d e", ["a b c d e", "x y z"]), ("c b a", ["a b"])]


# The tables themselves


# The functions in the rooms


# An oracle for each row


def of_tokenizer(name: str) -> BleuConfig:
    model = SentencePieceModel.of(spm_models.model()) if TOKENIZERS[name].needs_model else None
    return BleuConfig(name, spm_model=model)  # type: ignore[arg-type]


def retokenized(cut: Callable[[str], list[str]]) -> list[Segment]:
    """The segments with single spaces between their tokens."""

    def joined(text: str) -> str:
        # `cut` may leave white space in a token, where "none" would split.
        return " ".join(re.sub(r"\s", "_", token) for token in cut(text))

    return [(joined(one), [joined(each or "") for each in others]) for one, others in SEGMENTS]


def sacrebleus(segments: list[Segment], **choices: Any) -> sacrebleu.BLEU:
    """(metric, score) of sacreBLEU."""
    most = max(len(references) for _, references in segments)
    streams = [
        [references[i] if i < len(references) else None for _, references in segments]
        for i in range(most)
    ]
    metric = sacrebleu.BLEU(**choices)
    return metric, metric.corpus_score([candidate for candidate, _ in segments], streams)


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
    metric, theirs = sacrebleus(segments, **choices)
    assert (ours.score, ours.matches, ours.totals) == (
        theirs.score,
        tuple(theirs.counts),
        tuple(theirs.totals),
    )
    sign_of = sacrebleu_signature_of(sums_of(SEGMENTS, config), config)
    assert sign_of == (None if row.sacrebleu is None else str(metric.get_signature()))


@pytest.mark.parametrize("value", CASES, ids=str)
def test_a_case_is_its_oracles(value: Lowercase) -> None:
    texts = [("GÜNEŞ Doğdu VE Geldi x y", ["güneş doğdu ve geldi x Y"])]
    ours = score_of(texts, BleuConfig("none", value))
    change = {True: str.lower, False: str, "ascii": lambda text: text.encode().lower().decode()}
    changed = [
        (change[value](one), [change[value](each) for each in others]) for one, others in texts
    ]
    assert ours.score == score_of(changed, BleuConfig("none")).score
    signed = sacrebleu_signature_of(sums_of(texts, BleuConfig()), BleuConfig("13a", value))
    assert (signed is not None) == CASES[value].in_sacrebleu


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_a_normalization_is_pythons(name: Any) -> None:
    row = NORMALIZATIONS[name]
    text = "e\u0301 ﬃ Å \u1100\u1161 ½"
    done = unicodedata.normalize(row.form, text)
    assert not unicodedata.is_normalized(row.form, text)
    ours = score_of([(text, [done])], BleuConfig("none", normalize=name))
    assert ours.matches == score_of([(done, [done])], BleuConfig("none")).matches


def brute(segments: list[Segment], rule: str = "closest", order: int = 4) -> Any:
    tokens = [(one.split(), [each.split() for each in others]) for one, others in segments]
    return brute_force.corpus_sums(tokens, order, rule)


@pytest.mark.parametrize("name", REFERENCE_LENGTHS)
def test_a_reference_length_is_by_brute_force(name: Any) -> None:
    assert brute_force.REFERENCE_LENGTHS.keys() == REFERENCE_LENGTHS.keys()
    config = BleuConfig("none", reference_length=name)
    sums = sums_of(PLAIN, config)
    expected = brute(PLAIN, name).reference_length
    assert Fraction(*BleuColumns(sums.columns).reference_length(name)) == expected
    ours = score_of(PLAIN, config)
    assert ours.ref_len == float(expected)
    assert type(ours.ref_len) is (float if REFERENCE_LENGTHS[name].divided else int)
    signed = sacrebleu_signature_of(sums, config)
    assert (signed is not None) == REFERENCE_LENGTHS[name].in_sacrebleu
    if signed is not None:
        assert expected == sacrebleus(PLAIN, tokenize="none")[1].ref_len


def nltks(number: int, segments: list[Segment]) -> float:
    """NLTK's score of a corpus, 0..1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without matches
        return corpus_bleu(
            [[each.split() for each in others] for _, others in segments],
            [one.split() for one, _ in segments],
            smoothing_function=getattr(SmoothingFunction(), f"method{number}"),
        )


SMOOTHINGS_BEYOND_SACREBLEU: dict[str, Callable[[list[Segment]], float]] = {
    "add-k-all": lambda segments: brute_force.papineni2002(
        dataclasses.replace(
            brute(segments),
            matches=[m + 1 for m in brute(segments).matches],
            totals=[t + 1 for t in brute(segments).totals],
        )
    ),
    "epsilon": lambda segments: brute_force.papineni2002_epsilon(brute(segments)),
    "mteval": lambda segments: brute_force.mteval13a(brute(segments)),
    "leave-out": lambda segments: brute_force.nltk_legacy(brute(segments)),
    **{
        f"nltk-method{number}": lambda segments, number=number: nltks(number, segments)
        for number in range(5)
    },
}


@pytest.mark.parametrize("name", corpus_smooth_methods())
@pytest.mark.parametrize("segments", [PLAIN, PLAIN_WITHOUT_4GRAMS])
def test_the_smoothing_of_a_corpus_is_its_oracles(name: Any, segments: list[Segment]) -> None:
    row = SMOOTH_METHODS[name]
    config = BleuConfig("none", smooth_method=name)
    ours = score_of(segments, config).score
    signed = sacrebleu_signature_of(sums_of(segments, config), config)
    if row.sacrebleu is None:
        assert ours == pytest.approx(100 * SMOOTHINGS_BEYOND_SACREBLEU[name](segments), rel=1e-12)
        assert signed is None
        return
    assert sacrebleu.BLEU.SMOOTH_DEFAULTS[row.sacrebleu] == row.value
    assert name not in SMOOTHINGS_BEYOND_SACREBLEU
    metric, theirs = sacrebleus(segments, tokenize="none", smooth_method=row.sacrebleu)
    assert ours == theirs.score
    assert signed == str(metric.get_signature())


@pytest.mark.parametrize("name", sorted(set(SMOOTH_METHODS) - set(corpus_smooth_methods())))
def test_the_smoothing_of_segments_is_nltks(name: Any) -> None:
    config = of_segments(BleuConfig("none", smooth_method=name))
    with pytest.raises(ValueError, match="is for segment scores only"):
        config.scoring.require_corpus()
    given = [("a b c d e f", ["a b c e d f g"])]
    rows = bleu_table(statistics_of(to_batch(given), config), config.scoring)
    ((one, (other,)),) = given
    method = getattr(SmoothingFunction(), name.removeprefix("nltk-"))
    expected = sentence_bleu([other.split()], one.split(), smoothing_function=method)
    assert rows["score"].to_pylist() == [pytest.approx(100 * expected, rel=1e-12)]


@pytest.mark.parametrize("name", SMOOTH_METHODS)
def test_a_smoothing_method_is_as_its_row_says(name: Any) -> None:
    row = SMOOTH_METHODS[name]
    smallest = Scoring(name, max_ngram_order=row.smallest_order)
    assert counted_order([smallest]) == max(row.smallest_order, row.counted_order)
    if row.smallest_order > 1:
        with pytest.raises(ValueError, match=f"{name} needs a max_ngram_order of"):
            Scoring(name, max_ngram_order=row.smallest_order - 1)
    if row.value is None:
        with pytest.raises(ValueError, match="smooth_value 1 cannot be used with"):
            Scoring(name, 1)
    else:
        assert Scoring(name).effective_smooth_value == row.value
        assert Scoring(name, 2).effective_smooth_value == 2
        if row.divides_by_value:
            with pytest.raises(ValueError, match="smooth_value must be 1e-06 or more"):
                Scoring(name, 0)
    if not row.takes_effective_order:
        with pytest.raises(ValueError, match="effective_order cannot be used with"):
            Scoring(name, effective_order=True)
    assert Scoring(name).for_segments().effective_order is row.takes_effective_order


def test_each_choice_changes_the_signature() -> None:
    # The signature of a tokenizer of MeCab has the version of a library: see the next test.
    tokenizers = [name for name, row in TOKENIZERS.items() if row.extra in IN_EXTRA_TEST]
    configs = [
        *map(of_tokenizer, tokenizers),
        *(BleuConfig(lowercase=value) for value in CASES if value is not False),
        *(BleuConfig(normalize=name) for name in NORMALIZATIONS),  # type: ignore[arg-type]
        *(
            BleuConfig(reference_length=name)  # type: ignore[arg-type]
            for name in REFERENCE_LENGTHS
            if name != "closest"
        ),
        *(
            BleuConfig(smooth_method=name)  # type: ignore[arg-type]
            for name in SMOOTH_METHODS
            if name != "exp"
        ),
    ]
    sums = sums_of(PLAIN, BleuConfig())
    signatures = [signature_of(sums, config) for config in configs]
    assert (
        len(set(signatures))
        == len(configs)
        == sum(map(len, (tokenizers, CASES, NORMALIZATIONS, REFERENCE_LENGTHS, SMOOTH_METHODS))) - 3
    )


# A row without its function


@pytest.mark.parametrize(
    ("field", "rows"),
    [
        ("tokenize", TOKENIZERS),
        ("reference_length", REFERENCE_LENGTHS),
    ],
)
@pytest.mark.parametrize("value", ["other", "", ["13a"], 3, np.str_("x")])
def test_an_unknown_name_is_refused_with_the_choices(
    field: str, rows: Mapping[str, Any], value: Any
) -> None:
    choices = re.escape(f"{field} must be one of {', '.join(rows)}, got {value!r}")
    with pytest.raises(ValueError, match=choices):
        BleuConfig(**{field: value})
