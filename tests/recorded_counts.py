"""The segments of `golden/kernel_counts.json`, which records sacreBLEU's integers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import recorded
from hostile_texts import (
    Segment,
    at_the_edges_of_blocks,
    cut_in_two,
    hostile_segments,
    single_bytes_at_each_place_of_a_block,
    with_every_code_point,
)
from sacrebleu_counts import EVERY_TOKENIZATION, assert_same, counted, name, sacrebleu_integers

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig

PATH = recorded.GOLDEN / "kernel_counts.json"
RECORD = recorded.read(PATH)


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
        # Most segments are for the kernel itself. For intl and zh it only splits at the spaces
        # that spacing.py puts into the text.
        size, orders = (5000, [4, 1, 7, 16]) if of_kernel else (2000, [4, 1, 7, 16])
        for number, order in enumerate(orders):
            config = BleuConfig(each.tokenize, each.lowercase, max_ngram_order=order)
            part = slice(number * size, (number + 1) * size)
            yield Counted(
                f"hostile from {part.start}, {name(each)}, order {order}",
                config,
                lambda part=part: hostile_segments(20_000)[part],
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


def in_blocks(integers: np.ndarray) -> list[bytes]:
    """The integers of each block of segments."""
    return [integers[block].astype("<i8").tobytes() for block in recorded.blocks(len(integers))]


def assert_equal_to_record(each: Counted, segments: Sequence[Segment]) -> np.ndarray:
    """Compares the kernel with sacreBLEU; returns its integers, int64 (segments, 2 + 2 N)."""
    ours = counted(segments, each.config)
    for number in recorded.unrecorded(RECORD, each.title, in_blocks(ours)):
        block = slice(number * recorded.BLOCK, (number + 1) * recorded.BLOCK)
        expected = sacrebleu_integers(segments[block], each.config)
        assert_same(segments[block], each.config, ours[block], expected)
    return ours
