"""The matches of every order equal those that a brute force or sacreBLEU counts, at all limits."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

import brute_force
import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import Segment
from sacrebleu_counts import assert_equal_to_sacrebleu, integers

from beam_bleu.transforms.metrics.bleu import kernel
from beam_bleu.transforms.metrics.bleu.metric import LARGEST_NGRAM_ORDER, BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text import numbered_texts, tokenization
from beam_bleu.transforms.text import tokens as kernel_tokens

LENGTHS = [0, 1, 2, 5, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129]
"""Tokens of a text. References of up to 32, up to 64 and more tokens are counted differently."""

ALPHABETS = [
    ["a"],
    ["a", "b"],
    ["a", "b", "c", "d", "e"],
    [f"w{number}" for number in range(50)],
    # Tokens at the limits of the words that hold a token, with the same begin or the same end.
    [letter * size for letter in "xy" for size in (7, 8, 9, 14, 15, 16, 17, 40)],
    ["commonbegin" + each + "commonend" for each in "abc"],
    ["a", "a\0", "a\0\0", "\0", "b" * 15, "b" * 15 + "\0", "b" * 15 + "\1"],
]

Tokens = list[str]
Case = tuple[list[Tokens], list[Tokens | None]]
"""The candidates of all systems, and the references."""


def text_of(rng: random.Random, alphabet: Tokens) -> Tokens:
    return rng.choices(alphabet, k=rng.choice(LENGTHS))


def candidate_for(
    rng: random.Random, references: list[Tokens | None], alphabet: Tokens, size: int | None = None
) -> Tokens:
    """Pieces of the references, in any order, between other tokens."""
    wanted = rng.choice(LENGTHS) if size is None else size
    candidate: Tokens = []
    while len(candidate) < wanted:
        source = rng.choice(references) or alphabet
        begin = rng.randrange(len(source))
        candidate += source[begin : begin + rng.randrange(1, 25)]
        candidate += rng.choices([*alphabet, "other"], k=rng.randrange(2))
    return candidate[:wanted]


def cases_of(seed: int, systems: int, reference_count: int, count: int) -> list[Case]:
    rng = random.Random(seed)
    cases: list[Case] = []
    for _ in range(count):
        alphabet = rng.choice(ALPHABETS)
        references: list[Tokens | None] = [
            None if rng.random() < 0.2 else text_of(rng, alphabet) for _ in range(reference_count)
        ]
        if all(reference is None for reference in references):
            references[-1] = text_of(rng, alphabet)
        candidates = [candidate_for(rng, references, alphabet) for _ in range(systems)]
        cases.append((candidates, references))
    return cases


def check(cases: list[Case], max_order: int) -> None:
    """Counts the cases in one batch and compares the matches and lengths."""
    candidates, references = (
        tuple(
            pa.array(
                [None if text is None else " ".join(text) for text in texts], pa.large_string()
            )
            for texts in zip(*side, strict=True)
        )
        for side in zip(*cases, strict=True)
    )
    names = tuple(f"system{number}" for number in range(len(candidates)))
    batch = SegmentBatch(candidates=candidates, references=references, systems=names)
    config = BleuConfig("none", max_ngram_order=max_order)
    found = integers(count_batch(batch, config.text, config))
    for row, (texts, given) in enumerate(cases):
        present = [reference for reference in given if reference is not None]
        for system, candidate in enumerate(texts):
            length, _, *counts = found[system, row].tolist()
            orders = range(1, max_order + 1)
            matches = [brute_force.clipped_matches(candidate, present, n) for n in orders]
            totals = [max(len(candidate) - n + 1, 0) for n in orders]
            assert (length, counts) == (len(candidate), matches + totals), (candidate, present)


@pytest.mark.parametrize(
    ("systems", "reference_count", "orders"),
    [(1, 1, range(1, LARGEST_NGRAM_ORDER + 1)), (2, 3, (1, 3, 4, 7, 16)), (16, 2, (4, 6))],
)
def test_every_order(systems: int, reference_count: int, orders: Sequence[int]) -> None:
    for order in orders:
        check(cases_of(order, systems, reference_count, count=40 // systems), order)


def test_one_token_repeated() -> None:
    cases: list[Case] = [([["a"] * other], [["a"] * size]) for size in LENGTHS for other in LENGTHS]
    check(cases, LARGEST_NGRAM_ORDER)


@pytest.mark.parametrize("letters", [1, 2, 7, 13, 31, 600])
def test_long_texts(letters: int) -> None:
    """How many orders are counted without hashing depends on the number of different tokens."""
    rng = random.Random(letters)
    alphabet = [f"w{number}" for number in range(letters)]
    cases: list[Case] = []
    size = 1200
    for systems in (1, 1, 2):
        references: list[Tokens | None] = [rng.choices(alphabet, k=size)]
        candidates = [candidate_for(rng, references, alphabet, size) for _ in range(systems)]
        check([(candidates, references)], 6)
        cases.append(([candidates[0]], [*references, None, rng.choices(alphabet, k=size)]))
    check(cases, 4)


def test_many_different_tokens_after_a_repeated_one() -> None:
    """The table of tokens grows more than once, and by different steps."""
    for different in (127, 128, 129, 130, 255, 256, 257, 511, 513, 6000):
        words = [f"w{number}" for number in range(different)]
        for reference in (words, ["a"] * 5000 + words, words[:300] * 2 + words + ["a"] * 500):
            candidate = [*reference[::-2], *words[1:], "other", *reference[5:]]
            check([([candidate], [reference])], 4)


def tokens_with_the_same_half_key() -> tuple[str, str]:
    """Two short tokens whose keys have the same 32 bits. Only this process's secret tells them."""
    rng = np.random.default_rng(7)
    letters = rng.integers(ord("a"), ord("z") + 1, (300_000, 9), np.uint8)
    letters[:, 8] = ord(" ")
    text = np.concatenate([letters.ravel(), np.zeros(128, np.uint8)])
    begin = text.ctypes.data
    tokens = np.zeros((len(letters) + tokenization.SPARE_TOKENS, 3), np.uint64)
    tokenization.tokenize(
        begin, begin + letters.size, 0, tokens.ctypes.data, tokenization.ANY, 0, numbered_texts.SEED
    )
    keys = tokens[: len(letters), 0] & np.uint64(0xFFFFFFFF)
    order = np.argsort(keys, kind="stable")
    for place in np.flatnonzero(np.diff(keys[order]) == 0):
        one, other = (letters[row, :8].tobytes().decode() for row in order[place : place + 2])
        if one != other:
            return one, other
    raise AssertionError


