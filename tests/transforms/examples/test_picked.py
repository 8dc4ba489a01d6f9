"""What is picked of batches, and distributions of scores, against brute force in any order."""

from __future__ import annotations

import functools
import itertools
import operator
import random

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu.transforms.examples.example import (
    CUT_MARK,
    MOST_BINS,
    MOST_CHARACTERS,
    ListKey,
    Picked,
    ScoreCells,
    cut,
)
from beam_bleu.transforms.examples.picking import PickedMetric, Picker
from beam_bleu.transforms.examples.sampling import sample_ranks
from beam_bleu.transforms.metrics.numbers import MeanConfig, MeanErrorConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text.text import Text

NUMBER = 3
SYSTEMS = ("a", "b", "c")


class Scored:
    """Made-up scores of segments, and a text for each of them."""

    def __init__(self, lower_is_better: bool) -> None:
        draw = random.Random(1)
        self.lower_is_better = lower_is_better
        config = MeanErrorConfig("x") if lower_is_better else MeanConfig("x")
        self.definition = config.metric
        # Few different scores, so that nearly all of them are ties.
        self.scores = np.array(
            [[draw.choice([-1.5, 0.0, 0.25, 7.0]) for _ in range(200)] for _ in SYSTEMS]
        )
        self.numbers = np.array(draw.sample(range(10_000), 200))
        metric = PickedMetric("m", self.definition, 0, lower_is_better)
        self.picker = Picker(NUMBER, (metric,), "b", ("domain",))

    def picked(self, rows: slice | list[int]) -> Picked:
        """What is picked of a batch of these rows."""
        numbers = self.numbers[rows]
        (column,) = self.definition.needs.values
        batch = SegmentBatch(
            candidates=tuple(
                pa.array([f"{system} {number}" for number in numbers], pa.large_string())
                for system in SYSTEMS
            ),
            references=(pa.array([f"r {number}" for number in numbers], pa.large_string()),),
            numbers=numbers,
            systems=SYSTEMS,
            labels=(pa.array([f"d{number % 3}" for number in numbers]).dictionary_encode(),),
            values={column: self.scores[:, rows]},
        )
        return self.picker(batch, count_batch(batch, Text("none"), self.definition))

    def expected(self, kind: str, system: int) -> list[tuple[int, float, float | None]]:
        """(number, score, difference) of the examples of a kind, in the simplest way."""
        rows = []
        for row, number in enumerate(self.numbers.tolist()):
            score = float(self.scores[system, row])
            difference = score - float(self.scores[1, row])
            gained = -difference if self.lower_is_better else difference
            quality = -score if self.lower_is_better else score
            rank = {"best": -quality, "worst": quality, "gain": -gained, "loss": gained}[kind]
            if kind in ("best", "worst") or rank < 0:
                drawn = float(sample_ranks(np.array([number]))[0])
                rows.append((rank, drawn, number, score, None if system == 1 else difference))
        return [row[2:] for row in sorted(rows)[:NUMBER]]


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_examples_are_those_of_brute_force_for_any_split_and_order(lower_is_better):
    scored, draw = Scored(lower_is_better), random.Random(2)
    whole = scored.picked(slice(None))
    for kind in ("best", "worst", "gain", "loss"):
        for place, system in enumerate(SYSTEMS):
            key = ListKey(kind, "m", system, "b" if kind in ("gain", "loss") else None)
            if system == "b" and kind in ("gain", "loss"):
                assert key not in whole.examples
                continue
            shown = [
                (each.entry["index"], each.entry["score"], each.entry["difference"])
                for each in whole.examples[key]
            ]
            assert shown == scored.expected(kind, place)
    for example in whole.examples[ListKey("loss", "m", "c", "b")]:
        number = example.entry["index"]
        assert example.entry["candidate"] == f"c {number}"
        assert example.entry["baseline_candidate"] == f"b {number}"
        assert example.entry["candidates"] == {system: f"{system} {number}" for system in SYSTEMS}
        assert example.entry["references"] == [f"r {number}"]
        assert example.entry["labels"] == {"domain": f"d{number % 3}"}
    rows = list(range(200))
    for _ in range(3):
        draw.shuffle(rows)
        ends = sorted(draw.sample(range(1, 200), 9))
        parts = []
        for begin, end in zip([0, *ends], [*ends, 200], strict=True):
            parts.append(scored.picked(rows[begin:end]))
        draw.shuffle(parts)
        total = functools.reduce(operator.add, parts, Picked(NUMBER))
        assert total.examples == whole.examples
        for of_scores, cells in whole.scores.items():
            assert binned(total.scores[of_scores], None) == binned(cells, None)


