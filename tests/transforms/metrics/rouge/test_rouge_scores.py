"""ROUGE as metrics: scores and warnings."""

from __future__ import annotations

import math
import random

import pytest
from hostile_texts import WORDS, Segment
from metric_segments import counted, score_of
from rouge_segments import NAMES, by_rouge_score

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.rouge.kernel import MOST_COMPARED
from beam_bleu.transforms.metrics.rouge.metric import RougeLsumConfig


def summaries() -> list[Segment]:
    rng = random.Random(5)

    def text() -> str:
        return " ".join(rng.choices([*WORDS, "\n", "это просто"], k=rng.randrange(8)))

    return [(text(), [text(), text()]) for _ in range(200)]


@pytest.mark.parametrize("metric", NAMES)
def test_scores_are_means(metric):
    segments = summaries()
    of_segments = [by_rouge_score(segment)[metric] for segment in segments]
    found = score_of(segments, metric)
    for value, place in ((found.precision, 0), (found.recall, 1), (found.score, 2)):
        expected = 100.0 * math.fsum(each[place] for each in of_segments) / len(of_segments)
        assert value == pytest.approx(expected, rel=0, abs=1e-12)


def test_counts_are_those_of_the_best_references():
    segments: list[Segment] = [("x y", ["x y z", "q"]), ("r", ["s", "the r r"])]
    for metric, hits in (("rouge1", 3), ("rouge2", 1), ("rougeL", 3)):
        found = score_of(segments, metric)
        assert (found.hits, found.hyp_words) == (hits, 3)
    assert score_of(segments, "rouge1").ref_words == 6


# Warnings


@pytest.mark.parametrize(
    ("metric", "text"),
    list(zip(NAMES, ["Это просто 5 тестов", "埃菲尔铁塔 2 abc", "ข้อความ", "Это"], strict=True)),
)
def test_text_that_rouge_ignores_has_a_warning(metric, text):
    segments: list[Segment] = [(text, [text])] + [("a b", ["a b"])] * 50
    (warning,) = (each for each in score_of(segments, metric).warnings if "ignores" in each)
    assert warning.startswith("the references of 1 of 51 segments are mostly in characters that")
    others = score_of([*segments, *segments[1:]], metric).warnings
    assert not any("ignores" in each for each in others)


def test_rougelsum_without_sentences_has_a_warning():
    of_one_line: list[Segment] = [("a b\n", ["a b"])]
    assert any(
        "ROUGE-Lsum is ROUGE-L" in each for each in score_of(of_one_line, "rougeLsum").warnings
    )
    for metric, segments in (("rougeL", of_one_line), ("rougeLsum", [("a\nb", ["a b"])])):
        assert not any("ROUGE-L here" in each for each in score_of(segments, metric).warnings)


def test_candidates_without_words_have_the_score_0_and_a_reason():
    for metric in NAMES:
        found = score_of([("", ["a b"]), ("?!", ["a"])], metric)
        assert (found.score, found.precision, found.recall, found.hyp_words) == (0, 0, 0, 0)
        assert found.warnings[0].startswith("the score is 0: no candidate has a word")


def test_rougelsum_of_a_segment_that_is_too_long_is_an_error():
    text = "a\n" * (RougeLsumConfig.most_bytes // 4)
    with pytest.raises(InputError, match=f"{RougeLsumConfig.most_bytes} is the most"):
        counted([(text, [f"{text}a"])], "rougeLsum")


def test_rougelsum_of_too_many_sentences_is_an_error():
    lines = 30_000
    reference = "\n" * (lines - 1)
    candidate = "a" * (MOST_COMPARED // lines)
    assert len(counted([(candidate, [reference])], "rougeLsum").counts[0]) == 1
    message = f"a segment has a reference of {lines} lines and a candidate of {len(candidate) + 1} "
    with pytest.raises(InputError, match=message):
        counted([("a", ["a"]), (f"{candidate}a", ["a", reference])], "rougeLsum")
    assert len(counted([(f"{candidate}a", [reference])], "rougeL").counts[0]) == 1
