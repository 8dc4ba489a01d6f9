"""No text makes the kernel search for long, and no number depends on the secret of a process."""

from __future__ import annotations

import random

import numpy as np
import pytest

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text import numbered_texts, tokens
from beam_bleu.transforms.text.tokens import new_seed

SEEDS = [new_seed() for _ in range(8)]


def neighbours() -> list[int]:
    """Keys of tokens that are consecutive characters."""
    return [int.from_bytes(chr(code).encode(), "little") for code in range(0x4E00, 0x4E00 + 1000)]


def of_one_place() -> list[int]:
    """Keys of tokens of 8 letters that a hash with this public factor puts into one place."""
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    texts = np.random.default_rng(7).choice(letters, (300_000, 8))
    keys = np.unique(texts.view(np.uint64).ravel())
    hashes = (keys ^ (keys >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return keys[hashes >> np.uint64(64 - 8) == 0][:1000].tolist()


@pytest.mark.parametrize("made", [neighbours, of_one_place])
def test_keys_have_places_all_over_a_table(made) -> None:
    keys = made()
    assert len(keys) == 1000
    places = [{int(tokens.home(np.uint64(key), 13, seed)) for key in keys} for seed in SEEDS]
    # 940 if they were random. A secret in a hundred gives fewer.
    assert sorted(map(len, places))[len(SEEDS) // 2] > 500


def test_no_number_depends_on_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    tokens = [chr(code) for code in range(0x4E00, 0x4F00)]
    candidates = [" ".join(rng.choices(tokens, k=400)) for _ in range(5)]
    batch = to_batch([(text, [text[:500], candidates[0]]) for text in candidates])
    counts = [count_batch(batch, BleuConfig("none").text, BleuConfig()).counts[0]]
    for seed in SEEDS[:3]:
        monkeypatch.setattr(numbered_texts, "SEED", seed)
        counts.append(count_batch(batch, BleuConfig("none").text, BleuConfig()).counts[0])
    assert all((each == counts[0]).all() for each in counts)