def test_the_sample_is_the_same_for_all_systems_and_uniform():
    whole = Scored(False).picked(slice(None))
    samples = [
        [each.entry["index"] for each in whole.examples[ListKey("sample", "m", system)]]
        for system in SYSTEMS
    ]
    assert samples[0] == samples[1] == samples[2]
    assert len(set(samples[0])) == NUMBER
    ranks = sample_ranks(np.arange(100_000))
    counts = np.histogram(ranks, 100, (0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 149  # chi-squared with 99 degrees, p = 0.001
    assert abs(np.corrcoef(ranks[1:], ranks[:-1])[0, 1]) < 0.01


def test_long_texts_are_cut_at_a_character():
    assert cut("é".encode() * MOST_CHARACTERS) == "é" * MOST_CHARACTERS
    for character in ("a", "é", "北", "😀"):
        long = character * (MOST_CHARACTERS + 1)
        assert cut(long.encode()) == character * MOST_CHARACTERS + CUT_MARK
        assert cut(long.encode() * 50) == character * MOST_CHARACTERS + CUT_MARK


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


def cells_of(scores):
    return ScoreCells.of(np.array(scores, np.float64))


def binned(cells, highest):
    edges = cells.edges(highest)
    return edges, cells.histogram(edges)


def in_bins(scores, edges):
    """How many scores are in each bin. Without an edge, the first and the last one have no end."""
    inner = [-np.inf if edges[0] is None else edges[0], *edges[1:-1]]
    places = [max(place for place, edge in enumerate(inner) if score >= edge) for score in scores]
    return [places.count(place) for place in range(len(inner))]


def test_bins_have_the_scores_between_their_edges_for_any_split_and_order():
    for name, scores in SCORES.items():
        whole = edges, counts = binned(cells_of(scores), None)
        assert counts == in_bins(scores, edges), name
        inside = [edge for edge in edges if edge is not None]
        assert len({upper - lower for lower, upper in itertools.pairwise(inside)}) == 1
        assert 2 <= len(inside) <= MOST_BINS + 1
        ends = ((edges[0], counts[0]), (edges[-1], counts[-1]))
        assert all(0 < count <= len(scores) / 200 for edge, count in ends if edge is None)
        shuffled = DRAW.sample(scores, len(scores))
        for number in (1, 2, 7):
            parts = [cells_of(shuffled[n::number]) for n in range(number)]
            total = functools.reduce(operator.add, parts, cells_of([]))
            assert binned(total, None) == whole
            # The bins of the whole are those of each part, too.
            for part, own in zip(parts, (shuffled[n::number] for n in range(number)), strict=True):
                assert part.histogram(edges) == in_bins(own, edges)


def test_with_a_highest_score_the_bins_end_there():
    scores = SCORES["0 to 100"]
    edges, counts = binned(cells_of(scores), 100.0)
    assert edges == [float(edge) for edge in range(0, 101, 4)]
    expected = [sum(4 * n <= score < 4 * n + 4 for score in scores) for n in range(25)]
    expected[-1] += sum(score >= 100 for score in scores)
    assert counts == expected
    assert cells_of([0.0, 1.0]).edges(1.0)[-1] == 1.0
    assert binned(cells_of([]), 100.0)[1] == [0] * 25
    assert binned(cells_of([]), None) == ([], [])
