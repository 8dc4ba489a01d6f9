"""Each choice is a row of a table, and each row has everything that belongs to it.

These tests fail if a row has no function or no oracle. A row without a function also gives an error
when it is used, and never the number of another choice.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, get_args

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

from beam_bleu.pipeline.command_line import options
from beam_bleu.pipeline.command_line.options import our_flags
from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.errors import UsageError, installing
from beam_bleu.transforms.metrics.bleu import columns, formula
from beam_bleu.transforms.metrics.bleu.columns import (
    REFERENCE_LENGTHS,
    BleuColumns,
    ReferenceLength,
    ReferenceLengthName,
)
from beam_bleu.transforms.metrics.bleu.config import PRESETS, BleuConfig, Preset, PresetName, preset
from beam_bleu.transforms.metrics.bleu.scoring import (
    SMOOTH_METHODS,
    Scoring,
    SmoothMethod,
    SmoothMethodName,
    corpus_smooth_methods,
    counted_order,
)
from beam_bleu.transforms.pairing.segments.batching import Segment, to_batch
from beam_bleu.transforms.text import library_tokenizers, spacing, splitting
from beam_bleu.transforms.text.all_tokenizers import ALL_TOKENIZERS
from beam_bleu.transforms.text.text import (
    CASES,
    NORMALIZATIONS,
    Case,
    Lowercase,
    Normalization,
    NormalizationName,
    SentencePieceModel,
)
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, Tokenizer, TokenizerName

PROJECT = pathlib.Path(__file__).parents[4]

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

TABLES: dict[str, tuple[Mapping[str, Any], Any]] = {
    "tokenizer": (TOKENIZERS, TokenizerName),
    "smoothing method": (SMOOTH_METHODS, SmoothMethodName),
    "reference length": (REFERENCE_LENGTHS, ReferenceLengthName),
    "normalization": (NORMALIZATIONS, NormalizationName),
    "preset": (PRESETS, PresetName),
}


@pytest.mark.parametrize(("rows", "literal"), TABLES.values(), ids=TABLES)
def test_the_type_of_a_choice_lists_the_rows(rows: Mapping[str, Any], literal: Any) -> None:
    assert get_args(literal) == tuple(rows)


def test_the_type_of_a_case_lists_the_rows() -> None:
    of_bool, others = get_args(Lowercase)
    assert {*CASES} == {True, False, *get_args(others)}
    assert of_bool is bool
    assert all(type(value) is type(case.value) for value, case in CASES.items())


@pytest.mark.parametrize(
    "rows", [TOKENIZERS, SMOOTH_METHODS, REFERENCE_LENGTHS, NORMALIZATIONS, PRESETS]
)
def test_a_row_has_its_name_and_a_line_of_description(rows: Mapping[str, Any]) -> None:
    for name, row in rows.items():
        assert row.name == name
        description = row.source if isinstance(row, Preset) else row.description
        assert description
        assert "\n" not in description


def test_two_rows_of_one_name_are_refused() -> None:
    row = ReferenceLength("closest", "")
    with pytest.raises(ValueError, match="two rows have the same name: closest, closest"):
        table(row, row)


# The functions in the rooms


def test_each_room_has_a_function_for_each_row() -> None:
    libraries = {name for name, row in TOKENIZERS.items() if row.extra is not None}
    assert splitting._TOKENIZERS.keys() == ALL_TOKENIZERS.keys()
    assert library_tokenizers._TOKENIZERS.keys() == libraries
    assert library_tokenizers._MECABS.keys() == {name for name in libraries if "mecab" in name}
    assert spacing._CLASSIFY.keys() == spacing._STRIPS_START.keys() < TOKENIZERS.keys()
    assert splitting._CASES.keys() == CASES.keys()
    lengths = columns._LENGTH_COLUMNS
    assert lengths.keys() == REFERENCE_LENGTHS.keys()
    assert len(set(lengths.values())) == len(lengths)
    assert formula._NUMBERS.keys() == SMOOTH_METHODS.keys()
    assert len(set(formula._NUMBERS.values())) == len(SMOOTH_METHODS)


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
    assert unicodedata.normalize(row.decomposed, done) == unicodedata.normalize(
        row.decomposed, text
    )
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


LIVE_PRESETS = {"sacrebleu", "papineni2002", "nltk"}
"""The tests call the tools of these presets (tests/transforms/score). The others have records."""


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_records_of_its_tool(name: str) -> None:
    assert preset(name).scoring.require_corpus() is None
    if name not in LIVE_PRESETS:
        recorded = json.loads((PROJECT / "tests" / "golden" / f"{name}.json").read_text())
        assert recorded["records"]


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


@pytest.mark.parametrize("name", EACH_TOKENIZER)
def test_the_signature_tells_the_versions_of_the_row(name: str) -> None:
    config = of_tokenizer(name)
    fields = signature_of(sums_of(PLAIN, BleuConfig()), config).split("|")
    assert next(field for field in fields if field.startswith("tok:")).startswith(f"tok:{name}")
    for package in TOKENIZERS[name].versions:
        assert [field for field in fields if field.startswith(f"{package}:")]


@pytest.mark.parametrize(
    ("name", "library"), [("ja-mecab", "MeCab"), ("ko-mecab", "mecab_ko")], ids=["ja", "ko"]
)
def test_a_signature_without_its_library_says_what_to_install(name, library, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=library) as raised:
        signature_of(sums_of(PLAIN, BleuConfig()), of_tokenizer(name))
    assert raised.value.remedy == installing(name.removesuffix("-mecab"))


# A row without its function


FAKE: Any = "fake"


def choices_of_flags(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The choices of flags by the rows of a test: a process keeps the parser that it has made."""
    monkeypatch.setattr(options, "our_parser", options.our_parser.__wrapped__)
    return {flag.dest: flag.choices for flag in our_flags()}


