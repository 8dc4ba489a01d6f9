"""The kernel's integers equal sacreBLEU's on every segment, however hostile the text."""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import (
    CODE_POINTS,
    FRAGMENTS,
    WORDS,
    Segment,
    at_the_edges_of_blocks,
    cut_in_two,
    edited,
    hostile_segments,
    single_bytes_at_each_place_of_a_block,
    with_every_code_point,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu_counts import (
    EVERY_TOKENIZATION,
    SACREBLEUS,
    assert_equal_to_sacrebleu,
    counted,
    integers,
    name,
)
from scoring import statistics_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text import rewriting
from beam_bleu.transforms.text.text import NORMALIZATIONS

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
    tokenize=st.sampled_from([*SACREBLEUS, "ascii-space"]),
    lowercase=st.sampled_from([False, True, "ascii"]),
    max_ngram_order=st.integers(1, 16),
    normalize=st.sampled_from([None, None, *NORMALIZATIONS]),
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


@examples(200)
@given(drawn_segments(), CONFIGS)
def test_any_text_counts_as_in_sacrebleu(segments, config):
    assert_equal_to_sacrebleu(segments, config)


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

PATH = Path(__file__).parents[3] / "golden" / "kernel_counts.json"
"""sacreBLEU's answers for the segments of `COUNTED`: a digest for each block of segments.

A different answer need not be wrong: Python or sacreBLEU may have another version of Unicode. So
the test then asks sacreBLEU itself about the block.
"""
BLOCK = 256


class Counted(NamedTuple):
    """Segments, and the definition that counts them, with a title for both."""

    title: str
    config: BleuConfig
    segments: Callable[[], Iterable[Segment]]


def _counted() -> Iterator[Counted]:
    for each in EVERY_TOKENIZATION:
        of_kernel = each.tokenize in ("13a", "none")
        edges = (64, 128) if of_kernel else (64,)
        config = BleuConfig(each.tokenize, each.lowercase, max_ngram_order=2)
        yield Counted(
            f"edges of blocks, {name(each)}",
            config,
            lambda edges=edges: at_the_edges_of_blocks(edges),
        )
        yield Counted(f"cut in two, {name(each)}", each, cut_in_two)
        # For intl and zh the kernel only splits at the spaces that spacing.py puts into the text.
        size = 5000 if of_kernel else 2000
        yield Counted(
            f"hostile from 0, {name(each)}, order 4",
            each,
            lambda size=size: hostile_segments(5000)[:size],
        )
    yield Counted(
        "single bytes at each place of a block, 13a",
        BleuConfig("13a"),
        single_bytes_at_each_place_of_a_block,
    )
    for config, form in (
        (BleuConfig("13a", max_ngram_order=1), "{0} x{0} {0}x 5{0}X"),
        (BleuConfig("none", lowercase=True, max_ngram_order=1), "{0} x{0} {0}x 5{0}X"),
        (BleuConfig("char", max_ngram_order=1), "{0}x{0}"),
    ):
        yield Counted(
            f"every code point, {name(config)}",
            config,
            lambda form=form: with_every_code_point(form),
        )


COUNTED = list(_counted())


def digests(integers: np.ndarray) -> list[str]:
    """A digest of the integers of each block of segments."""
    blocks = (integers[start : start + BLOCK] for start in range(0, len(integers), BLOCK))
    return [
        hashlib.blake2b(block.astype("<i8").tobytes(), digest_size=6).hexdigest()
        for block in blocks
    ]


@pytest.mark.parametrize("each", COUNTED, ids=lambda each: each.title)
def test_thousands_of_hostile_segments_count_as_in_sacrebleu(each: Counted):
    segments = list(each.segments())
    ours = counted(segments, each.config)
    recorded = json.loads(PATH.read_text())["answers"][each.title].split()
    for number, (digest, known) in enumerate(zip(digests(ours), recorded, strict=True)):
        if digest != known:
            block = segments[number * BLOCK : (number + 1) * BLOCK]
            assert_equal_to_sacrebleu(block, each.config)
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
