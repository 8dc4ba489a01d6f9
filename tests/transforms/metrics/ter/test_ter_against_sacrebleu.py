"""TER's edits and lengths are sacreBLEU's, on hostile text and on generated text."""

from __future__ import annotations

import itertools
import json

import pytest
import sacrebleu
from hostile_texts import segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from ter_segments import (
    PATH,
    RECORDED,
    assert_counts_are_those_of_sacrebleu,
    counted,
    recorded_segments,
)

from beam_bleu import score, score_segments
from beam_bleu.transforms.metrics.ter.metric import EDITS, TerConfig

CONFIGS = [
    TerConfig(normalized, no_punct, asian_support, case_sensitive)
    for normalized, no_punct, asian_support, case_sensitive in itertools.product(
        [False, True], repeat=4
    )
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_hostile_text_by_each_definition(config):
    assert_counts_are_those_of_sacrebleu(segments_with_references(1, 40, 2), config)


@pytest.mark.parametrize("references", [1, 3, 5])
def test_hostile_text_with_several_references(references):
    assert_counts_are_those_of_sacrebleu(segments_with_references(references, 150, references))


@pytest.mark.parametrize("title", RECORDED)
def test_recorded_edits(title):
    record = json.loads(PATH.read_text())
    assert record["sacrebleu"] == sacrebleu.__version__
    segments = recorded_segments(title)
    ours = counted(segments).counts[0][0, :, EDITS].tolist()
    wrong = [
        number
        for number, pair in enumerate(zip(ours, record["edits"][title], strict=True))
        if len({*pair}) > 1
    ]
    assert not wrong, segments[wrong[0]]


@pytest.mark.parametrize("title", RECORDED)
def test_some_recorded_edits_are_still_those_of_sacrebleu(title):
    # Those of the shortest texts: sacreBLEU takes up to some seconds for one segment.
    segments = sorted(
        recorded_segments(title), key=lambda segment: len(segment[0]) + len(segment[1][0])
    )
    assert_counts_are_those_of_sacrebleu(segments[:6])


def test_the_search_ends_after_1000_trials():
    # There are more trials for the first shift. So it is not made, and all edits are of single
    # words.
    words = ["a", "b", "c"] * 12
    statistics = assert_counts_are_those_of_sacrebleu(
        [(" ".join(reversed(words)), [" ".join(words)])]
    )
    assert statistics.counts[0][0, 0, EDITS] == 23


def test_long_texts_have_the_edits_that_were_made():
    # sacreBLEU would take hours.
    reference = [f"w{number}" for number in range(10_000)]
    candidate = list(reference)
    for place in range(500, 10_000, 1_000):
        candidate[place] = "other"
    for place in (1_000, 4_000, 9_000):
        candidate[place : place + 20] = [
            *candidate[place + 4 : place + 20],
            *candidate[place : place + 4],
        ]
    del candidate[7_000:7_005]
    statistics = counted([(" ".join(candidate), [" ".join(reference)])])
    assert statistics.counts[0][0, 0, EDITS] == 10 + 3 + 5


texts = st.lists(st.sampled_from("abcd"), max_size=14).map(" ".join)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=2, max_size=2)), min_size=1, max_size=4))
def test_generated_text(segments):
    assert_counts_are_those_of_sacrebleu(segments)


# The cases of sacreBLEU's own test_ter.py, and then odd ones.
@pytest.mark.parametrize(
    ("candidate", "references", "edits"),
    [
        ("aaaa bbbb cccc dddd", ["aaaa bbbb cccc dddd"], 0),
        ("dddd eeee ffff", ["aaaa bbbb cccc"], 3),
        ("", ["a"], 1),
        ("d e f g h a b c", ["a b c d e f g h"], 1),
        ("", [""], 0),
        ("a b", [""], 2),
        ("a b", ["", "a"], 1),
        ("a", ["b"], 1),
        ("A", ["a"], 0),
        ("中 文 😀 e\u0301", ["😀 中 文 é"], 2),
        ("ΑΣ", ["ας"], 0),
    ],
)
def test_edits_of_one_segment(candidate, references, edits):
    statistics = assert_counts_are_those_of_sacrebleu([(candidate, references)])
    assert statistics.counts[0][0, 0, EDITS] == edits
    table = score_segments([candidate], references_per_segment=[references], metrics=["ter"])
    (of_call,) = table["ter"].to_pylist()
    assert of_call == sacrebleu.sentence_ter(candidate, references).score
    assert (
        of_call == score([candidate], [[text] for text in references], metrics=["ter"])["ter"].score
    )
