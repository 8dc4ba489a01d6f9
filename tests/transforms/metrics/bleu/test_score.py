"""Scores of sums are sacreBLEU's to the last bit; what definitions allow, and their signatures."""

import itertools
import math
import re
import unicodedata

import pytest
import sacrebleu
import spm_models
from hypothesis import given, settings
from hypothesis import strategies as st
from made_units import made_totals, named_columns
from sacrebleu_counts import assert_equal_to_sacrebleu, counted
from scoring import score_of, score_of_totals
from tokenizer_oracles import TOKENIZERS_BEYOND_SACREBLEU

from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS, BleuColumns
from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TOKENIZERS
from beam_bleu.transforms.version import VERSION

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=150)


def made_sums(matches, totals, ref_len):
    """The columns of a segment whose candidate has these n-grams; the first are its tokens."""
    short = [more - less for less, more in itertools.pairwise(totals)]
    return named_columns(
        len(totals),
        segments=1,
        candidate_length=totals[0],
        ref_shortest=ref_len,
        **{f"matches_{n}": matched for n, matched in enumerate(matches, 1)},
        **{f"short_{n}": 1 + fewer for n, fewer in enumerate(short, 1)},
    )


def test_sums_of_another_order_are_refused():
    with pytest.raises(ValueError, match=r"sums of order 2 .* needs order 4"):
        score_of_totals(made_totals([made_sums((1, 1), (2, 1), 2)]), BleuConfig())


VALUES = st.none() | st.sampled_from([0, 0.0, 1, 0.1, 0.125, 3]) | st.floats(0, 1e6)


