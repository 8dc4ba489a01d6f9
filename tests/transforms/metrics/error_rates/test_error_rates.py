"""The errors and the scores of WER and CER are those of jiwer, on hostile and on generated text."""

from __future__ import annotations

import importlib.metadata
import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import jiwer
import pytest
from hostile_texts import CODE_POINTS, Segment, segments_with_references
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import assert_same_rows, counted, present, score_of, segment_scores

from beam_bleu.transforms.metrics.error_rates.metric import (
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
    CerConfig,
    WerConfig,
)
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import PreparedBatch

Config = WerConfig | CerConfig


def jiwers(candidate: str, reference: str, config: Config) -> Any:
    """What jiwer says of a segment by the same definition."""
    first: list[Any] = [jiwer.ToLowerCase()] if config.lowercase else []
    if config.no_punct:
        first.append(jiwer.RemovePunctuation())
    if isinstance(config, WerConfig):
        transform = jiwer.Compose([*first, *jiwer.wer_default.transforms])
        return jiwer.process_words(reference, candidate, transform, transform)
    transform = jiwer.Compose([*first, *jiwer.cer_default.transforms])
    # As in `process_characters`, which gives only the rate of this result.
    return jiwer.process_words(reference, candidate, transform, transform)


def best_of_jiwer(segment: Segment, config: Config) -> tuple[int, int, int, int]:
    """jiwer's counts for the reference with the fewest edits, or the longest of several such."""
    candidate, references = segment
    counts = []
    for reference in present(references):
        found = jiwers(candidate, reference, config)
        length = found.hits + found.substitutions + found.deletions
        counts.append((found.substitutions, found.deletions, found.insertions, length))
    return min(counts, key=lambda of_one: (sum(of_one[:3]), -of_one[3]))


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
    for references in (1, 5):
        segments = segments_with_references(references, 150, references)
        assert_counts_are_those_of_jiwer(segments, config)


def test_of_references_with_equally_few_edits_the_longest_counts_and_then_the_first():
    segments = [
        *(("a b", ["a", "a c"]), ("a b", ["a c", "a"])),
        *(("a b c d", ["x a b c", "a y z d"]), ("a b c d", ["a y z d", "x a b c"])),
    ]
    found = counted(segments, WerConfig()).counts[0][0, :, SUBSTITUTIONS:].tolist()
    assert found == [[1, 0, 0, 2], [1, 0, 0, 2], [0, 1, 1, 4], [2, 0, 0, 4]]


def test_every_code_point_is_one_character_and_part_of_a_word():
    # In this row, each white space has letters at both sides.
    text = "a" + "a".join(CODE_POINTS[0x1F:0x3100]) + "😀e\u0301\U0010ffff"
    segments: list[Segment] = [(text.replace("a", "b"), [text])]
    for config in BOTH:
        assert_counts_are_those_of_jiwer(segments, config)
    counts = counted(segments, CerConfig()).counts[0][0, 0]
    assert counts[REFERENCE_LENGTH] == len(text)


@pytest.mark.parametrize("symbols", ["ab", "abcdefghijklmnopqrstuvwxyz"])
def test_texts_of_one_to_many_blocks(symbols):
    lengths = [*range(1, 400, 7), 63, 64, 65, 127, 128, 129, 191, 255, 257, 512, 577, 1000]
    rng = random.Random(symbols)
    segments = [edited(rng, symbols, length, rng.choice([1, 4, 20, 80])) for length in lengths]
    for length in lengths[::3]:
        segments += [unrelated(rng, symbols, 60, length), unrelated(rng, symbols, length, 60)]
    for config in BOTH:
        assert_counts_are_those_of_jiwer(segments, config)


@pytest.mark.parametrize("edits", [5, 300, 3000])
def test_tables_that_rapidfuzz_divides(edits):
    # It divides those of 2^22 cells or more, until few edits are left for a part.
    rng = random.Random(edits)
    for symbols in ("ab", "abcdefghijklmnop"):
        segments = [edited(rng, symbols, rng.randrange(2_100, 5_000), edits) for _ in range(2)]
        assert_counts_are_those_of_jiwer(segments, WerConfig())


def test_unrelated_texts_that_rapidfuzz_divides_or_not():
    # It divides no table of less than 65 words of the reference, or 10 of the candidate.
    for lengths in ((70_000, 64), (70_000, 65), (9, 500_000), (10, 500_000), (3_000, 2_000)):
        segment = unrelated(random.Random(1), "abc", *lengths)
        assert_counts_are_those_of_jiwer([segment], WerConfig())


texts = st.text(st.sampled_from("ab. \t\n\u00a0é😀"), max_size=14)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=2, max_size=2)), min_size=1, max_size=4))
def test_generated_text(segments):
    for config in CONFIGS:
        assert_counts_are_those_of_jiwer(segments, config)


# Normalizers

SPOKEN = [
    "Mr. O'Brien's colour-blind; he'll pay $20 million (or so), won't he?",
    "it costs twenty five dollars and 3.5 %, [noise] um, ½ or 2² or ٣",
    "हिन्दी में, यह वाक्य है। தமிழ் மொழி! ที่นี่ é e\u0301 ﬁ ❤️ naïve Straße",
]


