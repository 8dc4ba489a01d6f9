"""TER's edits, scores and signatures are sacreBLEU's, on hostile text and on generated text."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hostile_texts import Segment, segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import (
    assert_same_rows,
    columns_of,
    counted,
    present,
    score_of,
    segment_scores,
)

from beam_bleu.transforms.metrics.metric import PARTS_OF_A_TOKEN
from beam_bleu.transforms.metrics.ter.metric import EDITS, TerConfig, reference_parts

DEFAULT = TerConfig()


def shuffled(rng: random.Random, symbols: int, words: int, moves: int, changes: int) -> Segment:
    """A segment of few different words, some of which are moved or changed in the candidate."""
    vocabulary = [f"w{number}" for number in range(symbols)]
    reference = rng.choices(vocabulary, k=words)
    candidate = list(reference)
    for _ in range(moves):
        begin = rng.randrange(len(candidate) + 1)
        moved = candidate[begin : begin + rng.randrange(1, 14)]
        del candidate[begin : begin + len(moved)]
        target = rng.randrange(len(candidate) + 1)
        candidate[target:target] = moved
    for _ in range(changes):
        place = rng.randrange(len(candidate) + 1)
        change = rng.randrange(3)
        candidate[place : place + (change > 0)] = [rng.choice(vocabulary)] * (change < 2)
    return " ".join(candidate), [" ".join(reference)]


def with_parts(rng: random.Random, symbols: int, words: int) -> Segment:
    """A segment whose way through the edit table is near the edge of the band, or leaves it.

    A part that only one of the texts has moves the way away from the diagonal.
    """
    candidate, (reference,) = shuffled(rng, symbols, words, 2, 12)
    part = " ".join(f"w{rng.randrange(symbols)}" for _ in range(rng.randrange(18, 32)))
    if rng.random() < 0.5:
        return f"{part} {candidate}", [f"{reference} {part}"]
    return candidate, [f"{part} {reference}"]


def of_lengths(rng: random.Random, words: int, reference_words: int, symbols: int) -> Segment:
    """A segment with texts of these lengths."""
    of_reference = rng.choices([f"w{number}" for number in range(symbols)], k=reference_words)
    of_candidate = (of_reference + rng.choices(of_reference, k=words))[-words:]
    return " ".join(of_candidate), [" ".join(of_reference)]


def _moved(rng: random.Random) -> Segment:
    words, symbols = rng.randrange(1, 40), rng.choice([2, 4, 12, 60])
    return shuffled(rng, symbols, words, rng.randrange(4), rng.randrange(6))


def _in_band(rng: random.Random) -> Segment:
    return with_parts(rng, rng.choice([3, 20, 400]), rng.randrange(26, 90))


def _at_limits(rng: random.Random) -> Segment:
    words, reference_words = rng.choice([23, 24, 25, 26, 63, 64, 65]), rng.choice([24, 25, 64, 65])
    return of_lengths(rng, words, reference_words, rng.choice([3, 50]))


def _very_different(rng: random.Random) -> Segment:
    one = rng.randrange(1, 5)
    other = one * rng.choice([2, 10, 49, 50, 51, 60]) + rng.randrange(one)
    return of_lengths(rng, *rng.choice([(one, other), (min(other, 120), one)]), rng.choice([3, 30]))


PATH = Path(__file__).parents[3] / "golden" / "ter_edits.json"
RECORDED = {
    "moved words": (_moved, 400),
    "in a band": (_in_band, 120),
    "lengths at limits": (_at_limits, 60),
    "very different lengths": (_very_different, 120),
}
"""Segments for which sacreBLEU takes long: how they are made, and how many."""


def recorded_segments(title: str) -> list[Segment]:
    make, number = RECORDED[title]
    rng = random.Random(title)
    return [make(rng) for _ in range(number)]


def sacrebleus(config: TerConfig) -> sacrebleu.TER:
    options = dataclasses.asdict(config)
    del options["normalize"]
    return sacrebleu.TER(**options)


def assert_counts_are_those_of_sacrebleu(
    segments: Sequence[Segment], config: TerConfig = DEFAULT
) -> None:
    """Compares the edits and the lengths of each segment."""
    counts = counted(segments, config).counts[0][0]
    expected = sacrebleus(config)._extract_corpus_statistics(*columns_of(segments))
    ours = np.stack([counts[:, EDITS], reference_parts(counts.T) / PARTS_OF_A_TOKEN], axis=1)
    assert_same_rows(segments, ours, expected)


CONFIGS = [TerConfig(*choices) for choices in itertools.product([False, True], repeat=4)]


def edits_of(segments):
    return counted(segments, "ter").counts[0][0, :, EDITS].tolist()


def test_hostile_text():
    for config in CONFIGS:
        assert_counts_are_those_of_sacrebleu(segments_with_references(1, 40, 2), config)


@pytest.mark.parametrize("title", RECORDED)
def test_recorded_edits(title):
    record = json.loads(PATH.read_text())
    assert record["sacrebleu"] == sacrebleu.__version__
    segments = recorded_segments(title)
    rows = zip(segments, edits_of(segments), record["edits"][title], strict=True)
    assert not [row for row in rows if row[1] != row[2]][:1]
    # sacreBLEU takes up to some seconds for one segment.
    segments.sort(key=lambda segment: len(segment[0]) + len(segment[1][0]))
    assert_counts_are_those_of_sacrebleu(segments[:2])


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
        segments += [(candidate, [""] * references) for candidate in ("", "a b")]
        corpus, found = metric.corpus_score(*columns_of(segments)), score_of(segments, config)
        assert found.edits == corpus.num_edits
        # sacreBLEU adds up rounded means; here the exact sum is rounded once.
        relative = 0 if references < 3 else 1e-13
        assert found.score == pytest.approx(corpus.score, rel=relative, abs=0)
        assert found.ref_length == pytest.approx(corpus.ref_length, rel=relative, abs=0)
        assert found.sacrebleu_signature == str(metric.get_signature())
        assert config.metric.name == corpus.name
        rows = segment_scores(segments, config)
        for row, (candidate, of_segment) in zip(rows, segments, strict=True):
            expected = metric.sentence_score(candidate, present(of_segment))
            assert (row["score"], row["edits"]) == (expected.score, expected.num_edits)
            assert row["ref_length"] == expected.ref_length
