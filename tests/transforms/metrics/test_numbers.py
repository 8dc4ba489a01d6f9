"""Means of numbers are those of numpy, and perplexities those of lm-eval."""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from lm_eval_formulas import bits_per_byte, perplexity, weighted_perplexity
from scoring import group_totals, rows_of_table, score_of_totals

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.numbers import (
    LARGEST_LOGARITHM,
    SYMBOLS,
    MeanConfig,
    Perplexity,
    PerplexityConfig,
)
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.score.estimates import Estimates
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch
from beam_bleu.transforms.totals.batch_adder import totals_of_rows
from beam_bleu.transforms.totals.group_totals import GroupTotals

MEAN = MeanConfig("comet")


def draw(seed: int, mean: float, deviation: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, deviation, 300)


SCALES = {
    "comet": draw(1, 0.8, 0.1),
    "around 0": draw(2, 0, 1),
    "tiny": draw(3, 1e-9, 1e-9),
    "log-probabilities": draw(4, -1e7, 1e6),
    "almost equal": 1e7 + draw(5, 0, 1e-3),
    "all equal": np.full(300, -0.25),
    "all 0": np.zeros(300),
}


def counted_numbers(*systems: np.ndarray, column: str = "comet") -> BatchStatistics:
    batch = SegmentBatch((), (), values={ValueColumn(column): np.stack(systems)})
    return count_batch(batch, MEAN.text, MEAN)


def totals_of(*systems: np.ndarray) -> GroupTotals:
    pairs = [("2", "1")] if len(systems) == 2 else []
    numbers = counted_numbers(*systems)
    return totals_of_rows(numbers, [MEAN.basis], pairs=pairs, with_products=True).metrics[0]


def test_means_and_standard_errors_are_those_of_numpy():
    for values in SCALES.values():
        score = score_of_totals(totals_of(values), MEAN)
        assert score.score == pytest.approx(math.fsum(values) / len(values), rel=1e-15, abs=1e-22)
        usual = statistics.stdev(map(float, values)) / math.sqrt(len(values))
        assert score.standard_error == pytest.approx(usual, rel=1e-9, abs=1e-22)
        assert score.warnings == ()
    values = np.array([[0.5, -3.25, 1e-5], [2.0, 0.0, 123456.789]])
    assert MEAN.segment_scores(counted_numbers(*values).rows(0)).tolist() == [*values.ravel()]


def test_a_mean_does_not_depend_on_split_and_order():
    values = SCALES["around 0"]
    shuffled = np.random.default_rng(1).permutation(values)
    first, *others = (totals_of(part) for part in np.split(shuffled, [7, 100]))
    assert sum(others, start=first).common.tolist() == totals_of(values).common.tolist()


def test_differences_are_those_of_the_differences_of_numbers():
    for shift in (0.01, -3, 0):
        one, other = SCALES["around 0"], SCALES["around 0"] + draw(6, shift, 0.2)
        found = Estimates(totals_of(one, other), MEAN).difference("2", "1")
        assert found is not None
        differences = list(map(float, other - one))
        assert found.difference == pytest.approx(statistics.fmean(differences), abs=1e-15)
        expected = statistics.stdev(differences) / math.sqrt(300)
        assert found.standard_error == pytest.approx(expected, rel=1e-12)


def test_a_batch_without_the_numbers_is_refused():
    with pytest.raises(InputError, match="have no numbers of the column comet"):
        counted_numbers(np.zeros(1), column="judge")


# Perplexity

CONFIG = PerplexityConfig(token_count_column="tokens", text_column="text")

RELATIVE = 1e-12
Row = tuple[float, int, int, int]
"""Of a text: its log-probability, and its tokens, words and bytes."""


def texts(number: int, seed: int = 7) -> list[Row]:
    rng = random.Random(seed)
    rows = []
    for _ in range(number):
        tokens = rng.randint(1, 60)
        log = -math.fsum(rng.expovariate(0.4) for _ in range(tokens))
        rows.append((log, tokens, rng.randint(1, tokens), 4 * tokens + rng.randrange(9)))
    return rows


def counted(rows: Sequence[Row], config: PerplexityConfig = CONFIG) -> BatchStatistics:
    metric = config.metric
    numbers = np.array(rows, np.float64).T
    places = zip(metric.reads, (0, *map(SYMBOLS.__getitem__, metric.counted)), strict=True)
    values = {read: numbers[None, place] for read, place in places}
    batch = SegmentBatch((), (), np.arange(len(rows)), systems=("model",), values=values)
    return count_batch(batch, config.text, metric)


