"""No text makes the kernel search for a long time. The tests count steps, with many secrets.

The tokens were chosen for an old hash that was the same in every process: it put all of them into
one place of the table.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from beam_bleu.transforms.metrics.bleu import kernel
from beam_bleu.transforms.metrics.bleu.columns import first_short
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.ngrams import long_matching, long_slots
from beam_bleu.transforms.text import hashing, numbering, tokenization
from beam_bleu.transforms.text.hashing import Seed, new_seed

Words = npt.NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
"""The factor of the old hash. It was the same in every process."""

LETTERS = b"abcdefghijklmnopqrstuvwxyz"
SEEDS = [new_seed() for _ in range(8)]
MOST_LOOKS = 4
"""The limit for the average slots per token: 1.2 for random tokens, at most 3 with any secret."""


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


class Table:
    """The kernel's tables for a reference with these tokens: of the tokens, and of the bigrams."""

    def __init__(self, tokens: list[bytes], seed: Seed) -> None:
        self._seed = seed
        count = len(tokens)
        text = np.frombuffer(b" ".join(tokens) + bytes(128), np.uint8)
        begin, size = text.ctypes.data, text.size - 128
        room = np.zeros((tokenization.TOKENS_IN_CACHE + count, 3), np.uint64)
        self._tokens = room[tokenization.TOKENS_IN_CACHE :]
        self._index = np.zeros(1 << numbering.most_index_bits(size), np.uint64)
        self._vocabulary = np.zeros(numbering.VOCABULARY_BYTES // 8, np.int64)
        self._numbers = np.zeros((2, count + long_slots.SPARE_NUMBERS), np.uint32)
        vocabulary = self._vocabulary.ctypes.data
        numbering.begin_vocabulary(
            vocabulary,
            self._tokens.ctypes.data,
            self._index.ctypes.data,
            size,
            self._numbers.ctypes.data,
            False,
        )
        tokenization.number_text(
            begin, begin + size, 0, room.ctypes.data, tokenization.ANY, vocabulary, seed
        )
        assert numbering.end_references(vocabulary) == count
        assert (self._numbers[0, :count] == np.arange(1, count + 1)).all()
        self._numbers[1] = self._numbers[0]
        self._count = count
        self._bits = hashing.table_bits(count)
        self._slots = np.zeros(((1 << self._bits) + 1) * hashing.SLOT_BYTES, np.uint8)

    def looks_for_a_token(self) -> float:
        bits = int(self._vocabulary[numbering._BITS])
        high = np.uint64(0xFFFFFFFF00000000)
        ways = [
            self._way(key, (key & high) | np.uint64(number), self._index, bits)
            for number, key in enumerate(self._tokens[:, 0], start=1)
        ]
        return sum(ways) / len(ways)

    def looks_for_a_bigram(self) -> float:
        ones = self._numbers[0, : self._count].astype(np.uint64)
        keys = (ones[1:] << np.uint64(32)) | ones[:-1]
        begin = self._numbers.ctypes.data
        to_gram = self._numbers.shape[1] * numbering.NUMBER_BYTES
        new = long_matching._count_grams(
            begin + numbering.NUMBER_BYTES,
            begin + ones.size * numbering.NUMBER_BYTES,
            to_gram,
            self._slots.ctypes.data,
            self._bits,
            self._seed,
        )
        assert new == keys.size
        slots = self._slots.view(np.uint64)[:: hashing.SLOT_BYTES // 8]
        return sum(self._way(key, key, slots, self._bits) for key in keys) / len(keys)

    def _way(self, key: int, slot: int, slots: Words, bits: int) -> int:
        """The number of slots that the search for a key visits until it finds its slot."""
        place = hashing.home(key, bits, self._seed)
        for looks in range(1, 1000):
            if slots[place] == slot:
                return looks
            place = (place + hashing.step(key, self._seed)) & ((1 << bits) - 1)
        return 1000


@pytest.mark.slow
@pytest.mark.parametrize("made", [neighbours, of_one_place, of_one_key])
def test_tokens_and_bigrams_are_found_fast_in_every_text(made) -> None:
    tokens = list(made())
    assert len(set(tokens)) == len(tokens) > 2000
    random.Random(7).shuffle(tokens)
    for seed in SEEDS:
        table = Table(tokens, seed)
        assert table.looks_for_a_token() < MOST_LOOKS
        assert table.looks_for_a_bigram() < MOST_LOOKS


def test_long_tokens_of_one_key_were_really_made() -> None:
    def key_of_before(token: bytes) -> int:
        key = word(token[:8])
        for at in range(8, len(token), 8):
            key = mixed(key) ^ word(token[at : at + 8])
        return key

    assert len({key_of_before(token) for token in of_one_key()}) == 1


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
