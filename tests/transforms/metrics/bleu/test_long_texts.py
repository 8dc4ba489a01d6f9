"""Long texts are counted exactly on both sides of each limit of the kernel.

Their tokens are written or not, depending on the bytes of the texts and the tokens of the
references. Blocks of 64 bytes in which each byte is a token are numbered in their own way.
"""

from __future__ import annotations

import random

import brute_force
import pytest
from hostile_texts import Segment
from sacrebleu_counts import assert_equal_to_sacrebleu, counted

from beam_bleu.transforms.metrics.bleu import kernel
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.text import tokenization

SYMBOLS = "!&*.,-;:"
PIECES = [
    *("a", "9", "xy", "-", ".", "..", "...", ",", " ", "  ", "!?", "(&)", "\u3000", "é", "中"),
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&", "a" * 15, "b" * 16, "c" * 70),
]


def changed(rng: random.Random, text: str) -> str:
    """The text with some pieces replaced."""
    for _ in range(1 + len(text) // 40):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(3) :]
    return text


def mixed(rng: random.Random, size: int) -> str:
    """Runs of symbols and letters, each of which is a token, between other texts."""
    text = ""
    while len(text) < size:
        run = rng.randrange(150)
        text += rng.choice(
            [
                "".join(rng.choices(SYMBOLS, k=run)),
                "".join(rng.choices("!;", k=run)),
                " ".join(rng.choices("abc", k=run)),
                "....1" * (run // 5),
                "".join(rng.choices(PIECES, k=run // 10)),
            ]
        )
    return text


@pytest.mark.parametrize("tokenize", ["13a", "none", "char", "intl", "zh"])
def test_texts_with_many_single_bytes(tokenize: str) -> None:
    rng = random.Random(tokenize)
    segments: list[Segment] = []
    for size in (600, 1100, 1500, 3000) * 2:
        reference = mixed(rng, size)
        segments.append((changed(rng, reference), [reference]))
        segments.append((mixed(rng, size), [reference, changed(rng, reference), mixed(rng, 300)]))
    assert_equal_to_sacrebleu(segments, BleuConfig(tokenize))


@pytest.mark.parametrize("word", ["a", "w" * 40])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_most_bytes_of_which_tokens_are_written(word: str, more: int) -> None:
    segments: list[Segment] = []
    for size in (kernel._LONGEST_WRITTEN, kernel.MOST_WRITTEN):
        text = (f"{word} other " * size)[: size + more - 1] + "z"
        half = text[: (size + more) // 2]
        segments += [
            (text, ["a word"]),
            ("a word other", [text]),
            (half, [text[len(half) :]]),
            (half, ["word", text[len(half) : -5], "other word"]),
        ]
    assert_equal_to_sacrebleu(segments, BleuConfig("13a"))


@pytest.mark.parametrize("more", [-1, 0, 1, 64])
def test_the_most_tokens_that_are_written(more: int) -> None:
    rng = random.Random(more)
    segments: list[Segment] = []
    for count in (64, tokenization.TOKENS_AT_ONCE, 2 * tokenization.TOKENS_AT_ONCE):
        for token, between in (("!", ""), ("ab", " "), ("!a", " ")):
            text = between.join(rng.choices([token, token[0], ";"], k=count + more))
            segments += [(text[3:], [text]), (text, [text[:-3], text[7:]])]
    assert_equal_to_sacrebleu(segments, BleuConfig("13a"))


def test_the_index_of_different_tokens_grows() -> None:
    for different in (127, 128, 129, 130, 255, 256, 257, 511, 513, 2049, 5000):
        words = [f"w{number}" for number in range(different)]
        reference = [*words, *random.Random(different).choices(words, k=500)]
        candidate = [*reference[::-1], *words[1:], "other", *reference[5:]]
        ours = counted([(" ".join(candidate), [" ".join(reference)])], BleuConfig("none"))[0]
        expected = [brute_force.clipped_matches(candidate, [reference], n) for n in range(1, 5)]
        assert ours[2:6].tolist() == expected