def score_of(rows: Sequence[Row], **choices: Any) -> Any:
    config = dataclasses.replace(CONFIG, **choices)
    return score_of_totals(group_totals(counted(rows, config), with_products=True), config)


def segment_rows(rows: Sequence[Row], **choices: Any) -> list[dict[str, Any]]:
    config = dataclasses.replace(CONFIG, **choices)
    return rows_of_table(counted(rows, config), config.metric)


def test_scores_are_those_of_lm_eval():
    rows = texts(400)
    of_words = [(log, words) for log, _, words, _ in rows]
    of_bytes = [(log, size) for log, _, _, size in rows]
    expected = {
        "token": weighted_perplexity([(log, tokens) for log, tokens, _, _ in rows]),
        "word": weighted_perplexity(of_words),
        "byte": weighted_perplexity(of_bytes),
    }
    for per, value in expected.items():
        found = score_of(rows, per=per)
        assert found.score == pytest.approx(value, rel=RELATIVE)
        assert found.bits_per_byte == pytest.approx(bits_per_byte(of_bytes), rel=RELATIVE)
        assert found.log_probability == pytest.approx(math.fsum(log for log, *_ in rows))
        counts = np.array(rows)[:, 1:].sum(axis=0).tolist()
        assert [found.tokens, found.words, found.bytes] == counts
    short = [(log / 50, *counts) for log, *counts in rows]
    found = score_of(short, per="segment")
    assert found.score == pytest.approx(perplexity([log for log, *_ in short]), rel=RELATIVE)


def test_what_is_not_counted_is_not_known():
    found = score_of(texts(5), text_column=None)
    assert (found.words, found.bytes, found.bits_per_byte) == (None, None, None)
    found = score_of(texts(5), per="word", token_count_column=None, text_column="text")
    assert found.tokens is None
    found = score_of(texts(5), per="word", text_column=None, word_count_column="words")
    assert found.bytes is None
    assert score_of([(-1.0, 1, 1, 0)]).bits_per_byte is None


def test_an_impossible_definition_is_refused():
    for choices, message in [
        ({"per": "word"}, "per word needs the number of words: give text_column or word_count"),
        ({"per": "byte", "word_count_column": "n"}, "per byte needs the number of bytes"),
        ({"text_column": "a", "byte_count_column": "b"}, "text_column and byte_count_column"),
    ]:
        with pytest.raises(ValueError, match=message):
            PerplexityConfig(**choices)
    # The definition of saved sums.
    with pytest.raises(ValueError, match="per byte needs the number of bytes, which is not known"):
        Perplexity("byte", ("token",))


def test_a_perplexity_that_is_no_number_is_an_error():
    fits = [(-float(LARGEST_LOGARITHM), 1, 1, 1)]
    assert score_of(fits).score == math.exp(LARGEST_LOGARITHM)
    with pytest.raises(InputError, match=r"per token is too large: its logarithm is above 600"):
        score_of([(-LARGEST_LOGARITHM - 0.001, 1, 1, 1)])
    with pytest.raises(InputError, match="there is no perplexity per byte"):
        score_of([(-1.0, 1, 1, 0)], per="byte")
    # A segment has no score then.
    rows = segment_rows([(-1.0, 1, 1, 0), (-1e6, 1, 1, 10), (-1.0, 1, 1, 1)], per="byte")
    assert [row["score"] for row in rows] == [None, None, math.e]


def test_scores_of_segments():
    rows = texts(20)
    sums = counted(rows).counts[0][0]
    assert CONFIG.metric.values(sums).tolist() == [
        CONFIG.metric.value(row) for row in sums.tolist()
    ]
    assert CONFIG.metric.values(np.zeros((1, CONFIG.metric.basis.width), np.int64)).tolist() == [0]
    for row, (log, tokens, words, size) in zip(segment_rows(rows), rows, strict=True):
        assert row["score"] == pytest.approx(math.exp(-log / tokens), rel=RELATIVE)
        assert row["log_probability"] == log
        assert (row["tokens"], row["words"], row["bytes"]) == (tokens, words, size)


def test_without_surprise_there_is_no_standard_error():
    found = score_of([(0.0, 5, 2, 9)] * 40)
    assert (found.score, found.standard_error) == (1, None)
    assert any("all texts have the probability 1" in warning for warning in found.warnings)
