"""The scores of exact match and token F1."""

from __future__ import annotations

import math
import random

import pytest
from hostile_texts import WORDS, Segment
from metric_segments import score_of
from squad_segments import raw_scores


def answers(number: int, seed: int = 5) -> list[Segment]:
    rng = random.Random(seed)

    def text() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randrange(4)))

    return [
        (references[0] if rng.random() < 0.3 else text(), references)
        for references in ([text(), text()] for _ in range(number))
    ]


ANSWERS = answers(400)


def test_scores_are_the_means_of_squad():
    exact, f1 = zip(*(raw_scores(*segment) for segment in ANSWERS), strict=True)
    found = score_of(ANSWERS, "exact_match")
    # As in SQuAD's own program: 100.0 * sum / number.
    assert found.score == 100.0 * sum(exact) / len(exact)
    assert found.exact_matches == sum(exact)
    score = score_of(ANSWERS, "token_f1").score
    assert score == pytest.approx(100.0 * math.fsum(f1) / len(f1), rel=0, abs=1e-12)


def test_parts_of_token_f1_are_those_of_the_best_references():
    found = score_of([("x y", ["x y z", "q"]), ("r", ["s", "the r r"])], "token_f1")
    assert (found.common_words, found.hyp_words, found.ref_words) == (3, 3, 5)


def test_text_without_spaces_has_a_warning_if_words_are_counted():
    segments: list[Segment] = [("埃菲尔铁塔在巴黎市中心", ["埃菲尔铁塔在法国巴黎市"])] * 40
    assert any(
        "for such text, use chrF" in each for each in score_of(segments, "token_f1").warnings
    )
    assert not any("spaces" in each for each in score_of(segments, "exact_match").warnings)
