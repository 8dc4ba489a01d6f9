"""Scores equal sacreBLEU's to the last bit for all sums; signatures show the definition."""

import itertools
import math
import re
import unicodedata

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from made_units import named_columns
from scoring import bleu_of, corpus_sums, sacrebleu_signature_of, signature_of, statistics_of

from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS, BleuColumns, width
from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS, SMOOTH_VALUES
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text.tokenizers import TOKENIZERS
from beam_bleu.transforms.totals.group_totals import CorpusSums
from beam_bleu.transforms.version import VERSION

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=1000)


def made_sums(matches, totals, sys_len, ref_len, segments=1):
    """The sums of a corpus whose candidates have these n-grams; the first are its tokens."""
    assert sys_len == totals[0]
    short = [more - less for less, more in itertools.pairwise(totals)]
    return CorpusSums(
        columns=named_columns(
            len(totals),
            segments=segments,
            candidate_length=sys_len,
            ref_shortest=ref_len,
            **{f"matches_{n}": matched for n, matched in enumerate(matches, 1)},
            **{f"short_{n}": segments + fewer for n, fewer in enumerate(short, 1)},
        ),
        min_reference_count=1,
        max_reference_count=1,
    )


def test_sums_of_another_order_are_refused():
    with pytest.raises(ValueError, match=r"sums of order 2 .* needs order 4"):
        bleu_of(made_sums((1, 1), (2, 1), 2, 2), BleuConfig())


@st.composite
def sums_and_scoring(draw):
    """Sums of N orders; often with orders without a match, or without an n-gram."""
    order = draw(st.integers(1, 16))
    largest = draw(st.sampled_from([0, 1, 3, 50, 10**6, 10**12, 2**70]))
    totals = draw(st.lists(st.integers(0, largest), min_size=order, max_size=order))
    if draw(st.booleans()):  # as in real candidates: the numbers fall to 0
        totals.sort(reverse=True)
    shares = draw(st.lists(st.integers(0, 8), min_size=order, max_size=order))
    matches = [total * share // 8 for total, share in zip(totals, shares, strict=True)]
    sys_len = totals[0]
    ref_len = draw(st.sampled_from([0, sys_len]) | st.integers(0, 2 * largest))
    return made_sums(matches, totals, sys_len, ref_len), any_scoring(draw, order)


METHODS = st.sampled_from(["exp", "floor", "add-k", "none"])
VALUES = st.none() | st.sampled_from([0, 0.0, 1, 0.1, 0.125, 3]) | st.floats(0, 1e6)


def any_scoring(draw, order):
    method = draw(METHODS)
    value = draw(VALUES) if method in ("floor", "add-k") else None
    return BleuConfig(
        smooth_method=method,
        smooth_value=value,
        effective_order=draw(st.booleans()),
        max_ngram_order=order,
    )


def sacrebleu_score(sums, config):
    columns = BleuColumns(sums.columns)
    return sacrebleu.BLEU.compute_bleu(
        list(columns.matches),  # its own lists, because add-k changes them
        list(columns.totals),
        columns.candidate_length,
        columns.reference_length("closest")[0],
        smooth_method=config.smooth_method,
        smooth_value=config.smooth_value,
        effective_order=config.effective_order,
        max_ngram_order=config.max_ngram_order,
    )


def assert_equal_to_sacrebleu(sums, config):
    ours, theirs = bleu_of(sums, config), sacrebleu_score(sums, config)
    assert ours.score == theirs.score
    assert list(ours.precisions) == theirs.precisions
    assert (ours.bp, ours.ratio) == (theirs.bp, theirs.ratio)
    assert (ours.sys_len, ours.ref_len) == (theirs.sys_len, theirs.ref_len)
    return ours


@DETERMINISTIC
@given(sums_and_scoring())
def test_any_sums_score_as_in_sacrebleu_to_the_last_bit(drawn):
    assert_equal_to_sacrebleu(*drawn)


def printed_by_sacrebleu(config, references):
    metric = sacrebleu.BLEU(
        tokenize=config.tokenize,
        lowercase=config.lowercase,
        smooth_method=config.smooth_method,
        smooth_value=config.smooth_value,
        max_ngram_order=config.max_ngram_order,
        effective_order=config.effective_order,
    )
    metric.corpus_score(["a b"] * len(references[0]), references)
    return str(metric.get_signature())


@pytest.mark.parametrize(
    ("tokenize", "lowercase", "smooth_method", "smooth_value", "effective_order"),
    [
        ("13a", False, "exp", None, False),
        ("none", True, "none", None, True),
        *(("13a", True, "floor", value, False) for value in (None, 0, 0.1, 0.25, 12.5)),
        *(("none", False, "add-k", value, True) for value in (None, 0, 1, 1.0, 2)),
    ],
)
@pytest.mark.parametrize("reference_count", [1, 3])
def test_signatures_are_sacrebleus_up_to_the_version(
    tokenize, lowercase, smooth_method, smooth_value, effective_order, reference_count
):
    config = BleuConfig(tokenize, lowercase, smooth_method, smooth_value, 4, effective_order)
    sums = corpus_sums(statistics_of(to_batch([("a b", ["a"] * reference_count)]), config), 0)
    theirs = printed_by_sacrebleu(config, [["a"]] * reference_count)
    assert sacrebleu_signature_of(sums, config) == theirs
    versions = f"version:beam-bleu-{VERSION}"
    if lowercase:
        versions = f"unicode:{unicodedata.unidata_version}|{versions}"
    assert signature_of(sums, config) == re.sub("version:.*", versions, theirs)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.1, "0.10"), (0.001, "0.001"), (1e-9, "1e-09"), (2, "2.00")),
        (1 / 3, "0.3333333333333333"),
    ],
)
def test_the_signature_has_all_digits_of_a_smooth_value(value, shown):
    config = BleuConfig(smooth_method="floor", smooth_value=value)
    assert f"|smooth:floor[{shown}]|" in signature_of(CorpusSums((0,) * width(4)), config)


@pytest.mark.parametrize(
    ("fields", "value", "choices"),
    [
        ({"tokenize": "13b"}, "'13b'", ", ".join(TOKENIZERS)),
        ({"smooth_method": "linear"}, "'linear'", ", ".join(SMOOTH_METHODS)),
        ({"reference_length": ["13a"]}, "['13a']", ", ".join(REFERENCE_LENGTHS)),
        ({"max_ngram_order": 0}, "0", "1 to 16"),
        ({"max_ngram_order": True}, "True", "1 to 16"),
        ({"lowercase": "no"}, "'no'", "True, 'ascii', False"),
        ({"effective_order": 1}, "1", "True or False"),
        ({"smooth_method": "floor", "smooth_value": "0.1"}, "'0.1'", "0 to 1000000"),
        ({"smooth_value": 0.1}, "0.1", ", ".join(SMOOTH_VALUES)),
        ({"smooth_method": "add-k", "smooth_value": math.nan}, "nan", "0 to 1000000"),
    ],
)
def test_a_configuration_that_means_nothing_is_refused(fields, value, choices):
    with pytest.raises(ValueError, match=re.escape(choices)) as refused:
        BleuConfig(**fields)
    message = str(refused.value)
    assert value in message
    assert list(fields)[-1] in message
