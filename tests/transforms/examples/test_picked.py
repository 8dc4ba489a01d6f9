"""What is picked of batches, against brute force: ties, undefined scores, merges in any order."""

from __future__ import annotations

import functools
import operator
import random

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu.transforms.examples.example import CUT_MARK, MOST_CHARACTERS, ListKey, Picked, cut
from beam_bleu.transforms.examples.picking import PickedMetric, Picker, sample_ranks
from beam_bleu.transforms.metrics.numbers import MeanConfig, MeanErrorConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text.text import Text

NUMBER = 3
SYSTEMS = ("a", "b", "c")


class Scored:
    """Made-up scores of segments, and a text for each of them.

    Args:
      lower_is_better: whether the metric is one of errors.
    """

    def __init__(self, lower_is_better: bool, seed: int = 1) -> None:
        draw = random.Random(seed)
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
                rows.append((rank, number, score, None if system == 1 else difference))
        return [row[1:] for row in sorted(rows)[:NUMBER]]


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
                (each.index, each.entry["score"], each.entry["difference"])
                for each in whole.examples[key]
            ]
            assert shown == scored.expected(kind, place)
    for example in whole.examples[ListKey("loss", "m", "c", "b")]:
        assert example.entry["candidate"] == f"c {example.index}"
        assert example.entry["baseline_candidate"] == f"b {example.index}"
        assert example.entry["references"] == [f"r {example.index}"]
        assert example.entry["labels"] == {"domain": f"d{example.index % 3}"}
    rows = list(range(200))
    for _ in range(6):
        draw.shuffle(rows)
        ends = sorted(draw.sample(range(1, 200), 9))
        parts = []
        for begin, end in zip([0, *ends], [*ends, 200], strict=True):
            parts.append(scored.picked(rows[begin:end]))
        draw.shuffle(parts)
        total = functools.reduce(operator.add, parts, Picked(NUMBER))
        assert total.examples == whole.examples
        for of_scores, cells in whole.scores.items():
            assert total.scores[of_scores].histogram(None) == cells.histogram(None)


def test_the_sample_is_the_same_for_all_systems_and_uniform():
    whole = Scored(False).picked(slice(None))
    samples = [
        [each.index for each in whole.examples[ListKey("sample", "m", system)]]
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
