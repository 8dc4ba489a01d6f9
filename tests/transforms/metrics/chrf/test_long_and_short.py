"""chrF's kernel at the borders between its ways to count, with one to five references.

References of up to 64, 128, 192, 256 and 512 tokens have sets of so many positions, and longer ones
have numbered n-grams. Each way must give sacreBLEU's integers, in any order of the segments.
"""

from __future__ import annotations

import random

import pytest
from hostile_texts import CODE_POINTS, segments_with_references
from test_chrf_against_sacrebleu import assert_equal_to_sacrebleu, counted

from beam_bleu import ChrfConfig
from beam_bleu.transforms.metrics.chrf import kernel

BORDERS = [length + more for length in (0, 64, 128, 192, 256, 320, 512) for more in (-1, 0, 1, 2)][
    1:
]
ALPHABETS = {
    "two letters": "ab",
    "letters": "abcdefghijklmnopqrstuvwxyz.,",
    "Chinese": "的一是不了人我在有他这中大来上国",
    "astral": "😀😁𝒳𐐀\U0010ffff",
    "combining marks": "e\u0301\u0323o\u0308a",
    "all lengths": "aé漢😀 ",
    "entities": ["&amp;", "&lt;", "&quot;", "x"],
}
CONFIGS = [ChrfConfig(word_order=2), ChrfConfig(8, word_order=4), ChrfConfig(9, word_order=5)]


def near(text: str, pieces: list[str], rng: random.Random) -> str:
    """A text like another one, with some pieces changed."""
    return "".join(rng.choice(pieces) if rng.random() < 0.1 else letter for letter in text)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_characters_at_the_borders_of_the_ways(alphabet, config):
    rng, pieces = random.Random(alphabet), list(ALPHABETS[alphabet])
    segments = []
    for length in BORDERS:
        reference = "".join(rng.choices(pieces, k=length))[:length]
        candidate = near(reference, pieces, rng)
        segments.append((candidate + "".join(rng.choices(pieces, k=rng.randrange(9))), [reference]))
    assert_equal_to_sacrebleu(segments, config)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_words_at_the_borders_of_the_ways(config):
    rng, words = random.Random(1), ["a", "b", "the.", "(cat", "漢", "naïve!", "x" * 40, "x" * 41]
    segments = []
    for length in BORDERS:
        reference = rng.choices(words, k=length)
        candidate = [rng.choice(words) if rng.random() < 0.1 else word for word in reference]
        segments.append((" ".join(candidate), ["  ".join(reference)]))
    assert_equal_to_sacrebleu(segments, config)


@pytest.mark.parametrize("references", [1, 2, 3, 4, 5])
def test_ways_mix_in_a_segment_and_in_a_batch(references):
    rng, pieces = random.Random(references), list("abcde. é漢")
    segments = []
    for _ in range(60):
        of_segment: list[str | None] = [
            "".join(rng.choices(pieces, k=rng.choice([0, 1, 5, 70, 140, 300, 520, 900])))
            for _ in range(references)
        ]
        candidate = near(rng.choice(of_segment) or "", pieces, rng)
        segments.append((candidate, of_segment))
    for config in (ChrfConfig(word_order=2), ChrfConfig(word_order=1, eps_smoothing=True)):
        assert_equal_to_sacrebleu(segments, config)


def test_a_segment_with_more_characters_than_rows():
    rng = random.Random(2)
    letters = rng.sample([point for point in CODE_POINTS if not point.isspace()], 70_000)
    references: list[str | None] = [
        "".join(letters[first : first + 500]) for first in range(0, len(letters), 500)
    ]
    candidate = "".join(letters[33_000:33_300]) + "".join(letters[33_500:33_900])
    assert_equal_to_sacrebleu([(candidate, references)], ChrfConfig(4))


@pytest.mark.parametrize(
    "segment",
    [
        (
            " ".join(f"w{i % 97}" for i in range(10_000)),
            [" ".join(f"w{i % 89}" for i in range(10_000))],
        ),
        ("word", [" ".join(f"w{i}." for i in range(10_000))]),
        (" ".join(f"(w{i}" for i in range(10_000)), ["w1 w2"]),
        ("a" * 10_000, ["a" * 9_999]),
    ],
    ids=["10,000 words", "long reference", "long candidate", "one word"],
)
def test_very_short_and_very_long_segments(segment):
    assert_equal_to_sacrebleu([segment], ChrfConfig(word_order=2))


def test_memory_that_must_be_zero_is_zero_again():
    # It is kept for the next batch, which would count what is left in it.
    segments = segments_with_references(3, 100, 2)
    segments += [("漢字" * 600 + " x. " * 600, ["漢é😀" * 600 + " x, " * 600, "漢"])]
    for config in CONFIGS:
        counted(segments, config)
        for (_, zero), memory in kernel._MEMORY._kept.items():
            assert not zero or not memory.data.any()
