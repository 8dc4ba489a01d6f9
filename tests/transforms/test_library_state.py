"""Sums of segments that a user keeps in a table, adds up with SQL, and scores."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scoring import group_totals, score_of_totals, statistics_of

from beam_bleu import BleuConfig, bleu_of_sums, preset
from beam_bleu.transforms.metrics.bleu.presets import PRESETS
from beam_bleu.transforms.metrics.bleu.sum_rows import row_of_sums
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.totals.group_totals import GroupTotals

SEGMENTS: list[Any] = [
    (
        f"the cat {i % 7} sat {'on ' * (i % 5)}the mat"[: 4 * i],
        [f"a cat {i % 6} sat on the mat", None if i % 3 else "the cat"],
    )
    for i in range(60)
]


def sums_of(segments: list[Any], config: BleuConfig) -> GroupTotals:
    return group_totals(statistics_of(to_batch(segments), config, 4), with_products=True)


def test_added_rows_have_the_score_of_all_segments():
    for config in map(preset, PRESETS):
        if config.tokenize == "spm" or config.max_ngram_order > 4:
            continue
        parts = [row_of_sums(sums_of(SEGMENTS[start::3], config)) for start in range(3)]
        added: dict[str, int] = {key: sum(part[key] for part in parts) for key in parts[0]}
        added["min_references"] = min(part["min_references"] for part in parts)
        added["max_references"] = max(part["max_references"] for part in parts)
        whole = score_of_totals(sums_of(SEGMENTS, config), config, judge_input=False)
        assert bleu_of_sums(added, config) == whole
        assert whole.standard_error is not None


def test_other_scorings_of_the_same_tokens():
    row = row_of_sums(sums_of(SEGMENTS, BleuConfig()))
    for config in (
        BleuConfig(reference_length="longest", max_ngram_order=2),
        BleuConfig(reference_length="average", weights=(0.1, 0.2, 0.3, 0.4)),
        BleuConfig(smooth_method="floor", effective_order=True),
    ):
        expected = score_of_totals(sums_of(SEGMENTS, config), config, judge_input=False)
        assert bleu_of_sums(row, config) == expected
    with pytest.raises(ValueError, match="sums of order 4 cannot be scored"):
        bleu_of_sums(row, BleuConfig(max_ngram_order=5))


def test_integers_of_any_type_are_taken():
    """SQL clients return Decimal for SUM, and tables of numpy have its own integers."""
    row = row_of_sums(sums_of(SEGMENTS, BleuConfig()))
    for kind in (np.int64, np.uint64, lambda value: Decimal(f"{value}.00")):
        assert bleu_of_sums({key: kind(value) for key, value in row.items()}) == bleu_of_sums(row)


IMPOSSIBLE = [
    ("matches_1", 10_000, r"matches_1 is 10000, but the candidates have \d+ n-grams of order"),
    ("matches_1", -1, "matches_1 must be an integer, 0 or more, got -1"),
    ("segments", True, "segments must be an integer, 0 or more, got True"),
    ("matches_2", Decimal("1.5"), "matches_2 must be an integer"),
    ("short_4", 1000, "no segments have these sums"),
    ("min_references", 3, "min_references must be 1 or more, and at most max_references"),
    ("segments_x_matches_1", 0, "no segments have these sums"),
]


def test_a_row_that_no_segments_have_is_an_error():
    row = row_of_sums(sums_of(SEGMENTS, BleuConfig()))
    for name, value, message in IMPOSSIBLE:
        assert name in row
        with pytest.raises(ValueError, match=message):
            bleu_of_sums({**row, name: value})