@pytest.mark.libraries
@pytest.mark.parametrize("config", [WerConfig, CerConfig])
def test_texts_are_prepared_by_the_package(config):
    from whisper_normalizer.basic import BasicTextNormalizer
    from whisper_normalizer.english import EnglishTextNormalizer

    normalizers: dict[Any, Any] = {
        "whisper-basic": BasicTextNormalizer(preserve_marks=True),
        "whisper-en": EnglishTextNormalizer(),
    }
    rng = random.Random(1)
    segments = [(one, [other]) for one in SPOKEN for other in (*SPOKEN, one.lower())]
    segments += [(" ".join(rng.sample(text.split(), 4)), [text]) for text in SPOKEN * 20]
    for candidate, (reference,) in segments_with_references(1, 100, 1):
        segments.append((candidate, [reference or ""]))
    for name, normalize in normalizers.items():
        for no_punct in (False, True):
            ours = counted(segments, config(no_punct=no_punct, normalizer=name)).counts[0][0]
            expected = [
                best_of_jiwer((normalize(one), [normalize(other)]), config(no_punct=no_punct))
                for one, (other,) in segments
            ]
            assert_same_rows(segments, ours[:, SUBSTITUTIONS:], expected)


@pytest.mark.libraries
def test_vowel_signs_are_parts_of_words():
    score = score_of([("हिन्दि.", ["हिन्दी"])], "wer", normalizer="whisper-basic")
    assert (score.substitutions, score.ref_length) == (1, 1)
    version = importlib.metadata.version("whisper-normalizer")
    assert "case:lc|" in score.signature
    assert "|normalizer:whisper-basic-marks|" in score.signature
    assert f"|whisper-normalizer:{version}|" in score.signature


# Confusions


def confusions(segments: Sequence[Segment], config: Config) -> Counter[tuple[str, str, str]]:
    prepared = PreparedBatch(to_batch(segments))
    return Counter(config.metric.confusions(prepared.ready(config.text)))


def edits_of_jiwer(segment: Segment, config: Config) -> Iterator[tuple[str, str, str]]:
    candidate, references = segment
    outputs = [jiwers(candidate, reference, config) for reference in present(references)]

    def rank(output: Any) -> tuple[int, int]:
        length = output.hits + output.substitutions + output.deletions
        return output.substitutions + output.deletions + output.insertions, -length

    output = min(outputs, key=rank)
    (alignment,), (left,), (right,) = output.alignments, output.references, output.hypotheses
    for chunk in alignment:
        if chunk.type != "equal":
            words = left[chunk.ref_start_idx : chunk.ref_end_idx]
            others = right[chunk.hyp_start_idx : chunk.hyp_end_idx]
            for pair in itertools.zip_longest(words, others, fillvalue=""):
                yield ("1", *pair)


@pytest.mark.parametrize("config", BOTH, ids=str)
def test_confusions_are_those_of_jiwers_alignments(config):
    rng = random.Random(3)
    segments = segments_with_references(3, 100, 3)
    lengths = [1, 2, 63, 64, 65, 130, 300]
    for length in lengths * 3:
        candidate, references = edited(rng, "abcdef", length, length // 3 + 1)
        segments.append((candidate, [None, *references, None]))
    expected = Counter(edit for one in segments for edit in edits_of_jiwer(one, config))
    assert confusions(segments, config) == expected
    counts = counted(segments, config).counts[0][0].sum(axis=0)
    kinds = [
        sum(times for (_, *words), times in expected.items() if [*map(bool, words)] == kind)
        for kind in ([True, True], [True, False], [False, True])
    ]
    assert kinds == counts[SUBSTITUTIONS:REFERENCE_LENGTH].tolist()


def test_confusions_of_tables_that_rapidfuzz_divides():
    rng = random.Random(4)
    segments = [edited(rng, "abcdefghijklmnop", 2_800, 900), unrelated(rng, "abc", 3_000, 2_000)]
    expected = Counter(edit for one in segments for edit in edits_of_jiwer(one, WerConfig()))
    assert confusions(segments, WerConfig()) == expected


# Scores


@pytest.mark.parametrize("config", BOTH, ids=str)
def test_scores_are_those_of_jiwer_to_the_last_bit(config):
    segments = [*segments_with_references(5, 200, 1), ("", [""]), ("a", [""]), ("", ["a"])]
    texts = [(candidate, reference) for candidate, (reference,) in segments]
    candidates, references = map(list, zip(*texts, strict=True))
    shown = [
        *((candidates, references, vars(score_of(segments, config))),),
        *zip(candidates, references, segment_scores(segments, config), strict=True),
    ]
    for candidate, reference, score in shown:
        output = jiwers(candidate, reference, config)
        assert score["score"] == 100 * output.wer
        for rate in ("mer", "wil", "wip"):
            assert score[rate] == 100 * getattr(output, rate)
        edits = [output.substitutions, output.deletions, output.insertions]
        assert [score[kind] for kind in ("substitutions", "deletions", "insertions")] == edits
        assert score["edits"] == sum(edits)
        assert score["ref_length"] == output.hits + output.substitutions + output.deletions
