"""chrF's integers, scores and signatures are sacreBLEU's, on hostile text and on generated text."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hostile_texts import CODE_POINTS, WHITE_SPACE, Segment, segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import group_totals

from beam_bleu import ChrfConfig, ChrfScore
from beam_bleu.transforms.chosen_metrics import definition_of
from beam_bleu.transforms.metrics.chrf.metric import FIRST_NGRAMS
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch

CONFIGS = [
    ChrfConfig(),
    ChrfConfig(word_order=2),
    ChrfConfig(char_order=3, beta=1, whitespace=True),
    ChrfConfig(word_order=2, eps_smoothing=True, whitespace=True),
    ChrfConfig(2, word_order=5, eps_smoothing=True, lowercase=True),
    ChrfConfig(16, word_order=16),
]


def theirs(config: ChrfConfig) -> sacrebleu.CHRF:
    options = dataclasses.asdict(config)
    del options["normalize"]
    return sacrebleu.CHRF(**options)


def columns_of(segments: Sequence[Segment]) -> tuple[list[str], list[tuple[str | None, ...]]]:
    return [candidate for candidate, _ in segments], list(
        zip(*(references for _, references in segments), strict=True)
    )


def counted(segments: Sequence[Segment], config: ChrfConfig) -> BatchStatistics:
    text, definition = definition_of(config)
    return count_batch(to_batch(segments), text, definition.metric)


def score_of(statistics: BatchStatistics, config: ChrfConfig) -> ChrfScore:
    _, definition = definition_of(config)
    score: Any = definition.score(group_totals(statistics, with_products=True))
    return score


def assert_equal_to_sacrebleu(segments: Sequence[Segment], config: ChrfConfig) -> None:
    candidates, references = columns_of(segments)
    metric = theirs(config)
    statistics = counted(segments, config)
    expected = np.array(metric._extract_corpus_statistics(candidates, references))
    ours = statistics.counts[0][0, :, FIRST_NGRAMS:]
    wrong = np.flatnonzero((ours != expected).any(axis=1))
    assert not len(wrong), (segments[wrong[0]], ours[wrong[0]], expected[wrong[0]])
    found, corpus = score_of(statistics, config), metric.corpus_score(candidates, references)
    assert found.score == corpus.score
    assert found.sacrebleu_signature == str(metric.get_signature())
    assert config.metric.name == corpus.name


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("references", [1, 2, 4])
def test_hostile_text(config, references):
    assert_equal_to_sacrebleu(segments_with_references(references, 400, references), config)


def test_white_space_is_that_of_python():
    spaces = [(f"a{space}b", [f"ab{space}", f"{space}a b"]) for space in WHITE_SPACE]
    around = [(chr(ord(space) + 1), ["ab" + chr(ord(space) - 1)]) for space in WHITE_SPACE]
    for config in (ChrfConfig(word_order=2), ChrfConfig(word_order=2, whitespace=True)):
        assert_equal_to_sacrebleu(spaces, config)
        assert_equal_to_sacrebleu(around, config)


def test_words_lose_one_punctuation_mark():
    words = [
        "".join(word) for size in (1, 2, 3) for word in itertools.product("(a.é´", repeat=size)
    ]
    # Each ASCII character at both ends of a word.
    words += [f"{mark}a" for mark in map(chr, range(128))] + [
        f"a{mark}" for mark in map(chr, range(128))
    ]
    segments = [
        (f"{one} {other}", [f"a {one[:-1]} {one[-1]}"]) for one, other in itertools.pairwise(words)
    ]
    assert_equal_to_sacrebleu(segments, ChrfConfig(1, word_order=3))


def test_each_code_point_is_a_character():
    rng = random.Random(1)
    points = rng.sample(CODE_POINTS, 3000)
    segments = [(f"{one}{other}a", [f"{one}a"]) for one, other in itertools.pairwise(points)]
    assert_equal_to_sacrebleu(segments, ChrfConfig())


texts = st.text(st.sampled_from("ab c\u3000d😀e\u0301\n"), max_size=14)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(texts, st.lists(texts | st.none(), min_size=3, max_size=3)).filter(
            lambda segment: any(each is not None for each in segment[1])
        ),
        min_size=1,
        max_size=6,
    )
)
def test_generated_text(segments):
    for config in CONFIGS[:2]:
        assert_equal_to_sacrebleu(segments, config)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_scores_of_segments_are_those_of_sacrebleu_to_the_last_bit(config):
    segments, metric = segments_with_references(7, 300, 3), config.metric
    statistics = counted(segments, config)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    schema = segment_schema([metric])
    rows = segment_table(statistics, 0, "chrf", metric, schema).to_pylist()
    for row, (candidate, references) in zip(rows, segments, strict=True):
        present = [each for each in references if each is not None]
        assert row["score"] == theirs(config).sentence_score(candidate, present).score
        columns = statistics.counts[0][0, row["index"]].tolist()
        assert row["score"] == metric.value(columns)
        assert [*row["hyp_ngrams"], *row["ref_ngrams"], *row["matches"]] == [
            *columns[2::3],
            *columns[3::3],
            *columns[4::3],
        ]
