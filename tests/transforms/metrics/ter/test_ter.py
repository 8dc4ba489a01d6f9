"""TER's edits, scores and signatures are sacreBLEU's, on hostile text and on generated text."""

from __future__ import annotations

import itertools
import json

import pytest
import sacrebleu
from hostile_texts import segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_segments import columns_of, counted, present, score_of, segment_scores
from ter_segments import (
    PATH,
    RECORDED,
    assert_counts_are_those_of_sacrebleu,
    recorded_segments,
    sacrebleus,
)

from beam_bleu.transforms.metrics.ter.metric import EDITS, TerConfig

CONFIGS = [TerConfig(*choices) for choices in itertools.product([False, True], repeat=4)]


def edits_of(segments):
    return counted(segments, "ter").counts[0][0, :, EDITS].tolist()


def test_hostile_text():
    for config in CONFIGS:
        assert_counts_are_those_of_sacrebleu(segments_with_references(1, 40, 2), config)
    for references in (1, 3, 5):
        segments = segments_with_references(references, 100, references)
        assert_counts_are_those_of_sacrebleu(segments)


@pytest.mark.parametrize("title", RECORDED)
def test_recorded_edits(title):
    record = json.loads(PATH.read_text())
    assert record["sacrebleu"] == sacrebleu.__version__
    segments = recorded_segments(title)
    rows = zip(segments, edits_of(segments), record["edits"][title], strict=True)
    assert not [row for row in rows if row[1] != row[2]][:1]
    # sacreBLEU takes up to some seconds for one segment.
    segments.sort(key=lambda segment: len(segment[0]) + len(segment[1][0]))
    assert_counts_are_those_of_sacrebleu(segments[:6])


def test_the_search_ends_after_1000_trials():
    # There are more trials for the first shift. So it is not made, and all edits are of single
    # words.
    words = ["a", "b", "c"] * 12
    segments = [(" ".join(reversed(words)), [" ".join(words)])]
    assert_counts_are_those_of_sacrebleu(segments)
    assert edits_of(segments) == [23]


def test_long_texts_have_the_edits_that_were_made():
    # sacreBLEU would take hours.
    reference = [f"w{number}" for number in range(10_000)]
    candidate = list(reference)
    for place in range(500, 10_000, 1_000):
        candidate[place] = "other"
    for place in (1_000, 4_000, 9_000):
        moved = candidate[place : place + 4]
        candidate[place : place + 20] = [*candidate[place + 4 : place + 20], *moved]
    del candidate[7_000:7_005]
    assert edits_of([(" ".join(candidate), [" ".join(reference)])]) == [10 + 3 + 5]


texts = st.lists(st.sampled_from("abcd"), max_size=14).map(" ".join)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=2, max_size=2)), min_size=1, max_size=4))
def test_generated_text(segments):
    assert_counts_are_those_of_sacrebleu(segments)


# Scores


@pytest.mark.parametrize("config", [TerConfig(), TerConfig(True, True, True, True)], ids=str)
def test_scores_and_signatures_are_those_of_sacrebleu(config):
    metric = sacrebleus(config)
    for references in (1, 2, 5):
        segments = segments_with_references(references, 100, references)
        corpus, found = metric.corpus_score(*columns_of(segments)), score_of(segments, config)
        assert found.edits == corpus.num_edits
        # sacreBLEU adds up rounded means; here the exact sum is rounded once.
        relative = 0 if references < 3 else 1e-13
        assert found.score == pytest.approx(corpus.score, rel=relative, abs=0)
        assert found.ref_length == pytest.approx(corpus.ref_length, rel=relative, abs=0)
        assert found.sacrebleu_signature == str(metric.get_signature())
        assert config.metric.name == corpus.name
    for row, (candidate, references) in zip(
        segment_scores(segments, config), segments, strict=True
    ):
        expected = metric.sentence_score(candidate, present(references))
        assert (row["score"], row["edits"]) == (expected.score, expected.num_edits)
        assert row["ref_length"] == expected.ref_length


# The cases of sacreBLEU's own test_ter.py, and then odd ones.
@pytest.mark.parametrize(
    ("segments", "score"),
    [
        ([("aaaa bbbb cccc dddd", ["aaaa bbbb cccc dddd"])], 0.0),
        ([("dddd eeee ffff", ["aaaa bbbb cccc"])], 100.0),
        ([("", ["a"])], 100.0),
        ([("d e f g h a b c", ["a b c d e f g h"])], 12.5),
        ([("", [""])], 0.0),
        ([("a b", [""])], 100.0),
        ([("a b", ["", "a"])], 200.0),
        ([("A", ["a"])], 0.0),
        ([("中 文 😀 e\u0301", ["😀 中 文 é"])], 50.0),
        ([("ΑΣ", ["ας"])], 0.0),
        ([("a b c", [""]), ("a", ["a"])], 300.0),
        ([("a b c", ["d"])], 300.0),
        ([("", ["a b"])], 100.0),
        ([("a", ["a b c", ""])], 100 * (1 / 1.5)),
    ],
)
def test_scores_of_small_corpora(segments, score):
    assert_counts_are_those_of_sacrebleu(segments)
    assert score_of(segments, "ter").score == score
    assert sacrebleus(TerConfig()).corpus_score(*columns_of(segments)).score == score
