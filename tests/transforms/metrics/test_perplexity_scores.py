"""Perplexity as a metric: its scores are those of lm-eval."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from lm_eval_formulas import bits_per_byte, perplexity, weighted_perplexity
from metric_segments import rows_of_table
from scoring import group_totals, score_of_totals

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.numbers import (
    LARGEST_LOGARITHM,
    SYMBOLS,
    Perplexity,
    PerplexityConfig,
)
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch

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


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"per": "word"}, "per word needs the number of words: give text_column or word_count"),
        ({"per": "byte", "word_count_column": "n"}, "per byte needs the number of bytes"),
        ({"text_column": "a", "byte_count_column": "b"}, "text_column and byte_count_column"),
    ],
)
def test_an_impossible_definition_is_refused(choices, message):
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


def test_many_sums_at_once_have_the_scores_of_each():
    metric = CONFIG.metric
    sums = counted(texts(50)).counts[0][0]
    assert metric.values(sums).tolist() == [metric.value(row) for row in sums.tolist()]
    assert metric.values(np.zeros((1, metric.basis.width), np.int64)).tolist() == [0]


def test_scores_of_segments():
    rows = texts(20)
    for row, (log, tokens, words, size) in zip(segment_rows(rows), rows, strict=True):
        assert row["score"] == pytest.approx(math.exp(-log / tokens), rel=RELATIVE)
        assert row["log_probability"] == log
        assert (row["tokens"], row["words"], row["bytes"]) == (tokens, words, size)


def test_a_segment_can_have_no_score():
    rows = segment_rows([(-1.0, 1, 1, 0), (-1e6, 1, 1, 10), (-1.0, 1, 1, 1)], per="byte")
    assert [row["score"] for row in rows] == [None, None, math.e]
    assert "tokens" not in segment_rows([(-1.0, 1, 1, 1)], per="word", token_count_column=None)[0]


def test_without_surprise_there_is_no_standard_error():
    found = score_of([(0.0, 5, 2, 9)] * 40)
    assert (found.score, found.standard_error) == (1, None)
    assert any("all texts have the probability 1" in warning for warning in found.warnings)
