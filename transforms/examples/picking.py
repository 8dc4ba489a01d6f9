"""Picks the examples of a batch: scores are compared as arrays, and texts are made for a few rows.

No text leaves the batch but those of the rows that are picked.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_bleu.transforms.examples.example import (
    EXAMPLE_KINDS,
    MOST_REFERENCES,
    Example,
    KindName,
    ListKey,
    Picked,
    ScoresKey,
    cut,
)
from beam_bleu.transforms.examples.score_cells import ScoreCells
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.score.segment_table import compile_segment_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics


@dataclasses.dataclass(frozen=True)
class PickedMetric:
    """A metric by whose scores examples are picked.

    Attributes:
      name: its name.
      definition: how it scores single segments.
      place: the place of its statistics among those of a batch.
      lower_is_better: whether a lower score is better.
    """

    name: str
    definition: Metric
    place: int
    lower_is_better: bool


@dataclasses.dataclass(frozen=True)
class Picker:
    """What is picked of each batch.

    Attributes:
      number: the most examples of each kind, for each metric and system.
      metrics: the metrics.
      baseline: the system with which the others are compared; None for the first one.
      labels: the names of the labels of a batch.
    """

    number: int
    metrics: tuple[PickedMetric, ...]
    baseline: str | None = None
    labels: tuple[str, ...] = ()

    def prepare(self) -> None:
        """Compiles the code that scores segments, or loads it, unless this process has done so."""
        for metric in self.metrics:
            compile_segment_table(metric.definition)

    def begin(self) -> Picking:
        """Begins with a bundle of batches."""
        return Picking(self)


class Picking:
    """Picks the examples of the batches of a bundle. Several threads can do it at the same time.

    It remembers the best ranks so far. A row that is behind them cannot be an example, so no texts
    are made for it: all batches of a bundle are added up, or none of them. What threads forget
    because they remember at the same time only costs time.

    Args:
      picker: what is picked.
    """

    def __init__(self, picker: Picker) -> None:
        self._picker = picker
        self._first: dict[ListKey | tuple[str, ...], list[tuple[float, int]]] = {}

    def __call__(self, batch: SegmentBatch, counted: Sequence[BatchStatistics]) -> Picked:
        """The examples of a batch.

        Args:
          batch: the segments. They have numbers.
          counted: their statistics.

        Raises:
          ValueError: the segments have no numbers.
        """
        if batch.numbers is None:
            raise ValueError("segments without numbers cannot be examples: set those of the batch")
        picker, systems = self._picker, batch.systems
        if not len(batch):
            return Picked(picker.number)
        examples: dict[ListKey, tuple[Example, ...]] = {}
        cells: dict[ScoresKey, ScoreCells] = {}
        baseline = systems[0] if picker.baseline is None else picker.baseline
        drawn = sample_ranks(batch.numbers)
        sampled = self._first_rows(systems, drawn, batch.numbers)
        shared = functools.cache(functools.partial(_of_segment, batch, picker.labels))
        for metric in picker.metrics:
            values = metric.definition.segment_scores(counted[metric.place].rows)
            scores = dict(zip(systems, values.reshape(len(systems), len(batch)), strict=True))
            sign = -1 if metric.lower_is_better else 1
            for system in systems:
                own = scores[system]
                cells[ScoresKey(metric.name, system)] = ScoreCells.of(own[~np.isnan(own)])
                against = baseline if baseline in scores and system != baseline else None
                ranks: dict[KindName, Floats] = {"best": -sign * own, "worst": sign * own}
                if against is not None:
                    gained = sign * own - sign * scores[against]
                    ranks |= {"gain": -gained, "loss": gained}
                for name, of_kind in (ranks | {"sample": drawn}).items():
                    compared = against if EXAMPLE_KINDS[name].compares else None
                    key = ListKey(name, metric.name, system, compared)
                    limit = None if compared is None else _NO_DIFFERENCE
                    rows = sampled
                    if name != "sample":
                        rows = self._first_rows(key, of_kind, batch.numbers, limit)
                    if rows:
                        examples[key] = tuple(
                            Example(
                                rank=float(of_kind[row]),
                                score=_defined(own[row]),
                                candidate=_candidate(batch, system, row),
                                baseline=against,
                                baseline_score=None
                                if against is None
                                else _defined(scores[against][row]),
                                baseline_candidate=_candidate(batch, against, row),
                                **shared(row),
                            )
                            for row in rows
                        )
        return Picked(picker.number, examples, cells)

    def _first_rows(
        self,
        key: ListKey | tuple[str, ...],
        ranks: Floats,
        numbers: Integers,
        limit: tuple[float, int] | None = None,
    ) -> list[int]:
        """The rows of a batch that can be examples, and remembers them.

        Args:
          key: of which examples. Those of the sample have the systems of the batch: other batches
            can have other systems.
          ranks: as for `first_rows`.
          numbers: as for `first_rows`.
          limit: what all examples must be before; None for anything.
        """
        most, before = self._picker.number, self._first.get(key, [])
        rows = first_rows(ranks, numbers, most, before[-1] if len(before) == most else limit)
        if rows:
            of_batch = [(float(ranks[row]), int(numbers[row])) for row in rows]
            self._first[key] = sorted([*before, *of_batch])[:most]
        return rows


_NO_DIFFERENCE = (0.0, -1)
"""A segment whose score is that of the baseline is neither a gain nor a loss."""


def _of_segment(batch: SegmentBatch, labels: Sequence[str], row: int) -> Mapping[str, Any]:
    """Attributes of `Example` that all systems of a segment have in common."""
    assert batch.numbers is not None
    references = (_text(column, row) for column in batch.references)
    return {
        "index": int(batch.numbers[row]),
        "references": tuple(text for text in references if text is not None)[:MOST_REFERENCES],
        "labels": {
            name: None if (value := column[row].as_py()) is None else cut(value.encode())
            for name, column in zip(labels, batch.labels, strict=True)
        },
        "kept": {name: _text(column, row) for name, column in batch.kept.items()},
    }


def _candidate(batch: SegmentBatch, system: str | None, row: int) -> str | None:
    """The text of a system; None without a system, or if the metrics read no texts."""
    if system is None or not batch.candidates:
        return None
    return _text(batch.candidates[batch.systems.index(system)], row)


def _text(column: pa.LargeStringArray, row: int) -> str | None:
    buffer = column[row].as_buffer()
    return None if buffer is None else cut(memoryview(buffer))


def _defined(score: np.float64) -> float | None:
    return None if np.isnan(score) else float(score)


SAMPLE_SEED = 12345
"""The seed of the uniform sample."""


def first_rows(
    ranks: Floats, numbers: Integers, most: int, behind: tuple[float, int] | None = None
) -> list[int]:
    """The rows with the smallest ranks, in the order of ranks, and of numbers where they are equal.

    Args:
      ranks: float64 (rows,); nan leaves a row out.
      numbers: int64 (rows,), all different.
      most: how many rows there are at most.
      behind: the rank and the number of a segment that the rows must be before; None for any.
    """
    if behind is not None:
        rows = np.flatnonzero(ranks <= behind[0])
        rows = rows[(ranks[rows] < behind[0]) | (numbers[rows] < behind[1])]
    else:
        rows = np.flatnonzero(~np.isnan(ranks))
    if not len(rows):
        return []  # of nothing, Arrow can choose nothing
    table = pa.table({"rank": ranks[rows], "number": numbers[rows]})
    order = [("rank", "ascending"), ("number", "ascending")]
    first: list[int] = rows[pc.select_k_unstable(table, min(most, len(rows)), order)].tolist()
    return first


def sample_ranks(numbers: Integers) -> Floats:
    """A random number for each segment, which depends on its number and on nothing else.

    SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators",
    https://doi.org/10.1145/2660193.2660195): the value with this number of the sequence that begins
    at the seed. So the segments with the smallest values are a uniform sample of any corpus.

    Returns:
      float64 (segments,), 0 to 1: the highest 53 bits.
    """
    with np.errstate(over="ignore"):
        states: NDArray[np.uint64] = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        ) + np.uint64(SAMPLE_SEED)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        states ^= states >> np.uint64(shift)
        states *= np.uint64(factor)
    states ^= states >> np.uint64(31)
    ranks: Floats = (states >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return ranks
