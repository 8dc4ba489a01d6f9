"""Segments for the tests of TER, and what sacreBLEU and this project count in them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import sacrebleu
from hostile_texts import Segment
from metric_segments import assert_same_rows, columns_of, counted

from beam_bleu.transforms.metrics.metric import PARTS_OF_A_TOKEN
from beam_bleu.transforms.metrics.ter.metric import EDITS, TerConfig, reference_parts


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
"""The edits that sacreBLEU counts in the segments of `RECORDED`."""

RECORDED: Mapping[str, tuple[Callable[[random.Random], Segment], int]] = {
    "moved words": (_moved, 400),
    "in a band": (_in_band, 120),
    "lengths at limits": (_at_limits, 60),
    "very different lengths": (_very_different, 120),
}
"""Segments for which sacreBLEU takes long: how they are made, and how many."""


def recorded_segments(title: str) -> list[Segment]:
    """The segments of a title of `RECORDED`."""
    make, number = RECORDED[title]
    rng = random.Random(title)
    return [make(rng) for _ in range(number)]


def sacrebleus(config: TerConfig) -> sacrebleu.TER:
    """The metric of sacreBLEU with the same definition."""
    options = dataclasses.asdict(config)
    del options["normalize"]
    return sacrebleu.TER(**options)


def assert_counts_are_those_of_sacrebleu(
    segments: Sequence[Segment], config: TerConfig | None = None
) -> None:
    """Compares the edits and the lengths of each segment."""
    config = TerConfig() if config is None else config
    counts = counted(segments, config).counts[0][0]
    expected = sacrebleus(config)._extract_corpus_statistics(*columns_of(segments))
    ours = np.stack([counts[:, EDITS], reference_parts(counts.T) / PARTS_OF_A_TOKEN], axis=1)
    assert_same_rows(segments, ours, expected)