@st.composite
def sums_and_definition(draw):
    """Sums of N orders; often with orders without a match, or without an n-gram."""
    order = draw(st.integers(1, 16))
    largest = draw(st.sampled_from([0, 1, 3, 50, 10**6, 10**12, 2**70]))
    totals = draw(st.lists(st.integers(0, largest), min_size=order, max_size=order))
    if draw(st.booleans()):  # as in real candidates: the numbers fall to 0
        totals.sort(reverse=True)
    shares = draw(st.lists(st.integers(0, 8), min_size=order, max_size=order))
    matches = [total * share // 8 for total, share in zip(totals, shares, strict=True)]
    ref_len = draw(st.sampled_from([0, totals[0]]) | st.integers(0, 2 * largest))
    method = draw(st.sampled_from(["exp", "floor", "add-k", "none"]))
    config = BleuConfig(
        smooth_method=method,
        smooth_value=draw(VALUES) if method in ("floor", "add-k") else None,
        effective_order=draw(st.booleans()),
        max_ngram_order=order,
    )
    return made_sums(matches, totals, ref_len), config


@DETERMINISTIC
@given(sums_and_definition())
def test_any_sums_score_as_in_sacrebleu_to_the_last_bit(drawn):
    sums, config = drawn
    columns = BleuColumns(sums)
    theirs = sacrebleu.BLEU.compute_bleu(
        list(columns.matches),  # its own lists, because add-k changes them
        list(columns.totals),
        columns.candidate_length,
        columns.reference_length("closest")[0],
        smooth_method=config.smooth_method,
        smooth_value=config.smooth_value,
        effective_order=config.effective_order,
        max_ngram_order=config.max_ngram_order,
    )
    ours = score_of_totals(made_totals([sums]), config)
    assert ours.score == theirs.score
    assert list(ours.precisions) == theirs.precisions
    assert (ours.bp, ours.ratio) == (theirs.bp, theirs.ratio)
    assert (ours.sys_len, ours.ref_len) == (theirs.sys_len, theirs.ref_len)


def signatures(config):
    """The signature of a definition for one reference, and sacreBLEU's."""
    return config.metric.signatures(config.text.name, 1, 1)


def test_signatures_are_sacrebleus_up_to_the_version():
    for config, count in (
        (BleuConfig(), 1),
        (BleuConfig("none", True, "none", effective_order=True), 3),
        *((BleuConfig("13a", True, "floor", value), 1) for value in (None, 0, 0.1, 0.25, 12.5)),
        *((BleuConfig("none", False, "add-k", value), 2) for value in (None, 0, 1, 1.0, 2)),
    ):
        metric = sacrebleu.BLEU(
            tokenize=config.tokenize,
            lowercase=config.lowercase,
            smooth_method=config.smooth_method,
            smooth_value=config.smooth_value,
            effective_order=config.effective_order,
        )
        metric.corpus_score(["a b"], [["a"]] * count)
        theirs = str(metric.get_signature())
        ours = score_of([("a b", ["a"] * count)], config)
        assert ours.sacrebleu_signature == theirs
        versions = f"version:beam-bleu-{VERSION}"
        if config.lowercase:
            versions = f"unicode:{unicodedata.unidata_version}|{versions}"
        assert ours.signature == re.sub("version:.*", versions, theirs)


def test_the_signature_has_all_digits_of_a_smooth_value():
    for value in ("0.10", "0.001", "1e-09", "2.00", "0.3333333333333333"):
        config = BleuConfig(smooth_method="floor", smooth_value=float(value))
        assert f"|smooth:floor[{value}]|" in signatures(config)[0]


def test_a_configuration_that_means_nothing_is_refused():
    for fields, value, choices in [
        ({"tokenize": "13b"}, "'13b'", ", ".join(TOKENIZERS)),
        ({"smooth_method": "linear"}, "'linear'", ", ".join(SMOOTH_METHODS)),
        ({"reference_length": ["13a"]}, "['13a']", ", ".join(REFERENCE_LENGTHS)),
        ({"max_ngram_order": 0}, "0", "1 to 16"),
        ({"max_ngram_order": True}, "True", "1 to 16"),
        ({"lowercase": "no"}, "'no'", "True, 'ascii', False"),
        ({"effective_order": 1}, "1", "True or False"),
        ({"smooth_method": "floor", "smooth_value": "0.1"}, "'0.1'", "0 to 1000000"),
        ({"smooth_method": "add-k", "smooth_value": math.nan}, "nan", "0 to 1000000"),
    ]:
        with pytest.raises(ValueError, match=re.escape(choices)) as refused:
            BleuConfig(**fields)
        assert value in str(refused.value)
        assert list(fields)[-1] in str(refused.value)
    with pytest.raises(ValueError, match=r"smooth_value 0\.1 .* nltk-method1, nltk-method4$"):
        BleuConfig(smooth_value=0.1)  # --smooth_method does not have nltk-method6
    with pytest.raises(ValueError, match=r"data must be the bytes of a model's file, got "):
        SentencePieceModel.of("text")


UNICODE = f"|unicode:{unicodedata.unidata_version}"


def test_a_field_that_sacrebleu_does_not_have_is_shown_before_the_version():
    for fields, shown in [
        ({}, ""),
        ({"normalize": "nfkc"}, f"|norm:nfkc{UNICODE}"),
        ({"reference_length": "closest_first"}, "|reflen:closest_first"),
        ({"max_ngram_order": 9}, "|order:9"),
        ({"weights": (0.1, 1, 0, 2.5)}, "|weights:0.1,1.0,0.0,2.5"),
        ({"lowercase": True}, UNICODE),
    ]:
        written, _ = signatures(BleuConfig(**fields))
        assert f"|smooth:exp{shown}|version:beam-bleu-{VERSION}" in written


def test_different_definitions_have_different_signatures():
    smoothing = [{"smooth_method": method} for method in SMOOTH_METHODS]
    values = [("floor", 0.11), ("add-k", 2), ("epsilon", 1e-99), ("nltk-method1", 0.2)]
    smoothing += [{"smooth_method": method, "smooth_value": value} for method, value in values]
    others = [
        *({"reference_length": rule} for rule in [*REFERENCE_LENGTHS][1:]),
        *({"tokenize": "none"}, {"lowercase": True}, {"lowercase": "ascii"}),
        *({"effective_order": True}, {"normalize": "nfc"}, {"normalize": "nfkc"}),
        *({"max_ngram_order": order} for order in (1, 5)),
        *({"weights": weights} for weights in ((0.5, 0, 0, 0.5), (0.5, 0, 0, 0.25))),
    ]
    written = [signatures(BleuConfig(**fields))[0] for fields in smoothing + others]
    assert len(set(written)) == len(written)


def test_a_definition_that_sacrebleu_does_not_have_has_no_sacrebleu_signature():
    for choices in (
        *({"normalize": "nfc"}, {"reference_length": "closest_first"}, {"lowercase": "ascii"}),
        *({"weights": (0.25,) * 4}, {"smooth_method": "add-k-all"}, {"tokenize": "ascii-space"}),
    ):
        assert signatures(BleuConfig(**choices))[1] is None


# Tokenizers and smoothing methods

SEGMENTS = [
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
        if row.downloaded is None
    ],
)
def test_a_tokenizer_is_its_oracles(name):
    row = TOKENIZERS[name]
    model = SentencePieceModel.of(spm_models.model()) if row.needs_model else None
    config = BleuConfig(name, spm_model=model)
    assert_equal_to_sacrebleu(SEGMENTS, config)
    signature = signatures(config)[1]
    assert (signature is None) == (row.sacrebleu is None) == (name in TOKENIZERS_BEYOND_SACREBLEU)
    assert signature is None or f"|tok:{row.sacrebleu}" in signature  # MeCab adds its dictionary


def test_no_two_tokenizers_count_the_segments_alike():
    names = [name for name, row in TOKENIZERS.items() if row.extra is None]
    counts = {counted(SEGMENTS, BleuConfig(name)).tobytes(): name for name in names}
    assert [*counts.values()] == names


def test_a_smoothing_method_is_as_its_row_says():
    for name, row in SMOOTH_METHODS.items():
        impossible = []
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
