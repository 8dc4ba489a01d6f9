"""Lines of megabytes are counted exactly."""

import random
from collections import Counter

import pytest
from sacrebleu_counts import counted

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig

MEGABYTES_10 = 10_000_000


@pytest.mark.parametrize("size", [1_000_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_a_long_line_of_words_is_exact(size):
    rng = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = ["".join(rng.choices(letters, k=rng.randrange(1, 14))) for _ in range(50_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    reference = rng.choices(words, weights, k=size // 6)
    candidate = [rng.choice(words) if rng.random() < 0.1 else word for word in reference]
    line = " ".join(candidate)
    assert len(line) > size
    ours = counted([(line, [" ".join(reference)])], BleuConfig())[0].tolist()
    matches = [
        (n_grams(candidate, order) & n_grams(reference, order)).total() for order in range(1, 5)
    ]
    assert ours[:2] == [len(candidate), len(reference)]
    assert ours[2:6] == matches
    assert ours[6:] == [len(candidate) - n for n in range(4)]


def n_grams(words, order):
    return Counter(zip(*(words[n:] for n in range(order)), strict=False))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "reference", "length", "matches"),
    [
        # Every symbol is a token, so all n-grams of the shorter text match.
        ("!" * MEGABYTES_10, "!" * (MEGABYTES_10 - 5), MEGABYTES_10, MEGABYTES_10 - 5),
        # One token.
        ("a" * MEGABYTES_10, "a" * MEGABYTES_10, 1, 1),
        ("a" * MEGABYTES_10, "a" * (MEGABYTES_10 - 1) + "b", 1, 0),
        # An even number of points: the last joins the digit after it, the others are alone.
        ("." * MEGABYTES_10 + "5", "...x", MEGABYTES_10, 3),
        # ... but not after a digit.
        ("5" + "." * MEGABYTES_10 + "5", "...5", MEGABYTES_10 + 2, 4),
        # Every hyphen is removed together with its newline.
        ("-\n" * (MEGABYTES_10 // 2) + "a", "a", 1, 1),
        (" " * MEGABYTES_10, "a", 0, 0),
    ],
    ids=["symbols", "token", "tokens", "even run", "digit and even run", "line ends", "blank"],
)
def test_degenerate_lines_of_ten_megabytes_are_exact(candidate, reference, length, matches):
    ours = counted([(candidate, [reference])], BleuConfig())[0]
    assert ours[0] == length
    assert ours[2:6].tolist() == [max(matches - n, 0) for n in range(4)]
