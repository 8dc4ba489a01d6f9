"""The kernel's integers equal sacreBLEU's on every segment, however hostile the text."""

import itertools
import string

import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import CODE_POINTS, FRAGMENTS, WHITE_SPACE, WORDS, edited
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_counts import COUNTED, Counted, assert_equal_to_record
from sacrebleu_counts import (
    SACREBLEUS,
    assert_equal_to_sacrebleu,
    assert_same,
    counted,
    integers,
    sacrebleu_integers,
)
from scoring import statistics_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text import rewriting

TEXTS_OF_PIECES = st.lists(
    st.one_of(
        st.sampled_from([" ", *WORDS]),
        st.sampled_from(FRAGMENTS),
        st.sampled_from(["x" * 55, "ab " * 20, "5" * 62, " " * 63, "é" * 31, "." * 61]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    ),
    max_size=24,
)
CONFIGS = st.builds(
    BleuConfig,
    tokenize=st.sampled_from(SACREBLEUS),
    lowercase=st.booleans(),
    max_ngram_order=st.integers(1, 16),
)


def examples(count):
    return settings(deadline=None, derandomize=True, max_examples=count)


@st.composite
def drawn_segments(draw):
    """Segments whose candidates are made from the same pieces as their references."""
    rng = draw(st.randoms(use_true_random=False))
    segments = []
    for pieces in draw(st.lists(TEXTS_OF_PIECES, min_size=1, max_size=5)):
        references = [edited(pieces, rng, FRAGMENTS) for _ in range(draw(st.integers(1, 4)))]
        missing = draw(st.sets(st.integers(0, 3), max_size=len(references) - 1))
        references = [None if i in missing else text for i, text in enumerate(references)]
        segments.append((edited(pieces, rng, FRAGMENTS), references))
    return segments


@examples(100)
@given(drawn_segments(), CONFIGS)
def test_any_text_counts_as_in_sacrebleu(segments, config):
    assert_equal_to_sacrebleu(segments, config)


NOT_ASCII_SPACE = {
    ord(space): 0xF0000 + i for i, space in enumerate(WHITE_SPACE) if space not in "\t\n\v\f\r "
}
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def translated(segments, table):
    return [
        (candidate.translate(table), [each and each.translate(table) for each in references])
        for candidate, references in segments
    ]


@examples(40)
@given(drawn_segments())
def test_ascii_space_treats_other_white_space_like_a_letter(segments):
    ours = counted(segments, BleuConfig("ascii-space"))
    theirs = sacrebleu_integers(translated(segments, NOT_ASCII_SPACE), BleuConfig("none"))
    assert_same(segments, BleuConfig("ascii-space"), ours, theirs)


@examples(40)
@given(drawn_segments(), st.sampled_from(SACREBLEUS))
def test_ascii_lower_case_leaves_other_letters_as_they_are(segments, tokenize):
    config = BleuConfig(tokenize, lowercase="ascii")
    ours = counted(segments, config)
    theirs = sacrebleu_integers(translated(segments, ASCII_LOWER), BleuConfig(tokenize))
    assert_same(segments, config, ours, theirs)


@examples(40)
@given(drawn_segments(), CONFIGS, st.integers(2, 5), st.randoms(use_true_random=False))
def test_a_system_has_the_same_counts_alone_and_with_others(segments, config, systems, rng):
    candidates = [candidate for candidate, _ in segments]
    candidates += [reference for _, references in segments for reference in references if reference]
    references = [references for _, references in segments]
    alone = [
        to_batch([(rng.choice(candidates), each) for each in references]) for _ in range(systems)
    ]
    together = SegmentBatch(tuple(batch.candidates[0] for batch in alone), alone[0].references)
    side_by_side = integers(statistics_of(together, config))
    for system, batch in enumerate(alone):
        assert (side_by_side[system] == integers(statistics_of(batch, config))[0]).all()


# Many segments


@pytest.mark.parametrize("each", COUNTED, ids=lambda each: each.title)
def test_thousands_of_hostile_segments_count_as_in_sacrebleu(each: Counted):
    segments = list(each.segments())
    ours = assert_equal_to_record(each, segments)
    if "hostile" in each.title and each.config.max_ngram_order >= 4:
        assert np.count_nonzero(ours[:, 5]) > 0.15 * len(ours)  # have matches of order 4
    assert_equal_to_sacrebleu(segments[:: max(len(segments) // 20, 1)], each.config)


# Lower case


def assert_lowered_as_python_lowers_them(texts):
    lowered = rewriting.lowered(pa.array(texts, pa.large_string()))
    wrong = [
        (text, ours)
        for text, ours in zip(texts, lowered.to_pylist(), strict=True)
        if ours != text.lower()
    ]
    assert not wrong[:5]


def test_every_code_point_is_lowered_as_python_lowers_it():
    assert_lowered_as_python_lowers_them(CODE_POINTS)


def test_every_code_point_is_lowered_beside_others_as_python_lowers_it():
    # The lower case of a sigma depends on the letters next to it. Marks between them are skipped;
    # marks are in planes 0, 1 and 14. A space ends the search, so the forms do not change each
    # other.
    form = "A{0}B {0}{0} É{0} ΑΣ{0} {0}Σ Α{0}Σ{0}Α"
    assert_lowered_as_python_lowers_them(
        [form.format(point) for point in CODE_POINTS if ord(point) >> 16 in (0, 1, 14)]
    )


def test_lower_case_sigma_depends_on_its_neighbours():
    around = ["", " ", "a", "Α", "Σ", ".", "'", "\u0301", "\u00ad", "1", "\0", "😀", "\u0345"]
    texts = [
        f"{filler}{first}{second}Σ{third}{fourth}"
        for first, second, third, fourth in itertools.product(around, repeat=4)
        for filler in ("", "É" * 31)
    ]
    assert_lowered_as_python_lowers_them(texts)
    segments = [(text, [text.lower()]) for text in texts[::29]]
    assert_equal_to_sacrebleu(segments, BleuConfig("none", lowercase=True, max_ngram_order=2))
