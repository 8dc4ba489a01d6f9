"""The cases of other tools' own tests of BLEU, by the plain call.

The tests of the metrics score the tables of tests/golden, and the cases of sacreBLEU's tests of
chrF and TER, by the call, too.
"""

from __future__ import annotations

import pytest

from beam_bleu import BleuConfig, score, score_segments

STREAMS = [
    ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
    ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
]
CANDIDATES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
OFFSET = "am I am a character sequence", "I am a symbol string sequence a a"
PAPER = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


# test/test_bleu.py of sacreBLEU, Apache License 2.0
@pytest.mark.parametrize(
    ("candidates", "choices", "expected"),
    [
        (CANDIDATES, {}, 48.530827),
        ([""] * 3, {}, 0.0),
        (CANDIDATES, {"tokenize": "none"}, 49.1919566),
        (CANDIDATES, {"tokenize": "13a"}, 48.530827),
        (CANDIDATES, {"tokenize": "intl"}, 43.91623493),
        (CANDIDATES, {"smooth_method": "none"}, 48.530827),
    ],
)
def test_sacrebleus_cases_of_a_corpus(candidates, choices, expected):
    found = score(candidates, STREAMS, metrics=[BleuConfig(**choices)])["bleu"]
    assert found.score == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("candidates", "references", "expected"),
    [
        (["this is a test"], ["this is a test"], 1.0),
        (["this is a fest"], ["this is a test"], 0.223606797749979),
        (["test"], ["a test"], 0.3678794411714425),
        (["a test"], ["a test"], 1.0),
        (["a little test"], ["a test"], 0.03218297948685433),
    ],
)
def test_sacrebleus_cases_of_raw_text(candidates, references, expected):
    # Its `raw_corpus_bleu`: no tokenizer, effective order, and a floor.
    config = BleuConfig("none", smooth_method="floor", smooth_value=0.01, effective_order=True)
    found = score(candidates, [references], metrics=[config])["bleu"]
    assert found.score == pytest.approx(100 * expected, abs=1e-6)
    (of_segment,) = score_segments(candidates, [references], metrics=[config])["bleu"].to_pylist()
    assert of_segment == found.score


def test_sacrebleus_case_of_statistics():
    found = score([OFFSET[0]], [[OFFSET[1]]], metrics=[BleuConfig("none")])["bleu"]
    assert (found.matches, found.totals) == ((4, 2, 1, 0), (6, 5, 4, 3))
    smoothed = BleuConfig("none", smooth_method="floor", smooth_value=0.1, effective_order=True)
    floor = score([OFFSET[0]], [[OFFSET[1]]], metrics=[smoothed])["bleu"]
    assert floor.score == pytest.approx(15.55722182, abs=1e-6)
    without = BleuConfig("none", smooth_method="none")
    assert score([OFFSET[0]], [[OFFSET[1]]], metrics=[without])["bleu"].score == 0


# nltk/test/unit/translate/test_bleu.py of NLTK, Apache License 2.0: the examples of the paper
@pytest.mark.parametrize(
    ("candidate", "references", "fractions"),
    [
        (
            "the the the the the the the",
            ["the cat is on the mat", "there is a cat on the mat"],
            [(2, 7), (0, 6)],
        ),
        ("of the", PAPER, [(2, 2), (1, 1)]),
        (
            "It is a guide to action which ensures that the military always obeys the commands of "
            "the party",
            PAPER,
            [(17, 18), (10, 17)],
        ),
        (
            "It is to insure the troops forever hearing the activity guidebook that party direct",
            PAPER,
            [(8, 14), (1, 13)],
        ),
    ],
)
def test_nltks_cases_of_precisions(candidate, references, fractions):
    config = BleuConfig("none")
    found = score([candidate], references_per_segment=[references], metrics=[config])["bleu"]
    assert [*zip(found.matches, found.totals, strict=True)][:2] == fractions
