"""Exact match and token F1 of every segment are those of SQuAD's evaluation, to the last bit."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hostile_texts import Segment, segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import counted, present, score_of, segment_scores

from beam_bleu.transforms.metrics.squad import F1_HIGH, F1_LOW
from beam_bleu.transforms.native.fixed_point import fixed_point
from benchmarks.speed.squad_evaluation import best_exact, best_f1

ARTICLES = ["a", "an", "the", "The", "a's", "the_", "the9", "th-e", "Ａ", "a\u0301", "an\xa0"]


def raw_scores(candidate: str, references: Sequence[str | None]) -> tuple[float, float]:
    """(exact match, F1) of a segment by SQuAD's evaluation, 0..1 each."""
    return best_exact(candidate, present(references)), best_f1(candidate, present(references))


def assert_equal_to_squad(segments: Sequence[Segment]) -> None:
    expected = [raw_scores(*segment) for segment in segments]
    exact, f1 = segment_scores(segments, "exact_match"), segment_scores(segments, "token_f1")
    for place, segment in enumerate(segments):
        assert exact[place]["score"] == 100.0 * expected[place][0], segment
        assert f1[place]["score"] == 100.0 * expected[place][1], segment
    columns = counted(segments, "token_f1").counts[0][0, :, [F1_HIGH, F1_LOW]].T
    assert columns.tolist() == [list(fixed_point(float(each))) for _, each in expected]


@pytest.mark.parametrize("references", [1, 5])
def test_hostile_segments(references):
    segments = segments_with_references(references, 400, references, *ARTICLES * 6)
    segments += [(f"The {one.upper()}!", others) for one, others in segments[::4]]
    segments += [(f"The {others[0]}!", others) for _, others in segments[::4] if others[0]]
    assert_equal_to_squad(segments)
    exact, f1 = zip(*(raw_scores(*segment) for segment in segments), strict=True)
    found = score_of(segments, "exact_match")
    # As in SQuAD's own program: 100.0 * sum / number.
    assert found.score == 100.0 * sum(exact) / len(exact)
    assert 0 < found.exact_matches == sum(exact) < len(exact)
    score = score_of(segments, "token_f1").score
    assert score == pytest.approx(100.0 * math.fsum(f1) / len(f1), rel=0, abs=1e-12)


_TEXT = st.text(alphabet=[*"abThe n.'_ é\u0301𝒳"], max_size=24)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(_TEXT, st.lists(_TEXT, min_size=2, max_size=2)), min_size=1))
def test_any_segments(segments):
    assert_equal_to_squad(segments)


def test_cases():
    for candidate, references, exact, f1 in [
        ("The cat", ["a cat."], 1, 1),
        ("the", ["an"], 1, 1),
        ("", ["cat"], 0, 0),
        # An answer without a word counts only if no answer has one.
        ("", ["", "cat"], 0, 0),
        ("cat cat sat", ["cat sat sat sat"], 0, 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4)),
        # The best reference of each metric by itself.
        ("x y", ["x y z", "y"], 0, 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),
    ]:
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


def test_parts_of_token_f1_are_those_of_the_best_references():
    found = score_of([("x y", ["x y z", "q"]), ("r", ["s", "the r r"])], "token_f1")
    assert (found.common_words, found.hyp_words, found.ref_words) == (3, 3, 5)
    # Of equally good references, the first: both have an F1 of 1/2.
    found = score_of([("x y", ["x z", "x y p q r s"])], "token_f1")
    assert (found.score, found.common_words, found.ref_words) == (50, 1, 2)


def test_text_without_spaces_has_a_warning_if_words_are_counted():
    segments: list[Segment] = [("埃菲尔铁塔在巴黎市中心", ["埃菲尔铁塔在法国巴黎市"])] * 40
    assert any(
        "for such text, use chrF" in each for each in score_of(segments, "token_f1").warnings
    )
    assert not any("spaces" in each for each in score_of(segments, "exact_match").warnings)