def tokens_with_the_same_key() -> tuple[str, str]:
    """Two tokens of 32 bytes with the same key, first word and last word.

    The key of the words is fold(fold(fold(w0, w1), w2), w3), and fold(k, w) = g(k) ^ w. So a
    suitable change of w2 undoes the effect of a change of w1.
    """
    rng = random.Random(5)
    token_bytes = [byte for byte in range(1, 128) if chr(byte).isalpha() or byte < 9]
    with_difference = {a ^ b: (a, b) for a in token_bytes for b in token_bytes}

    def folded(key: int, text: bytes = bytes(8)) -> int:
        word = np.uint64(int.from_bytes(text, "little"))
        return int(kernel_tokens._fold(np.uint64(key), word, numbered_texts.SEED))

    while True:
        first, last, one, other = (
            bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(4)
        )
        start = int.from_bytes(first, "little")
        needed = folded(folded(start, one)) ^ folded(folded(start, other))
        differences = needed.to_bytes(8, "little")
        if all(difference in with_difference for difference in differences):
            left, right = zip(*(with_difference[each] for each in differences), strict=True)
            ends = (one + bytes(left) + last, other + bytes(right) + last)
            texts = [np.frombuffer(first + end + bytes(72), np.uint8) for end in ends]
            keys = {
                kernel_tokens._long_key(text.ctypes.data, 32, numbered_texts.SEED) for text in texts
            }
            assert len(keys) == 1
            return (first + ends[0]).decode(), (first + ends[1]).decode()


@pytest.mark.parametrize("made", [tokens_with_the_same_half_key, tokens_with_the_same_key])
def test_different_tokens_with_the_same_key(made: Callable[[], tuple[str, str]]) -> None:
    one, other = ([token] for token in made())
    assert one != other
    cases: list[Case] = []
    for between in ([], ["x"], ["x"] * 40):
        text, changed = one + between + one, other + between + other
        both = one + between + other + between
        for candidate in (text, changed, both):
            cases += [([candidate], [reference]) for reference in (text, changed, both)]
            cases += [([candidate], [["x", "y"]]), ([["x", "y"]], [both + candidate])]
    check(cases, 4)
    check([(candidates, references * 2) for candidates, references in cases], 4)


@pytest.mark.parametrize("word", ["a", "w" * 40])
def test_the_most_bytes_of_which_tokens_are_written(word: str) -> None:
    segments: list[Segment] = []
    sizes = kernel._LONGEST_WRITTEN, kernel.MOST_WRITTEN
    for size, more in itertools.product(sizes, (-1, 0, 1)):
        text = (f"{word} other " * size)[: size + more - 1] + "z"
        half = text[: (size + more) // 2]
        segments += [
            (text, ["a word"]),
            ("a word other", [text]),
            (half, [text[len(half) :]]),
            (half, ["word", text[len(half) : -5], "other word"]),
        ]
    assert_equal_to_sacrebleu(segments, BleuConfig("13a"))


def test_the_most_tokens_that_are_written() -> None:
    rng = random.Random(1)
    segments: list[Segment] = []
    sizes = 64, tokenization.TOKENS_AT_ONCE, 2 * tokenization.TOKENS_AT_ONCE
    for count, more in itertools.product(sizes, (-1, 0, 1, 64)):
        for token, between in (("!", ""), ("ab", " "), ("!a", " ")):
            text = between.join(rng.choices([token, token[0], ";"], k=count + more))
            segments += [(text[3:], [text]), (text, [text[:-3], text[7:]])]
    assert_equal_to_sacrebleu(segments, BleuConfig("13a"))
