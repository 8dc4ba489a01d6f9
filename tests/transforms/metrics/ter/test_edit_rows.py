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
    reach,
    write_rows,
)
from beam_bleu.transforms.metrics.ter.kernel import (
    ALL_CELLS,
    IN_BAND,
    align,
)
from beam_bleu.transforms.native.memory import BLOCK

Alignment = tuple[list[int], list[int], list[int]]
"""Errors, errors of the reference, and targets; see `align`."""


class Pair:
    """Two texts of numbers, and memory for their edit table."""

    def __init__(self, candidate: list[int], reference: list[int]) -> None:
        self.candidate, self.reference = candidate, reference
        self.lengths = len(candidate), len(reference)
        of_rows = (len(candidate) + 1) * ROW_BYTES
        if needs_wide_band(*self.lengths):
            of_rows = (len(candidate) + 1) * 2 * reach(*self.lengths)
        self._arrays = [
            np.array(candidate, np.uint32),
            np.array(reference + [0] * BLOCK, np.uint32),
            np.zeros(of_rows, np.uint8),
            np.zeros(len(reference) + 1, np.int64),
        ]
        addresses = (array.ctypes.data for array in self._arrays)
        self._numbers, self._of_reference, self._rows, self._distances = addresses

    def __repr__(self) -> str:
        return f"Pair({self.candidate}, {self.reference})"

    @property
    def arguments(self) -> tuple[int, int, int, int]:
        """The two texts as arguments of compiled functions."""
        words, reference_words = self.lengths
        return self._numbers, words, self._of_reference, reference_words

    def distance(self, way: int) -> int:
        """The distance, computed in one of the ways."""
        if way == IN_BAND:
            place_band(self._rows, *self.lengths)
        return write_rows(0, *self.arguments, self._rows, way == IN_BAND)

    def alignment(self, way: int) -> Alignment:
        """The alignment, after `distance`."""
        words, reference_words = self.lengths
        sizes = words, reference_words, reference_words + 1
        found = [np.zeros(size, np.uint32) for size in sizes]
        align(words, reference_words, way, self._rows, *(each.ctypes.data for each in found))
        errors, reference_errors, targets = (each.tolist() for each in found)
        return errors, reference_errors, targets


def random_pair(rng: random.Random, words: int, reference_words: int) -> Pair:
    """Texts that have parts in common, at different places."""
    symbols = range(1, rng.choice([3, 5, 20, 200]))
    reference = rng.choices(symbols, k=reference_words)
    begin = rng.randrange(-30, 31)
    candidate = rng.choices(symbols, k=max(0, -begin)) + reference[max(0, begin) :]
    for _ in range(rng.randrange(12)):
        candidate[rng.randrange(len(candidate) + 1) :][:1] = [rng.choice(symbols)]
    candidate = (candidate + rng.choices(symbols, k=words))[:words]
    return Pair(candidate, reference)


def test_without_a_band_it_is_the_same_if_the_texts_are_similar():
    rng = random.Random(0)
    near = 0
    for _ in range(1500):
        reference_words = rng.randrange(1, MOST_BITS + 1)
        words = max(1, min(MOST_BITS, reference_words + rng.randrange(-30, 30)))
        if needs_wide_band(words, reference_words):
            continue
        pair = random_pair(rng, words, reference_words)
        distance = pair.distance(ALL_CELLS)
        apart = distance + abs(words - reference_words)
        if reference_words > WITHIN_BAND and apart > SURELY_WITHIN_BAND:
            continue
        near += apart == SURELY_WITHIN_BAND
        alignment = pair.alignment(ALL_CELLS)
        assert (pair.distance(IN_BAND), pair.alignment(IN_BAND)) == (distance, alignment), pair
    assert near > 5