def test_a_tokenizer_without_a_function_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for table_of_tokenizers in (TOKENIZERS, ALL_TOKENIZERS):
        monkeypatch.setitem(table_of_tokenizers, FAKE, Tokenizer(FAKE, "", ""))
    assert FAKE in choices_of_flags(monkeypatch)["tokenize"]
    with pytest.raises(NotImplementedError, match="nothing computes the tokenizer 'fake' here"):
        score_of(PLAIN, BleuConfig(FAKE))
    monkeypatch.setitem(ALL_TOKENIZERS, FAKE, Tokenizer(FAKE, "", "", extra="fake"))
    with pytest.raises(NotImplementedError, match="nothing computes the tokenizer 'fake' here"):
        library_tokenizers.require_tokenizer(BleuConfig(FAKE).text)


@pytest.mark.parametrize("function", [spacing._classes.__wrapped__, library_tokenizers.mecab])
def test_a_tokenizer_of_another_kind_is_an_error(function: Callable[[str], Any]) -> None:
    with pytest.raises(NotImplementedError, match="nothing computes the tokenizer '13a' here"):
        function("13a")


def test_a_case_without_a_function_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, FAKE, Case(FAKE, FAKE, FAKE, "", "", False, False))
    assert FAKE in choices_of_flags(monkeypatch)
    with pytest.raises(NotImplementedError, match="nothing computes the case 'fake' here"):
        score_of(PLAIN, BleuConfig(lowercase=FAKE))


def assert_nothing_computes(choice: str, config: BleuConfig) -> None:
    """Neither the corpus nor its segments are scored by a definition with this choice."""
    with pytest.raises(NotImplementedError, match=f"nothing computes the {choice}"):
        score_of(PLAIN, config)
    statistics = statistics_of(to_batch(PLAIN), config)
    with pytest.raises(NotImplementedError, match=f"nothing computes the {choice}"):
        bleu_table(statistics, config.scoring)


def test_a_smoothing_method_without_a_function_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SMOOTH_METHODS, FAKE, SmoothMethod(FAKE, "", ""))
    assert FAKE in choices_of_flags(monkeypatch)["smooth_method"]
    assert_nothing_computes("smooth_method 'fake'", BleuConfig(smooth_method=FAKE))


@pytest.mark.parametrize("number", [-1, len(SMOOTH_METHODS), 99])
def test_a_smoothing_method_without_a_branch_is_an_error(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SMOOTH_METHODS, FAKE, SmoothMethod(FAKE, "", ""))
    monkeypatch.setitem(formula._NUMBERS, FAKE, number)
    config = BleuConfig(smooth_method=FAKE)
    with pytest.raises(ValueError, match="no smoothing method has this number"):
        score_of(PLAIN, config)
    statistics = statistics_of(to_batch(PLAIN), config)
    with pytest.raises(ArithmeticError, match="_score_rows: compiled code ended with"):
        bleu_table(statistics, config.scoring)


def test_a_reference_length_without_a_function_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(REFERENCE_LENGTHS, FAKE, ReferenceLength(FAKE, ""))
    assert FAKE in choices_of_flags(monkeypatch)["reference_length"]
    assert_nothing_computes("reference length 'fake'", BleuConfig(reference_length=FAKE))


def test_a_normalization_that_python_does_not_have_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(NORMALIZATIONS, FAKE, Normalization(FAKE, "", FAKE, FAKE))
    assert FAKE in choices_of_flags(monkeypatch)["normalize"]
    with pytest.raises(ValueError, match="invalid normalization form"):
        score_of(PLAIN, BleuConfig(normalize=FAKE))


def test_a_preset_of_an_unknown_choice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, FAKE, Preset(FAKE, "", "", {"tokenize": FAKE}))
    assert FAKE in choices_of_flags(monkeypatch)["preset"]
    with pytest.raises(ValueError, match=r"tokenize must be one of 13a, .*, got 'fake'"):
        preset(FAKE)
    monkeypatch.setitem(PRESETS, FAKE, Preset(FAKE, "", "", {"tokeniser": "13a"}))
    with pytest.raises(TypeError, match="tokeniser"):
        preset(FAKE)


@pytest.mark.parametrize(
    ("field", "rows"),
    [
        ("tokenize", TOKENIZERS),
        ("smooth_method", SMOOTH_METHODS),
        ("reference_length", REFERENCE_LENGTHS),
        ("normalize", NORMALIZATIONS),
    ],
)
@pytest.mark.parametrize("value", ["other", "", ["13a"], 3, np.str_("x")])
def test_an_unknown_name_is_refused_with_the_choices(
    field: str, rows: Mapping[str, Any], value: Any
) -> None:
    choices = re.escape(f"{field} must be one of {', '.join(rows)}, got {value!r}")
    with pytest.raises(ValueError, match=choices):
        BleuConfig(**{field: value})
