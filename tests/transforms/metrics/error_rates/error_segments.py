"""Segments for the tests of WER and CER, and what jiwer and this project count in them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hostile_texts import Segment
from jiwer_counts import Config, best_of_jiwer
from metric_segments import assert_same_rows, counted

from beam_bleu.transforms.metrics.error_rates.metric import SUBSTITUTIONS


def edited(rng: random.Random, symbols: str, length: int, edits: int) -> Segment:
    """A segment of few different words, each a character long, with edits of words and of parts."""
    reference = rng.choices(symbols, k=length)
    candidate = list(reference)
    for _ in range(edits):
        place, edit = rng.randrange(len(candidate) + 1), rng.randrange(4)
        removed = (0, 1, 1, rng.randrange(1, 2 + length // 20))[edit]
        candidate[place : place + removed] = [rng.choice(symbols)] * (edit < 2)
    return " ".join(candidate), [" ".join(reference)]


def unrelated(rng: random.Random, symbols: str, length: int, reference_length: int) -> Segment:
    """A segment whose texts have nothing to do with each other."""
    candidate, reference = (rng.choices(symbols, k=k) for k in (length, reference_length))
    return " ".join(candidate), [" ".join(reference)]


def assert_counts_are_those_of_jiwer(segments: Sequence[Segment], config: Config) -> None:
    """Every segment has jiwer's integers."""
    ours = counted(segments, config).counts[0][0, :, SUBSTITUTIONS:]
    assert_same_rows(segments, ours, [best_of_jiwer(segment, config) for segment in segments])
