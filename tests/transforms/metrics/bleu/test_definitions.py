"""Every definition of BLEU gives the numbers of its tool."""

import math
import warnings
from functools import partial

import brute_force
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from scoring import bleu_of, score_of, sums_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import preset

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=60)


# A small vocabulary: ties, all numbers of matches, and empty candidates.
LINES = st.text("abcd", max_size=9).map(" ".join)  # drawn much faster than a list of words
CORPORA = st.lists(
    st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=6
)


def nltks(segments, weights=(0.25,) * 4, smoothing=None):
    """NLTK's score of a corpus, 0..100."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without matches
        return 100 * corpus_bleu(
            [[each.split() for each in references] for _, references in segments],
            [candidate.split() for candidate, _ in segments],
            weights,
            smoothing,
        )


def in_brute_force(segments, order=4, rule="closest"):
    """The sums of tests/brute_force.py, for tokens between white space."""
    tokens = [
        (candidate.split(), [each.split() for each in references])
        for candidate, references in segments
    ]
    return brute_force.corpus_sums(tokens, order, rule)


RULES = ["closest", "closest_first", "shortest", "longest", "average"]
SMOOTHINGS = {
    "none": brute_force.papineni2002,
    "exp": partial(brute_force.sacrebleu, smooth_method="exp"),
    "floor": partial(brute_force.sacrebleu, smooth_method="floor"),
    "add-k": partial(brute_force.sacrebleu, smooth_method="add-k"),
    "epsilon": brute_force.papineni2002_epsilon,
    "mteval": brute_force.mteval13a,
    "leave-out": brute_force.nltk_legacy,
    **{f"nltk-method{each}": partial(brute_force.nltk, method=each) for each in range(5)},
}


@pytest.mark.parametrize("method", SMOOTHINGS)
@DETERMINISTIC
@given(CORPORA, st.sampled_from(RULES), st.integers(1, 6))
def test_every_smoothing_with_every_reference_length_agrees_with_brute_force(
    method, segments, rule, order
):
    config = BleuConfig("none", smooth_method=method, max_ngram_order=order, reference_length=rule)
    sums = in_brute_force(segments, order, rule)
    # An empty text scores 0 here. Tools do different things, or divide by zero.
    expected = SMOOTHINGS[method](sums) if sums.candidate_length else 0
    ours = score_of(segments, config)
    assert ours.score == pytest.approx(100 * expected, rel=1e-11, abs=0)
    assert ours.ref_len == float(sums.reference_length)
    why_zero = [each for each in ours.warnings if each.startswith("the score is ")]
    assert bool(why_zero) == (ours.score < 1e-9)


@DETERMINISTIC
@given(CORPORA, st.lists(st.sampled_from([0, 0.1, 0.25, 1, 3]), min_size=1, max_size=6).filter(any))
def test_any_weights_agree_with_brute_force(segments, weights):
    sums = in_brute_force(segments, len(weights))
    for method in ("none", "epsilon", "leave-out", "nltk-method0"):
        config = preset("papineni2002", smooth_method=method, weights=tuple(weights))
        expected = SMOOTHINGS[method](sums, weights=weights) if sums.candidate_length else 0
        ours = score_of(segments, config).score
        assert ours == pytest.approx(100 * expected, rel=1e-11, abs=1e-300)


def weights_of(order):
    """No weights, or one for each order; not all of them are 0."""
    lists = st.lists(st.sampled_from([0, 0.1, 0.25, 1]), min_size=order, max_size=order)
    return st.none() | lists.map(lambda weights: weights if any(weights) else [*weights[:-1], 0.5])


@settings(DETERMINISTIC, max_examples=200)
@given(
    st.integers(0, 4),
    CORPORA,
    st.one_of([st.tuples(st.just(order), weights_of(order)) for order in (1, 2, 4, 5)]),
    st.sampled_from([None, 0.01, 0.5, 3]),
)
@example(4, [("a b", ["a c"])], (2, None), None)  # two tokens have a logarithm, one has none
@example(4, [("a", ["a"])], (2, None), None)
def test_nltks_methods_on_sums_are_nltks(method, segments, order_and_weights, value):
    order, weights = order_and_weights
    if method not in (1, 4):
        value = None
    keywords = {} if value is None else {"epsilon" if method == 1 else "k": value}
    smoothing = getattr(SmoothingFunction(**keywords), f"method{method}")
    config = BleuConfig(
        "none",
        smooth_method=f"nltk-method{method}",
        smooth_value=value,
        max_ngram_order=order,
        weights=None if weights is None else tuple(weights),
    )
    theirs = nltks(segments, weights or (1 / order,) * order, smoothing)
    assert score_of(segments, config).score == pytest.approx(theirs, rel=1e-12, abs=0)


def test_methods_of_single_segments_are_refused_for_sums():
    for method in ("nltk-method5", "nltk-method6", "nltk-method7"):
        config = BleuConfig(smooth_method=method)
        sums = sums_of([("a b c d e", ["a b c d e"])], config)
        with pytest.raises(ValueError, match=f"'{method}' is for segment scores only"):
            bleu_of(sums, config)


@pytest.mark.parametrize(
    ("rule", "length", "beside_empty"),
    [
        # Candidate of 3 tokens; 4 and 2 are equally close. An empty reference has a length, unlike
        # a missing one: 0 is closer to 1 than 3.
        *(("closest", 2, 0), ("closest_first", 4, 0), ("shortest", 1, 0)),
        *(("longest", 9, 3), ("average", 4.0, 1.5)),
    ],
)
def test_the_length_of_the_references_follows_the_rule(rule, length, beside_empty):
    references = ["a b c d", "a b", "a", "a b c d e f g h i"]
    result = score_of([("a b c", references)], BleuConfig("none", reference_length=rule))
    assert result.ref_len == length
    assert type(result.ref_len) is type(length)
    assert result.ratio == 3 / length
    assert result.bp == (1.0 if length <= 3 else math.exp(1 - length / 3))
    for text, expected in ((None, 3), ("a b c", 3), ("", beside_empty)):
        beside = score_of([("a", ["a b c", text])], BleuConfig("none", reference_length=rule))
        assert beside.ref_len == expected


def test_a_score_is_0_if_effective_order_leaves_out_all_weights():
    # With effective order, a candidate of two words has no third order. Only that has a weight.
    for method in ("exp", "floor", "none", "epsilon", "mteval"):
        config = BleuConfig(
            "none", smooth_method=method, weights=(0, 0, 1), max_ngram_order=3, effective_order=True
        )
        assert score_of([("x y", ["p q"])], config).score == 0
        assert score_of([("x y", ["x y"])], config).score == 0


def test_no_candidate_token_is_0_whatever_the_smoothing():
    for method in ("exp", "add-k", "add-k-all", "epsilon", "leave-out", "nltk-method2"):
        for references in (["a b"], [""]):
            result = score_of([("", references)], BleuConfig(smooth_method=method))
            assert result.score == 0
            assert result.warnings == ("the score is 0: no candidate has a token",)


@pytest.mark.parametrize(
    ("segments", "config", "words"),
    [
        ([("x y", ["a b"])], BleuConfig(), "of the same segments"),
        (
            [("a b c d x", ["a c b d e"])],
            BleuConfig(smooth_method="none"),
            "no 2-gram of a candidate is in its references",
        ),
        ([("a b c d e", ["a b c d e " * 1000])], BleuConfig(), "many times shorter"),
        ([("a b", ["a c"])], BleuConfig(max_ngram_order=2, weights=(0, 1)), "no 2-gram of"),
        ([("a b", ["a  b"])], BleuConfig(weights=(0, 0, 0, 1)), "no candidate has 4 tokens"),
    ],
)
def test_every_score_of_0_has_a_reason(segments, config, words):
    result = score_of(segments, config)
    assert result.score == 0
    (warning,) = (each for each in result.warnings if each.startswith("the score is "))
    assert warning.startswith("the score is 0: ")
    assert words in warning
