"""Every definition of BLEU gives the numbers of its tool."""

import warnings

import brute_force
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from scoring import score_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=100)

# A small vocabulary: ties, all numbers of matches, and empty candidates.
LINES = st.text("abcd", max_size=9).map(" ".join)  # drawn much faster than a list of words
CORPORA = st.lists(
    st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=6
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
    "epsilon": brute_force.papineni2002_epsilon,
    "mteval": brute_force.mteval13a,
    "leave-out": brute_force.nltk_legacy,
}


def weights_of(order):
    """No weights, or one for each order; not all of them are 0."""
    lists = st.lists(st.sampled_from([0, 0.1, 0.25, 1]), min_size=order, max_size=order)
    return st.none() | lists.map(lambda weights: weights if any(weights) else [*weights[:-1], 0.5])


ORDERS = st.one_of([st.tuples(st.just(order), weights_of(order)) for order in (1, 2, 4, 5)])


@DETERMINISTIC
@given(st.sampled_from([*SMOOTHINGS]), CORPORA, st.sampled_from(RULES), ORDERS)
def test_definitions_without_a_tool_agree_with_brute_force(method, segments, rule, orders):
    order, weights = orders
    config = BleuConfig(
        "none",
        smooth_method=method,
        max_ngram_order=order,
        reference_length=rule,
        weights=weights and tuple(weights),
    )
    sums = in_brute_force(segments, order, rule)
    # An empty text scores 0 here. Tools do different things, or divide by zero.
    expected = SMOOTHINGS[method](sums, weights=weights) if sums.candidate_length else 0
    ours = score_of(segments, config)
    assert ours.score == pytest.approx(100 * expected, rel=1e-11, abs=1e-300)
    assert ours.ref_len == float(sums.reference_length)
    assert isinstance(ours.ref_len, float if rule == "average" else int)
    if not weights:
        why_zero = [each for each in ours.warnings if each.startswith("the score is ")]
        assert bool(why_zero) == (ours.score < 1e-9)


@DETERMINISTIC
@given(st.integers(0, 4), CORPORA, ORDERS, st.sampled_from([None, 0.01, 0.5, 3]))
@example(4, [("a b", ["a c"])], (2, None), None)  # two tokens have a logarithm, one has none
@example(4, [("a", ["a"])], (2, None), None)
def test_nltks_methods_on_sums_are_nltks(method, segments, orders, value):
    order, weights = orders
    if method not in (1, 4):
        value = None
    keywords = {} if value is None else {"epsilon" if method == 1 else "k": value}
    config = BleuConfig(
        "none",
        smooth_method=f"nltk-method{method}",
        smooth_value=value,
        max_ngram_order=order,
        weights=weights and tuple(weights),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without matches
        theirs = 100 * corpus_bleu(
            [[each.split() for each in references] for _, references in segments],
            [candidate.split() for candidate, _ in segments],
            weights or (1 / order,) * order,
            getattr(SmoothingFunction(**keywords), f"method{method}"),
        )
    assert score_of(segments, config).score == pytest.approx(theirs, rel=1e-12, abs=0)


def test_methods_of_single_segments_are_refused_for_sums():
    for method in ("nltk-method5", "nltk-method6", "nltk-method7"):
        with pytest.raises(ValueError, match=f"'{method}' is for segment scores only"):
            score_of([("a b c d e", ["a b c d e"])], BleuConfig(smooth_method=method))


def test_a_score_is_0_if_effective_order_leaves_out_all_weights():
    # With effective order, a candidate of two words has no third order. Only that has a weight.
    for method in ("exp", "floor", "none", "epsilon", "mteval"):
        config = BleuConfig(
            "none", smooth_method=method, weights=(0, 0, 1), max_ngram_order=3, effective_order=True
        )
        for reference in ("p q", "x y"):
            assert score_of([("x y", [reference])], config).score == 0


def test_every_score_of_0_has_a_reason():
    none = BleuConfig(smooth_method="none")
    for candidate, reference, config, words in [
        ("", "a b", BleuConfig(), "no candidate has a token"),
        ("", "", BleuConfig(smooth_method="add-k-all"), "no candidate has a token"),
        ("x y", "a b", BleuConfig(), "of the same segments"),
        ("a b c d x", "a c b d e", none, "no 2-gram of a candidate is in its references"),
        ("a b c d e", "a b c d e " * 1000, BleuConfig(), "many times shorter"),
        ("a b", "a c", BleuConfig(max_ngram_order=2, weights=(0, 1)), "no 2-gram of"),
        ("a b", "a  b", BleuConfig(weights=(0, 0, 0, 1)), "no candidate has 4 tokens"),
    ]:
        result = score_of([(candidate, [reference])], config)
        assert result.score == 0
        (warning,) = (each for each in result.warnings if each.startswith("the score is "))
        assert warning.startswith("the score is 0: ")
        assert words in warning
