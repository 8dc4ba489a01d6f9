"""The errors and the scores of WER and CER are those of jiwer, on hostile and on generated text."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Sequence

import jiwer
import pytest
from hostile_texts import CODE_POINTS, Segment, segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from jiwer_counts import Config, best_of_jiwer, counts_of_jiwer, jiwers
from metric_segments import assert_same_rows, counted, score_of, segment_scores

from beam_bleu.transforms.metrics.error_rates.metric import (
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
    CerConfig,
    WerConfig,
)


def edited(rng: random.Random, symbols: str, length: int, edits: int) -> Segment:
    """A segment of few different words, each a character long, with edits of words and of parts."""
    reference = rng.choices(symbols, k=length)
    candidate = list(reference)
    for _ in range(edits):
        place, edit = rng.randrange(len(candidate) + 1), rng.randrange(4)
        removed = (0, 1, 1, rng.randrange(1, 2 + length // 20))[edit]
        candidate[place : place + removed] = [rng.choice(symbols)] * (edit < 2)
    return " ".join(candidate), [" ".join(reference)]


def unrelated(rng: random.Random, symbols: str, length: int, reference_length: int) -> Segment:
    """A segment whose texts have nothing to do with each other."""
    candidate, reference = (rng.choices(symbols, k=k) for k in (length, reference_length))
    return " ".join(candidate), [" ".join(reference)]


def assert_counts_are_those_of_jiwer(segments: Sequence[Segment], config: Config) -> None:
    """Every segment has jiwer's integers."""
    ours = counted(segments, config).counts[0][0, :, SUBSTITUTIONS:]
    assert_same_rows(segments, ours, [best_of_jiwer(segment, config) for segment in segments])


BOTH = [WerConfig(), CerConfig()]
CONFIGS = [
    config(*choices)
    for config in (WerConfig, CerConfig)
    for choices in itertools.product([False, True], repeat=2)
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_hostile_text_by_each_definition(config):
    for references in (1, 2, 5):
        segments = segments_with_references(references, 150, references)
        assert_counts_are_those_of_jiwer(segments, config)


@pytest.mark.parametrize(
    ("candidate", "references", "counts"),
    [
        ("a b", ["a", "a c"], [1, 0, 0, 2]),
        ("a b", ["a c", "a"], [1, 0, 0, 2]),
        ("a b c d", ["x a b c", "a y z d"], [0, 1, 1, 4]),
        ("a b c d", ["a y z d", "x a b c"], [2, 0, 0, 4]),
    ],
)
def test_of_references_with_equally_few_edits_the_longest_counts_and_then_the_first(
    candidate, references, counts
):
    (of_segment,) = counted([(candidate, references)], WerConfig()).counts[0][0]
    assert of_segment[SUBSTITUTIONS:].tolist() == counts


def test_every_code_point_is_one_character_and_part_of_a_word():
    # In this row, each white space has letters at both sides.
    text = "a" + "a".join(CODE_POINTS[0x1F:0x3100]) + "😀e\u0301\U0010ffff"
    segments: list[Segment] = [(text.replace("a", "b"), [text])]
    for config in BOTH:
        assert_counts_are_those_of_jiwer(segments, config)
    counts = counted(segments, CerConfig()).counts[0][0, 0]
    assert counts[REFERENCE_LENGTH] == len(text)


@pytest.mark.parametrize("config", BOTH, ids=str)
@pytest.mark.parametrize("symbols", ["ab", "abcdefghijklmnopqrstuvwxyz"])
def test_texts_of_up_to_400_words(symbols, config):
    # These need one to four blocks, and more.
    rng = random.Random(symbols)
    segments = [
        edited(rng, symbols, rng.randrange(1, 400), rng.choice([1, 4, 20, 80])) for _ in range(80)
    ]
    segments += [
        unrelated(rng, symbols, rng.randrange(1, 400), rng.randrange(1, 400)) for _ in range(30)
    ]
    assert_counts_are_those_of_jiwer(segments, config)


def test_lengths_at_the_ends_of_blocks():
    for length in (63, 64, 65, 127, 129, 191, 255, 257, 512, 577, 1000):
        rng = random.Random(length)
        segments = [edited(rng, "abc", length, edits) for edits in (1, 9, 40)]
        segments += [unrelated(rng, "abc", 60, length), unrelated(rng, "abc", length, 60)]
        assert_counts_are_those_of_jiwer(segments, WerConfig())


@pytest.mark.parametrize("edits", [0, 5, 30, 300, 3000])
def test_tables_that_rapidfuzz_divides(edits):
    # It divides those of 2^22 cells or more, until few edits are left for a part.
    rng = random.Random(edits)
    for symbols, config in itertools.product(("ab", "abcdefghijklmnop"), BOTH):
        segments = [edited(rng, symbols, rng.randrange(2_100, 5_000), edits) for _ in range(2)]
        assert_counts_are_those_of_jiwer(segments, config)


@pytest.mark.parametrize(
    ("length", "reference_length"),
    [(70_000, 64), (70_000, 65), (9, 500_000), (10, 500_000), (3_000, 2_000), (900, 6_000)],
)
def test_unrelated_texts_that_rapidfuzz_divides_or_not(length, reference_length):
    # It divides no table of less than 65 words of the reference, or 10 of the candidate.
    segment = unrelated(random.Random(length), "abc", length, reference_length)
    assert_counts_are_those_of_jiwer([segment], WerConfig())


@pytest.mark.parametrize(
    ("config", "length"), [(WerConfig(), 10_000), (CerConfig(), 50_000)], ids=["words", "letters"]
)
def test_long_texts_take_seconds_at_most(config, length):
    rng = random.Random(1)
    joint = " " if isinstance(config, WerConfig) else ""
    candidate, reference = (joint.join(rng.choices("abcdefghij", k=length)) for _ in range(2))
    counted([("a", ["b"])], config)
    start = time.process_time()
    counts = counted([(candidate, [reference])], config).counts[0][0, 0]
    assert time.process_time() - start < 10
    assert tuple(counts[SUBSTITUTIONS:]) == counts_of_jiwer(candidate, reference, config)


texts = st.text(st.sampled_from("ab. \t\n\u00a0é😀"), max_size=14)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=2, max_size=2)), min_size=1, max_size=4))
def test_generated_text(segments):
    for config in CONFIGS:
        assert_counts_are_those_of_jiwer(segments, config)


