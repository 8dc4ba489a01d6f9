"""ROUGE is that of rouge_score, to the last bit; its scores and warnings."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import regex
from hostile_texts import Segment, hostile_segments
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer, _union_lcs
from scoring import counted, score_of, segment_scores

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.rouge.kernel import MOST_COMPARED
from beam_bleu.transforms.metrics.rouge.metric import HITS, SEVERAL, RougeLsumConfig

NAMES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


@functools.cache
def _scorer(is_stemmed: bool) -> RougeScorer:
    return RougeScorer(NAMES, use_stemmer=is_stemmed)


def by_rouge_score(segment: Segment, stemmer: bool = False) -> dict[str, Any]:
    """The scores of a segment by rouge_score: precision, recall, F of each metric, 0..1."""
    candidate, references = segment
    present = [reference for reference in references if reference is not None]
    scores: dict[str, Any] = _scorer(stemmer).score_multi(present, candidate)
    return scores


def assert_equal_to_rouge_score(segments: Sequence[Segment], stemmer: bool = False) -> None:
    """Checks precision, recall and F of all segments, to the last bit."""
    expected = [by_rouge_score(segment, stemmer) for segment in segments]
    for metric in NAMES:
        rows = segment_scores(segments, metric, stemmer=stemmer)
        for row, scores, segment in zip(rows, expected, segments, strict=True):
            found = row["precision"], row["recall"], row["score"]
            assert found == tuple(100.0 * value for value in scores[metric]), (metric, segment)


class _Words:
    """A tokenizer for rouge_score: the words that docs/metrics.md defines."""

    def __init__(self, words: str) -> None:
        self._pattern = regex.compile({"unicode": r"[\p{L}\p{M}\p{N}]+", "char": r"\S"}[words])

    def tokenize(self, text: str) -> list[str]:
        found: list[str] = self._pattern.findall(text.lower())
        return found


@pytest.mark.parametrize("words", ["unicode", "char"])
def test_other_words(words):
    scorer = RougeScorer(NAMES, tokenizer=_Words(words))
    rng = random.Random(words)
    pieces = ["東京", "です", "ΑΣ ", "İ ", "naïve ", "हिन्दी ", "۳ ", "\u3000", "— ", "\n", "The "]
    drawn = ["".join(rng.choices(pieces, k=rng.randrange(20))) for _ in range(150)]
    segments: list[Segment] = [(one, [other]) for one, other in itertools.pairwise(drawn)]
    for metric in NAMES:
        rows = segment_scores(segments, metric, words=words)
        for row, (candidate, (reference,)) in zip(rows, segments, strict=True):
            expected = scorer.score(reference, candidate)[metric]
            found = row["precision"], row["recall"], row["score"]
            assert found == tuple(100.0 * value for value in expected), (candidate, reference)
    signature = score_of(segments, "rouge1", words=words).signature
    assert f"|tok:rouge-{words}|" in signature


def test_the_stemmer_is_for_ascii_words():
    with pytest.raises(ValueError, match="'char'"):
        RougeLsumConfig(stemmer=True, words="char")


def summaries(seed: int, number: int, words: int, longest: int, references: int) -> list[Segment]:
    """Segments of few different words, and of sentences of different lengths."""
    rng = random.Random(seed)
    pieces = [*(f"w{word} " for word in range(words)), *["\n"] * max(words // 15, 1)]

    def text() -> str:
        return "".join(rng.choices(pieces, k=rng.choice([0, 1, 3, longest])))

    return [(text(), [text() for _ in range(references)]) for _ in range(number)]


@pytest.mark.parametrize("stemmer", [False, True])
def test_hostile_segments(stemmer):
    assert_equal_to_rouge_score(hostile_segments(350), stemmer)


def test_summaries():
    for sizes in ((200, 3, 9, 1), (100, 4, 20, 2), (40, 15, 70, 3), (2, 60, 400, 1)):
        assert_equal_to_rouge_score(summaries(1, *sizes))


_TEXT = st.text(alphabet=[*"abc \n.É\u212a"], max_size=30)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(_TEXT, st.lists(_TEXT, min_size=1, max_size=3)), min_size=1, max_size=9))
def test_any_segments(segments):
    most = max(len(references) for _, references in segments)
    padded: list[Segment] = [
        (candidate, [*references, *[None] * (most - len(references))])
        for candidate, references in segments
    ]
    assert_equal_to_rouge_score(padded)


def test_texts_of_one_block_and_of_several():
    for words in (63, 64, 65, 127, 128, 129, 300):
        rng = random.Random(words)
        one, other = (rng.choices("abcdefg", k=words) for _ in range(2))
        texts = " ".join(one), " ".join(other), "\n".join([" ".join(one[:60]), " ".join(other)])
        assert_equal_to_rouge_score([(text, [reference]) for text in texts for reference in texts])


def test_long_sentences_are_walked_through_in_bands():
    # More than 64 words of the candidate's sentence, so that rows are computed again.
    rng = random.Random(2)
    sentences = [[f"w{rng.randrange(9)}" for _ in range(size)] for size in (400, 70, 150, 1)]
    reference = [f"w{rng.randrange(9)}" for _ in range(200)]
    text = "\n".join(" ".join(sentence) for sentence in sentences)
    segments: list[Segment] = [(text, [" ".join(reference)]), (text, [f"x\n{text}"])]
    assert_equal_to_rouge_score(segments)
    hits = counted(segments, "rougeLsum").counts[0][0, 0, HITS]
    assert hits == len(_union_lcs(reference, sentences))  # no word of it is rare in the candidate


def test_of_several_subsequences_the_one_of_rouge_score_counts():
    # "b" could be "a": which of them it is decides whether the union has one word or two.
    segments: list[Segment] = [
        ("b a\na", ["a b"]),
        ("a b\nb", ["b a"]),
        ("b a\nb", ["a b"]),
        ("c b a\nb c", ["a c b", "b a c"]),
    ]
    assert_equal_to_rouge_score(segments)
    assert counted(segments, "rougeLsum").counts[0][0, :3, HITS].tolist() == [1, 1, 2]


def test_sentences_are_counted():
    segments: list[Segment] = [("a\n\n", ["\n!\nb"]), ("a\nb", ["a b"]), ("a", ["x", "a\n\nb"])]
    assert counted(segments, "rougeLsum").counts[0][0, :, SEVERAL].tolist() == [0, 1, 1]
    assert counted([("a b", ["a b", "a\nb"])], "rougeLsum").counts[0][0, 0, SEVERAL] == 0
    assert counted([("a b", ["x", "a\nb"])], "rougeLsum").counts[0][0, 0, SEVERAL] == 1


def test_several_systems_have_counts_of_their_own():
    segments = summaries(3, 100, 6, 20, 2)
    others = random.Random(3).sample([candidate for candidate, _ in segments], len(segments))
    second: list[Segment] = [
        (other, references) for other, (_, references) in zip(others, segments, strict=True)
    ]
    for metric in NAMES:
        both = counted(segments, metric, others).counts[0]
        alone = [counted(each, metric).counts[0][0] for each in (segments, second)]
        assert np.array_equal(both, np.stack(alone))


@pytest.mark.parametrize("different", [3, 20_000])
def test_long_texts(different):
    # rouge_score needs a minute for the subsequence of such texts, which is clear here.
    rng = random.Random(different)
    words = [f"w{rng.randrange(different)}" for _ in range(10_000)]
    text, other = " ".join(words), " ".join([*words[:4000], *["x"] * 3000, *words[4000:]])
    for metric, hits in zip(NAMES, (10_000, 9998, 10_000, 10_000), strict=True):
        assert counted([(text, [other])], metric).counts[0][0, 0, HITS] == hits
    lines = "\n".join(" ".join(words[start : start + 20]) for start in range(0, 10_000, 20))
    assert counted([(lines, [lines])], "rougeLsum").counts[0][0, 0, HITS] == 10_000


@pytest.mark.parametrize("metric", NAMES)
def test_scores_are_means(metric):
    segments = summaries(5, 200, 12, 8, 2)
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


def test_text_that_rouge_ignores_has_a_warning():
    texts = ["Это 5 тестов", "埃菲尔铁塔 2 a", "ข้อความ", "Это"]
    for metric, text in zip(NAMES, texts, strict=True):
        segments: list[Segment] = [(text, [text])] + [("a b", ["a b"])] * 50
        (warning,) = (each for each in score_of(segments, metric).warnings if "ignores" in each)
        assert warning.startswith("the references of 1 of 51 segments are mostly in characters tha")
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
