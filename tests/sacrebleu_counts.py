"""Compares the kernel's integers with sacreBLEU's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sacrebleu
import scoring
from hostile_texts import Segment
from scoring import statistics_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

SACREBLEUS = [
    name
    for name, tokenizer in TOKENIZERS.items()
    if tokenizer.sacrebleu is not None and tokenizer.extra is None
]
EVERY_TOKENIZATION = [
    BleuConfig(tokenize, lowercase) for tokenize in SACREBLEUS for lowercase in (False, True)
]


def name(value: Any) -> str | None:
    """A short name of a parameter, for the test's name."""
    if isinstance(value, BleuConfig):
        return value.tokenize + ("-lowercase" if value.lowercase else "")
    return getattr(value, "__name__", None)


def integers(statistics: Any) -> np.ndarray:
    """All counts in the order of sacreBLEU, int64 (systems, segments, 2 + 2 N)."""
    found = scoring.counted(statistics)
    lengths = np.stack([found.candidate_length, found.reference_length], axis=-1)
    return np.concatenate([lengths, found.matches, found.totals], axis=-1)


def counted(segments: Sequence[Segment], config: BleuConfig) -> np.ndarray:
    """The kernel's integers of one system, int64 (segments, 2 + 2 N)."""
    return integers(statistics_of(to_batch(segments), config))[0]


def sacrebleu_integers(segments: Sequence[Segment], config: BleuConfig) -> np.ndarray:
    """sacreBLEU's integers, int64 (segments, 2 + 2 N)."""
    metric = sacrebleu.BLEU(
        tokenize=config.tokenize,
        lowercase=config.lowercase,
        max_ngram_order=config.max_ngram_order,
        force=True,
    )
    candidates = [candidate for candidate, _ in segments]
    references = list(itertools.zip_longest(*(references for _, references in segments)))
    return np.array(metric._extract_corpus_statistics(candidates, references))


def assert_same(
    segments: Sequence[Segment], config: BleuConfig, ours: np.ndarray, expected: np.ndarray
) -> None:
    wrong = np.flatnonzero((ours != expected).any(axis=1))
    if len(wrong):
        first = wrong[0]
        pytest.fail(
            f"{len(wrong)} of {len(segments)} segments differ, first {segments[first]!r} with "
            f"{config}: expected {expected[first].tolist()}, got {ours[first].tolist()}"
        )


def assert_equal_to_sacrebleu(segments: Sequence[Segment], config: BleuConfig) -> np.ndarray:
    """Compares a batch with sacreBLEU; returns its integers (segments, 2 + 2 N)."""
    ours = counted(segments, config)
    assert_same(segments, config, ours, sacrebleu_integers(segments, config))
    return ours
