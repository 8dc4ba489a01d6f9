"""No number depends on the secret of a process, and no text makes the kernel search for long.

The tokens were chosen for an old hash that was the same in every process: it put all of them into
one place of the table.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from beam_bleu.transforms.metrics.bleu import kernel
from beam_bleu.transforms.metrics.bleu.columns import first_short
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text import hashing
from beam_bleu.transforms.text.hashing import Seed, new_seed

GOLDEN = 0x9E3779B97F4A7C15
"""The factor of the old hash. It was the same in every process."""

LETTERS = b"abcdefghijklmnopqrstuvwxyz"
SEEDS = [new_seed() for _ in range(8)]


def neighbours() -> list[bytes]:
    """Tokens with keys that are consecutive numbers."""
    return [chr(code).encode() for code in range(0x4E00, 0x4E00 + 5000)]


@functools.cache
def of_one_place() -> list[bytes]:
    """Tokens of 8 letters that the old hash put into the first 1/512 of a table."""
    rng = np.random.default_rng(7)
    found: set[bytes] = set()
    while len(found) < 5000:
        texts = rng.choice(np.frombuffer(LETTERS, np.uint8), (1_000_000, 8))
        keys = texts.view(np.uint64).ravel()
        hashes = (keys ^ (keys >> np.uint64(32))) * np.uint64(GOLDEN)
        found.update(key.tobytes() for key in keys[hashes >> np.uint64(64 - 9) == 0])
    return sorted(found)


@functools.cache
def of_one_key() -> list[bytes]:
    """Long tokens with the same key in the old hash. Each of their 11 parts is one of two."""
    rng = random.Random(7)
    key, parts = 0, []
    for _ in range(11):
        key, pairs = meeting_pairs(key, rng)
        parts.append(pairs)
    return [b"firstone" + b"".join(chosen) for chosen in itertools.product(*parts)]


def meeting_pairs(key: int, rng: random.Random) -> tuple[int, tuple[bytes, bytes]]:
    """Two pairs of words that change a key to the same new key, and the new key."""
    key = key or int.from_bytes(b"firstone", "little")
    token_bytes = [byte for byte in range(1, 128) if chr(byte).isalpha() or byte < 9]
    with_difference = {a ^ b: (a, b) for a in token_bytes for b in token_bytes}
    while True:
        one, other = (bytes(rng.choices(LETTERS, k=8)) for _ in range(2))
        needed = mixed(mixed(key) ^ word(one)) ^ mixed(mixed(key) ^ word(other))
        differences = needed.to_bytes(8, "little")
        if one != other and all(each in with_difference for each in differences):
            left, right = map(
                bytes, zip(*(with_difference[each] for each in differences), strict=True)
            )
            return mixed(mixed(key) ^ word(one)) ^ word(left), (one + left, other + right)


def mixed(key: int) -> int:
    return ((key ^ (key >> 29)) * GOLDEN) % 2**64


def word(text: bytes) -> int:
    return int.from_bytes(text, "little")


def segments() -> Iterator[tuple[str, list[str]]]:
    rng = random.Random(7)
    for made in (neighbours, of_one_place, of_one_key):
        tokens = [token.decode() for token in made()[:300]]
        for _ in range(5):
            candidate, reference = (" ".join(rng.choices(tokens, k=400)) for _ in range(2))
            yield candidate, [reference, candidate[:500]]


def test_no_number_depends_on_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, text = to_batch(list(segments())), BleuConfig("none").text
    expected = kernel.count_batch(batch, text, max_order=4).counts
    assert expected[:, :, : first_short(4)].any(axis=1).sum() == 10  # all but the first closest
    for seed in SEEDS:
        monkeypatch.setattr(kernel, "_SEED", seed)
        assert (kernel.count_batch(batch, text, max_order=4).counts == expected).all()


def test_each_process_has_its_own_secret() -> None:
    masks, factors = zip(*SEEDS, strict=True)
    assert len({*masks, *factors}) == 2 * len(SEEDS)
    assert all(factor & np.uint64(1) for factor in factors)  # so that no bit of a key is lost


@pytest.mark.parametrize("seed", SEEDS)
def test_neighbouring_keys_have_places_all_over_a_table(seed: Seed) -> None:
    """Else a search would visit many slots. Random places would be 3,700 different ones."""
    keys = [np.uint64(word(token)) for token in neighbours()]
    places = {int(hashing.home(key, 13, seed)) for key in keys}
    assert len(places) > 2500
