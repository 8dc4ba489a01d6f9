"""Segment scores equal sacreBLEU's to the last bit, and NLTK's, compiled and interpreted."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from sacrebleu.metrics import BLEU
from scoring import bleu_table, present, score_of, statistics_of

from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.formula import CORPUS_SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import Segment, to_batch

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=60)

texts = st.lists(st.sampled_from(["a", "b", "B", "c.", "7"]), max_size=9).map(" ".join)
references = st.lists(st.one_of(texts, st.none()), min_size=1, max_size=3).filter(present)
segments = st.lists(st.tuples(texts, references), min_size=1, max_size=8)


def scored(given: list[Segment], config: BleuConfig) -> pa.Table:
    return bleu_table(statistics_of(to_batch(given), config), config.metric)


SACREBLEUS = [
    {},
    {"lowercase": True},
    {"tokenize": "none"},
    *({"smooth_method": "floor", "smooth_value": value} for value in (None, 0.37, 0)),
    *({"smooth_method": "add-k", "smooth_value": value} for value in (None, 0.3)),
    {"smooth_method": "none"},
]


@DETERMINISTIC
@given(segments, st.sampled_from(SACREBLEUS), st.integers(1, 6))
def test_the_scores_of_any_segments_are_sacrebleus(given, choices, order):
    choices = {**choices, "max_ngram_order": order}
    ours = scored(given, BleuConfig(**choices).for_segments())
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


def nltks(number: int, candidate: str, references) -> float | None:
    """NLTK's score, 0..100; None if it raises an error."""
    function = getattr(SmoothingFunction(), f"method{number}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without matches
        try:
            return 100 * sentence_bleu(
                [reference.split() for reference in present(references)],
                candidate.split(),
                smoothing_function=function,
            )
        except AssertionError:
            return None


@DETERMINISTIC
@given(st.integers(0, 7), segments)
@example(6, [("a b c d", ["a b c d"])])  # method 6 is defined only for these
@example(6, [("a b c 7", ["a b c c"])])
def test_the_scores_of_any_segments_are_nltks(number, given):
    config = BleuConfig(tokenize="none", smooth_method=f"nltk-method{number}")
    ours = scored(given, config.for_segments())["score"].to_pylist()
    for score, (candidate, references) in zip(ours, given, strict=True):
        expected = nltks(number, candidate, references)
        if expected is not None:
            expected = pytest.approx(expected, rel=1e-12, abs=0)
        assert score == expected, (candidate, references)


@DETERMINISTIC
@given(
    segments,
    st.sampled_from(CORPUS_SMOOTH_METHODS),
    st.sampled_from([*REFERENCE_LENGTHS]),
    st.sampled_from([None, (0.1, 0.2, 0.3, 0.9), (1.0, 0.0, 0.0, 0.5)]),
)
def test_the_compiled_score_of_a_segment_is_that_of_a_corpus_of_one(given, method, rule, weights):
    config = BleuConfig(smooth_method=method, reference_length=rule, weights=weights)
    for each in {config, config.for_segments()}:  # with effective order, if it can have it
        scores = scored(given, each)["score"].to_pylist()
        assert scores == [score_of([segment], each).score for segment in given]


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
    rows = table.to_pylist()
    assert [row["index"] for row in rows] == [5_000_000_000, 5_000_000_001] * 2
    assert [row["system"] for row in rows] == ["first", "first", "größe", "größe"]
    # If statistics have a higher order, the first N are shown.
    assert [row["matches"] for row in rows] == [[3, 2], [1, 0], [0, 0], [2, 0]]
    assert [row["totals"] for row in rows] == [[3, 2], [1, 0], [1, 0], [2, 1]]
    assert [row["sys_len"] for row in rows] == [3, 1, 1, 2]
    assert [row["ref_len"] for row in rows] == [3, 1, 1, 1]
