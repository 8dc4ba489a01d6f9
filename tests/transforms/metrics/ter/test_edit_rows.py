"""Where the band makes no difference, the compiled code can leave it out."""

from __future__ import annotations

import random

import numpy as np

from beam_bleu.transforms.metrics.ter.edit_rows import (
    MOST_BITS,
    ROW_BYTES,
    SURELY_WITHIN_BAND,
    WITHIN_BAND,
    needs_wide_band,
    place_band,
    write_rows,
)
from beam_bleu.transforms.metrics.ter.kernel import ALL_CELLS, IN_BAND, align
from beam_bleu.transforms.native.memory import BLOCK

Alignment = tuple[int, list[list[int]]]
"""The distance, and errors, errors of the reference, and targets; see `align`."""


def aligned(candidate: list[int], reference: list[int], way: int) -> Alignment:
    """Two texts of numbers, compared in one of the ways."""
    words, reference_words = len(candidate), len(reference)
    numbers = np.array(candidate, np.uint32)
    of_reference = np.array(reference + [0] * BLOCK, np.uint32)
    table = np.zeros((words + 1) * ROW_BYTES, np.uint8)
    rows = table.ctypes.data
    if way == IN_BAND:
        place_band(rows, words, reference_words)
    texts = numbers.ctypes.data, words, of_reference.ctypes.data, reference_words
    distance = write_rows(0, *texts, rows, way == IN_BAND)
    found = [np.zeros(size, np.uint32) for size in (words, reference_words, reference_words + 1)]
    align(words, reference_words, way, rows, *(each.ctypes.data for each in found))
    return distance, [each.tolist() for each in found]


def random_pair(
    rng: random.Random, words: int, reference_words: int
) -> tuple[list[int], list[int]]:
    """Texts that have parts in common, at different places."""
    symbols = range(1, rng.choice([3, 5, 20, 200]))
    reference = rng.choices(symbols, k=reference_words)
    begin = rng.randrange(-30, 31)
    candidate = rng.choices(symbols, k=max(0, -begin)) + reference[max(0, begin) :]
    for _ in range(rng.randrange(12)):
        place = rng.randrange(len(candidate) + 1)
        candidate[place : place + 1] = [rng.choice(symbols)]
    return (candidate + rng.choices(symbols, k=words))[:words], reference


def test_without_a_band_it_is_the_same_if_the_texts_are_similar():
    rng = random.Random(0)
    near = 0
    for _ in range(1500):
        reference_words = rng.randrange(1, MOST_BITS + 1)
        words = max(1, min(MOST_BITS, reference_words + rng.randrange(-30, 30)))
        if needs_wide_band(words, reference_words):
            continue
        pair = random_pair(rng, words, reference_words)
        distance, alignment = aligned(*pair, ALL_CELLS)
        apart = distance + abs(words - reference_words)
        if reference_words > WITHIN_BAND and apart > SURELY_WITHIN_BAND:
            continue
        near += apart == SURELY_WITHIN_BAND
        assert aligned(*pair, IN_BAND) == (distance, alignment), pair
    assert near > 5
