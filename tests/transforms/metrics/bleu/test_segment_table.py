"""Segment scores equal sacreBLEU's to the last bit, and NLTK's, compiled and interpreted."""

from __future__ import annotations

import dataclasses
import itertools
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from metric_segments import present
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from sacrebleu.metrics import BLEU
from scoring import bleu_table, bleu_table_schema, of_segments, statistics_of

from beam_bleu.transforms.metrics.bleu import formula
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS, BleuColumns
from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import Segment, to_batch

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=100)

SEGMENTS: list[Segment] = [
    ("the cat sat on the mat .", ["the cat sat on a mat .", "a cat sat on the mat"]),
    ("The cat SAT on it", ["the cat sat on it", None]),  # a missing reference
    ("", ["a b c"]),
    ("a b c", [""]),
    ("", [""]),
    ("a", ["a"]),
    ("a b", ["a b"]),
    ("a b c", ["b c d", "c d e", "a b c d e f"]),
    ("a b c d e f g h", ["a b c d e f g h"]),
    ("x y z w v", ["a b c d e"]),
    ("x a y b z", ["a b"]),  # words, but no pairs
    ("1,000.5 -- it's", ["1,000.5 -- is it"]),
]

texts = st.lists(st.sampled_from(["a", "b", "B", "c.", "7"]), max_size=9).map(" ".join)
references = st.lists(st.one_of(texts, st.none()), min_size=1, max_size=3).filter(present)
segments = st.lists(st.tuples(texts, references), min_size=1, max_size=8)


def scored(given: list[Segment], config: BleuConfig) -> pa.Table:
    return bleu_table(statistics_of(to_batch(given), config), config.metric)


def assert_equals_sacrebleu(given: list[Segment], **choices) -> None:
    ours = scored(given, of_segments(BleuConfig(**choices)))
    bleu = BLEU(effective_order=True, **choices)
    # sacreBLEU's add-k changes the counts that it returns; these are the ones before smoothing.
    unsmoothed = {"smooth_method": "none", "smooth_value": None}
    counting = BLEU(effective_order=True, **{**choices, **unsmoothed})
    for row, (candidate, references) in zip(ours.to_pylist(), given, strict=True):
        expected = bleu.sentence_score(candidate, present(references))
        counts = counting.sentence_score(candidate, present(references))
        assert row["score"] == expected.score, (candidate, references)
        assert (row["sys_len"], row["ref_len"]) == (expected.sys_len, expected.ref_len)
        assert (row["matches"], row["totals"]) == (counts.counts, counts.totals)


SACREBLEUS = [
    {},
    {"lowercase": True},
    {"tokenize": "none"},
    {"smooth_method": "floor"},
    {"smooth_method": "floor", "smooth_value": 0.37},
    {"smooth_method": "floor", "smooth_value": 0},
    {"smooth_method": "add-k"},
    {"smooth_method": "add-k", "smooth_value": 0.3},
    {"smooth_method": "none"},
]


@DETERMINISTIC
@given(segments, st.sampled_from(SACREBLEUS), st.integers(1, 6))
def test_the_scores_of_any_segments_are_sacrebleus(given, choices, order):
    assert_equals_sacrebleu(given, **choices, max_ngram_order=order)


def nltks(number: int, candidate: str, references, order: int) -> float | None:
    """NLTK's score, 0..100; None if it raises an error."""
    function = getattr(SmoothingFunction(), f"method{number}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without matches
        try:
            return 100 * sentence_bleu(
                [reference.split() for reference in present(references)],
                candidate.split(),
                (1 / order,) * order,
                function,
            )
        except AssertionError:
            return None


def assert_equals_nltk(number: int, given: list[Segment], order: int = 4) -> None:
    smoothing = f"nltk-method{number}"
    config = BleuConfig(tokenize="none", smooth_method=smoothing, max_ngram_order=order)
    ours = scored(given, of_segments(config))["score"].to_pylist()
    for score, (candidate, references) in zip(ours, given, strict=True):
        expected = nltks(number, candidate, references, order)
        if expected is not None:
            expected = pytest.approx(expected, rel=1e-12, abs=0)
        assert score == expected, (candidate, references)


@DETERMINISTIC
@given(st.integers(0, 7), segments)
@example(6, [("a b c d", ["a b c d"])])  # method 6 is defined only for these
@example(6, [("a b c 7", ["a b c c"])])
def test_the_scores_of_any_segments_are_nltks(number, given):
    assert_equals_nltk(number, given)


def test_a_score_that_is_not_defined_is_null():
    config = of_segments(BleuConfig(smooth_method="nltk-method6"))
    table = scored([("a b c", ["a b"]), ("a b c", ["a b c"]), ("x", ["a"])], config)
    first, second, third = table["score"].to_pylist()
    assert first is None  # no 3-gram matches
    assert second == pytest.approx(100)
    assert third == 0


def interpreted(row: list[int], config: BleuConfig) -> float:
    """The score from the formula, run by Python without compiling."""
    columns = BleuColumns(row)
    length = columns.candidate_length
    precisions = [0.0] * config.max_ngram_order
    method, weights = formula.method_number(config.smooth_method), config.weights or ()
    counted = formula.smooth(
        method,
        config.metric.effective_smooth_value,
        config.effective_order,
        weights,
        columns.matches,
        columns.totals,
        columns.short_candidates,
        length,
        precisions,
    )
    bp = formula.brevity_penalty(length, *columns.reference_length(config.reference_length))
    return formula.weighted_score(method, weights, precisions, counted, bp)


@pytest.mark.parametrize("method", SMOOTH_METHODS)
def test_compiled_and_interpreted_are_the_same_to_the_last_bit(method):
    weights = (None, (0.1, 0.2, 0.3, 0.9), (1.0, 0.0, 0.0, 0.5))
    for rule, of_orders in itertools.product(REFERENCE_LENGTHS, weights):
        config = BleuConfig(smooth_method=method, reference_length=rule, weights=of_orders)
        for each in {config, of_segments(config)}:  # with effective order, if it can have it
            statistics = statistics_of(to_batch(SEGMENTS), each)
            scores = bleu_table(statistics, each.metric)["score"].to_pylist()
            for score, row in zip(scores, statistics.counts[0][0].tolist(), strict=True):
                expected = interpreted(row, each)
                assert score == (None if np.isnan(expected) else expected), (each, row)


def test_rows_are_numbered_and_named_system_by_system():
    one, other = (
        to_batch([(candidate, ["a b c", "a"]) for candidate in candidates])
        for candidates in (["a b c", "a"], ["x", "c b"])
    )
    both = dataclasses.replace(
        one,
        candidates=(*one.candidates, *other.candidates),
        systems=("first", "größe"),
        numbers=np.array([5_000_000_000, 5_000_000_001]),
    )
    config = BleuConfig(max_ngram_order=2)
    table = bleu_table(statistics_of(both, config, max_order=5), config.metric)
    assert table.schema == bleu_table_schema(config.metric)
    rows = table.to_pylist()
    assert [row["index"] for row in rows] == [5_000_000_000, 5_000_000_001] * 2
    assert [row["system"] for row in rows] == ["first", "first", "größe", "größe"]
    # If statistics have a higher order, the first N are shown.
    assert [row["matches"] for row in rows] == [[3, 2], [1, 0], [0, 0], [2, 0]]
    assert [row["totals"] for row in rows] == [[3, 2], [1, 0], [1, 0], [2, 1]]
    assert [row["sys_len"] for row in rows] == [3, 1, 1, 2]
    assert [row["ref_len"] for row in rows] == [3, 1, 1, 1]
