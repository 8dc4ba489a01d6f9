"""Exact match and token F1 of every segment are those of SQuAD's evaluation, to the last bit."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hostile_texts import FRAGMENTS, WORDS, Segment
from hypothesis import given
from hypothesis import strategies as st
from metric_segments import counted, score_of, segment_scores
from squad_segments import ARTICLES, raw_scores

from beam_bleu.transforms.metrics.squad import F1_HIGH, F1_LOW
from beam_bleu.transforms.native.fixed_point import fixed_point


def assert_equal_to_squad(segments: Sequence[Segment]) -> None:
    expected = [raw_scores(*segment) for segment in segments]
    exact, f1 = segment_scores(segments, "exact_match"), segment_scores(segments, "token_f1")
    for place, segment in enumerate(segments):
        assert exact[place]["score"] == 100.0 * expected[place][0], segment
        assert f1[place]["score"] == 100.0 * expected[place][1], segment
    columns = counted(segments, "token_f1").counts[0][0, :, [F1_HIGH, F1_LOW]].T
    assert columns.tolist() == [list(fixed_point(float(each))) for _, each in expected]


def hostile(seed: int, number: int, references: int) -> list[Segment]:
    """Segments of few words and difficult characters; some references are missing or empty."""
    rng = random.Random(seed)
    pieces = [*FRAGMENTS, *WORDS * 6, *ARTICLES * 6, *[" "] * 200]

    def text() -> str:
        return "".join(rng.choices(pieces, k=rng.choice([0, 1, 3, 20])))

    segments: list[Segment] = []
    for _ in range(number):
        of_segment = [text() if rng.random() < 0.8 else None for _ in range(references)]
        if not any(each is not None for each in of_segment):
            of_segment[rng.randrange(references)] = text()
        given = next(each for each in of_segment if each is not None)
        candidates = [given, f"The {given.upper()}!", given[rng.randrange(9) :] + text(), text()]
        segments.append((rng.choice(candidates), of_segment))
    return segments


@pytest.mark.parametrize("references", [1, 2, 5])
def test_hostile_segments(references):
    segments = hostile(references, 1500, references)
    assert_equal_to_squad(segments)
    exact = [row["score"] for row in segment_scores(segments, "exact_match")]
    assert {*exact} == {0, 100}


_TEXT = st.text(alphabet=[*"abThe n.'_ é\u0301𝒳"], max_size=24)


@given(st.lists(st.tuples(_TEXT, st.lists(_TEXT, min_size=2, max_size=2)), min_size=1))
def test_any_segments(segments):
    assert_equal_to_squad(segments)


@pytest.mark.parametrize(
    ("candidate", "references", "exact", "f1"),
    [
        ("The cat", ["a cat."], 1, 1),
        ("", [""], 1, 1),
        ("the", ["an"], 1, 1),
        ("", ["cat"], 0, 0),
        ("cat", ["the"], 0, 0),
        # An answer without a word counts only if no answer has one.
        ("the", ["a", "cat"], 0, 0),
        ("", ["", "cat"], 0, 0),
        ("cat sat", ["sat cat"], 0, 1),
        ("cat cat sat", ["cat sat sat sat"], 0, 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4)),
        # The best reference of each metric by itself.
        ("x y", ["x y z", "y"], 0, 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),
    ],
)
def test_cases(candidate, references, exact, f1):
    segments: list[Segment] = [(candidate, references)]
    assert raw_scores(candidate, references) == (exact, f1)
    assert score_of(segments, "exact_match").score == 100 * exact
    assert segment_scores(segments, "token_f1")[0]["score"] == 100 * f1


@pytest.mark.parametrize("different", [3, 20_000])
def test_long_texts(different):
    rng = random.Random(different)
    one, other = ([f"w{rng.randrange(different)}" for _ in range(10_000)] for _ in range(2))
    texts = " ".join(one), " ".join(other), " ".join(reversed(one)), "w1", "the"
    assert_equal_to_squad([(text, [reference]) for text in texts for reference in texts])
