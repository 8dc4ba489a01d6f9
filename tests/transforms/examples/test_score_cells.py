"""Distributions of scores: every score is in its bin, for any range of scores and any split."""

from __future__ import annotations

import functools
import itertools
import operator
import random
from collections.abc import Sequence

import numpy as np
import pytest

from beam_bleu.transforms.examples.example import MOST_BINS, ScoreCells

DRAW = random.Random(5)

SCORES = {
    "0 to 100": [*np.linspace(0, 100, 1001), 100.00000000000004, -0.0],
    "comet": [DRAW.gauss(0.83, 0.05) for _ in range(1000)],
    "mqm": [-float(DRAW.choice([0, 1, 5, 25, 0.1])) for _ in range(1000)],
    "both signs": [DRAW.gauss(0, 1) for _ in range(1000)],
    "far apart": [2.0 ** DRAW.uniform(0, 40) for _ in range(1000)],
    "ter": [DRAW.gammavariate(4, 15) for _ in range(1000)],
    "one": [57.3],
    "powers": [0.0, 2.0**-1074, 2.0**-10, 2.0**-9, 0.5, 1.0, 2.0, 64.0, 128.0],
    "negative powers": [-(2.0**-1074), -(2.0**-10), -0.5, -1.0, -2.0, -64.0],
}


def brute_force(scores: list[float], edges: Sequence[float | None]) -> list[int]:
    """How many scores are in each bin."""
    edges = [
        edge if edge is not None else (-np.inf if place == 0 else np.inf)
        for place, edge in enumerate(edges)
    ]
    counts = [0] * (len(edges) - 1)
    for score in scores:
        counts[max(place for place, edge in enumerate(edges[:-1]) if score >= edge)] += 1
    return counts


@pytest.mark.parametrize("name", SCORES)
def test_bins_have_the_scores_between_their_edges(name):
    scores = SCORES[name]
    edges, counts = ScoreCells.of(np.array(scores, np.float64)).histogram(None)
    assert counts == brute_force(scores, edges)
    widths = {
        upper - lower
        for lower, upper in itertools.pairwise(edges)
        if lower is not None and upper is not None
    }
    assert len(widths) == 1
    inside = len(counts) - edges.count(None)
    assert 1 <= inside <= MOST_BINS
    ends = ((edges[0], counts[0]), (edges[-1], counts[-1]))
    outside = [count for edge, count in ends if edge is None]
    assert all(0 < count <= len(scores) / 200 for count in outside)


def test_with_a_highest_score_the_bins_end_there():
    scores = SCORES["0 to 100"]
    edges, counts = ScoreCells.of(np.array(scores)).histogram(100.0)
    assert edges == [float(edge) for edge in range(0, 101, 4)]
    expected = [sum(4 * n <= score < 4 * n + 4 for score in scores) for n in range(25)]
    expected[-1] += sum(score >= 100 for score in scores)
    assert counts == expected
    assert ScoreCells.of(np.array([0.0, 1.0])).histogram(1.0)[0][-1] == 1.0
    assert ScoreCells.of(np.zeros(0)).histogram(100.0)[1] == [0] * 25
    assert ScoreCells.of(np.zeros(0)).histogram(None) == ([], [])


@pytest.mark.parametrize("name", SCORES)
def test_any_split_and_order_gives_the_same(name):
    scores = list(SCORES[name])
    whole = ScoreCells.of(np.array(scores)).histogram(None)
    for number in (1, 2, 7):
        DRAW.shuffle(scores)
        parts = [ScoreCells.of(np.array(scores[n::number])) for n in range(number)]
        total = functools.reduce(operator.add, parts, ScoreCells.of(np.zeros(0)))
        assert total.histogram(None) == whole
