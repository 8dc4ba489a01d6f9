"""chrF's integers, scores and signatures are sacreBLEU's, however the kernel counts.

References of up to 64, 128, 192, 256 and 512 tokens have sets of so many positions, and longer ones
have numbered n-grams.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence

import pytest
import sacrebleu
from hostile_texts import CODE_POINTS, WHITE_SPACE, Segment, segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import assert_same_rows, columns_of, counted, present, score_of, segment_scores

from beam_bleu import ChrfConfig
from beam_bleu.transforms.metrics.chrf import kernel
from beam_bleu.transforms.metrics.chrf.metric import FIRST_NGRAMS

CONFIGS = [
    ChrfConfig(),
    ChrfConfig(word_order=2),
    ChrfConfig(char_order=3, beta=1, whitespace=True),
    ChrfConfig(word_order=2, eps_smoothing=True, whitespace=True),
    ChrfConfig(2, word_order=5, eps_smoothing=True, lowercase=True),
    ChrfConfig(16, word_order=16),
]
OF_ORDERS = [ChrfConfig(word_order=2), ChrfConfig(8, word_order=4), ChrfConfig(9, word_order=5)]


def theirs(config: ChrfConfig) -> sacrebleu.CHRF:
    options = dataclasses.asdict(config)
    del options["normalize"]
    return sacrebleu.CHRF(**options)


def assert_equal_to_sacrebleu(segments: Sequence[Segment], config: ChrfConfig) -> None:
    texts, metric = columns_of(segments), theirs(config)
    ours = counted(segments, config).counts[0][0, :, FIRST_NGRAMS:]
    assert_same_rows(segments, ours, metric._extract_corpus_statistics(*texts))
    found, corpus = score_of(segments, config), metric.corpus_score(*texts)
    assert found.score == corpus.score
    assert found.sacrebleu_signature == str(metric.get_signature())
    assert config.metric.name == corpus.name


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_hostile_text(config):
    for references in (1, 2, 4):
        segments = segments_with_references(references, 200, references)
        assert_equal_to_sacrebleu(segments, config)
    metric, rows = theirs(config), segment_scores(segments, config)
    counts = counted(segments, config).counts[0][0].tolist()
    for row, columns, (candidate, of_segment) in zip(rows, counts, segments, strict=True):
        assert row["score"] == metric.sentence_score(candidate, present(of_segment)).score
        assert row["score"] == config.metric.value(columns)
        shown = [row[name] for name in ("hyp_ngrams", "ref_ngrams", "matches")]
        assert shown == [columns[2::3], columns[3::3], columns[4::3]]


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
    for mark in map(chr, range(128)):
        words += [f"{mark}a", f"a{mark}"]
    pairs = itertools.pairwise(words)
    segments = [(f"{one} {other}", [f"a {one[:-1]} {one[-1]}"]) for one, other in pairs]
    assert_equal_to_sacrebleu(segments, ChrfConfig(1, word_order=3))


def test_each_code_point_is_a_character():
    points = itertools.pairwise(random.Random(1).sample(CODE_POINTS, 3000))
    segments = [(f"{one}{other}a", [f"{one}a"]) for one, other in points]
    assert_equal_to_sacrebleu(segments, ChrfConfig())


texts = st.text(st.sampled_from("ab c\u3000d😀e\u0301\n"), max_size=14)
references = st.lists(texts | st.none(), min_size=3, max_size=3).filter(present)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(texts, references), min_size=1, max_size=6))
def test_generated_text(segments):
    for config in CONFIGS[:2]:
        assert_equal_to_sacrebleu(segments, config)


# The borders between the ways to count

BORDERS = [length + more for length in (0, 64, 128, 192, 256, 512) for more in (-1, 0, 1)][1:]
ALPHABETS = [
    *map(list, ("ab", "的一是不了人我在有他这中大来上国", "aé漢😀 \u0301")),
    ["&amp;", "&lt;", "&quot;", "x"],
    ["a ", "b ", "the. ", "(cat ", "漢 ", "naïve! ", "x" * 40 + " ", "x" * 41 + "  "],
]


def near(text: str, pieces: list[str], rng: random.Random) -> str:
    """A text like another one, with some pieces changed."""
    return "".join(rng.choice(pieces) if rng.random() < 0.1 else letter for letter in text)


@pytest.mark.parametrize("config", OF_ORDERS, ids=str)
def test_lengths_at_the_borders_of_the_ways(config):
    rng = random.Random(1)
    segments = []
    for pieces, length in itertools.product(ALPHABETS, BORDERS):
        reference = "".join(rng.choices(pieces, k=length))
        reference = reference if " " in pieces[0] else reference[:length]
        candidate = near(reference, pieces, rng)
        segments.append((candidate + "".join(rng.choices(pieces, k=rng.randrange(9))), [reference]))
    assert_equal_to_sacrebleu(segments, config)


def test_ways_mix_in_a_segment_and_in_a_batch():
    rng, pieces = random.Random(3), list("abcde. é漢")
    segments: list[Segment] = []
    for _ in range(40):
        lengths = rng.choices([0, 1, 5, 70, 140, 300, 520, 900], k=3)
        texts = ["".join(rng.choices(pieces, k=length)) for length in lengths]
        segments.append((near(rng.choice(texts), pieces, rng), [*texts]))
    for config in (CONFIGS[1], ChrfConfig(word_order=1, eps_smoothing=True)):
        assert_equal_to_sacrebleu(segments, config)


def test_a_segment_with_more_characters_than_rows():
    points = [point for point in CODE_POINTS if not point.isspace()]
    letters = random.Random(2).sample(points, 70_000)
    of_segment: list[str | None] = [
        "".join(letters[first : first + 500]) for first in range(0, len(letters), 500)
    ]
    candidate = "".join(letters[33_000:33_300]) + "".join(letters[33_500:33_900])
    assert_equal_to_sacrebleu([(candidate, of_segment)], ChrfConfig(4))


def test_very_short_and_very_long_segments():
    long = [
        " ".join(f"{mark}{i % words}" for i in range(5_000))
        for mark, words in (("w", 97), ("w", 89), ("(", 9_999))
    ]
    segments: list[Segment] = [
        (long[0], [long[1]]),
        ("word", [long[2]]),
        (long[2], ["(1 (2"]),
        ("a" * 10_000, ["a" * 9_999]),
    ]
    assert_equal_to_sacrebleu(segments, ChrfConfig(word_order=2))


def test_memory_that_must_be_zero_is_zero_again():
    # It is kept for the next batch, which would count what is left in it.
    segments = segments_with_references(3, 100, 2)
    segments += [("漢字" * 600 + " x. " * 600, ["漢é😀" * 600 + " x, " * 600, "漢"])]
    for config in OF_ORDERS:
        counted(segments, config)
        for (_, zero), memory in kernel._MEMORY._kept.items():
            assert not zero or not memory.data.any()