# Scores


@pytest.mark.parametrize("config", BOTH, ids=str)
def test_scores_are_those_of_jiwer_to_the_last_bit(config):
    segments = segments_with_references(5, 200, 1)
    texts = [(candidate, reference) for candidate, (reference,) in segments]
    candidates, references = map(list, zip(*texts, strict=True))
    rate = "wer" if isinstance(config, WerConfig) else "cer"
    shown = [
        *((candidates, references, vars(score_of(segments, config))),),
        *zip(candidates, references, segment_scores(segments, config), strict=True),
    ]
    for candidate, reference, score in shown:
        output = jiwers(candidate, reference, config)
        assert score["score"] == 100 * getattr(output, rate)
        edits = [output.substitutions, output.deletions, output.insertions]
        assert [score[kind] for kind in ("substitutions", "deletions", "insertions")] == edits
        assert score["edits"] == sum(edits)
        assert score["ref_length"] == output.hits + output.substitutions + output.deletions


# The cases of jiwer's own test_wer.py, test_cer.py, test_measures.py and test_empty_ref.py. Those
# are left out that cannot apply: other measures (MER, WIL, WIP), texts or lists of texts as
# arguments, lists of different lengths (the pairing refuses them), other transforms, and functions
# that jiwer has taken away.
@pytest.mark.parametrize(
    ("references", "candidates", "wer", "cer"),
    [
        (["This is a test"], ["This is a test"], 0, 0),
        (["This is a test"], [""], 1, 14 / 14),
        (["This is a test"], ["This test"], 0.5, 5 / 14),
        (["X Y X"], ["X Z"], 2 / 3, 3 / 5),  # from Morris et al. 2004
        (["i", "am i good"], ["i am", "y good"], 0.75, 0.7),
        # Without a word in the references, the rate is the number of insertions.
        ([""] * 9, [""] * 9, 0, 0),
        ([""], ["a"], 1, 1),
        (["hello world", ""], ["hello world", "done"], 1 / 2, 4 / 11),
    ],
)
def test_known_scores(references, candidates, wer, cer):
    segments = [(one, [other]) for one, other in zip(candidates, references, strict=True)]
    assert score_of(segments, "wer").score == 100 * wer
    assert score_of(segments, "cer").score == 100 * cer
    assert (jiwer.wer(references, candidates), jiwer.cer(references, candidates)) == (wer, cer)
