"""Segments for the tests of WER and CER, and what jiwer and this project count in them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from hostile_texts import Segment
from jiwer_counts import Config, best_of_jiwer

from beam_bleu.transforms.metrics.error_rates.metric import SUBSTITUTIONS
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch


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


def counted(segments: Sequence[Segment], config: Config) -> BatchStatistics:
    """What is counted in segments."""
    return count_batch(to_batch(segments), config.text, config.metric)


def assert_counts_are_those_of_jiwer(segments: Sequence[Segment], config: Config) -> None:
    """Every segment has jiwer's integers."""
    ours = counted(segments, config).counts[0][0, :, SUBSTITUTIONS:]
    theirs = np.array([best_of_jiwer(segment, config) for segment in segments])
    (wrong,) = np.nonzero((ours != theirs).any(axis=1))
    assert not wrong.size, (segments[wrong[0]], ours[wrong[0]], theirs[wrong[0]])
