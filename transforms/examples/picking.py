"""Picks the examples of a batch: scores are compared as arrays, and texts are made for a few rows.

No text leaves the batch but those of the rows that are picked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.examples.example import (
    EXAMPLE_KINDS,
    MOST_REFERENCES,
    Example,
    KindName,
    cut,
)
from beam_bleu.transforms.examples.picked import ListKey, Picked, ScoresKey
from beam_bleu.transforms.examples.ranks import Ranked, first_rows, sample_ranks
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
        self._first: dict[ListKey | tuple[str, ...], Ranked] = {}

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
        picker = self._picker
        if not len(batch):
            return Picked(picker.number)
        examples: dict[ListKey, tuple[Example, ...]] = {}
        cells: dict[ScoresKey, ScoreCells] = {}
        texts = _Texts(batch, picker.labels)
        drawn = sample_ranks(batch.numbers)
        sampled = self._first_rows(batch.systems, drawn, batch.numbers)
        for metric in picker.metrics:
            scores = metric.definition.segment_scores(counted[metric.place].rows)
            of_metric = _OfMetric(
                batch.systems, picker.baseline, scores.reshape(len(batch.systems), len(batch))
            )
            for place, system in enumerate(batch.systems):
                cells[ScoresKey(metric.name, system)] = ScoreCells.of(of_metric.defined(place))
                of_kinds = of_metric.ranks(place, -1 if metric.lower_is_better else 1)
                for name, ranks in (*of_kinds, ("sample", drawn)):
                    compares = EXAMPLE_KINDS[name].compares
                    against = of_metric.baseline if compares else None
                    key = ListKey(name, metric.name, system, against)
                    rows = sampled
                    if name != "sample":
                        limit = _NO_DIFFERENCE if compares else None
                        rows = self._first_rows(key, ranks, batch.numbers, limit)
                    if rows:
                        examples[key] = tuple(
                            of_metric.example(row, place, float(ranks[row]), texts) for row in rows
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


class _OfMetric:
    """The scores of a batch by a metric.

    Args:
      systems: the systems of the batch.
      baseline: the baseline; None for the first one.
      scores: float64 (systems, segments), nan where a score is not defined.
    """

    def __init__(self, systems: Sequence[str], baseline: str | None, scores: Floats) -> None:
        self._scores = scores
        self._systems = systems
        known = systems[0] if baseline is None else baseline
        self._baseline = systems.index(known) if known in systems else None

    @property
    def baseline(self) -> str | None:
        """The baseline, if the batch has it."""
        return None if self._baseline is None else self._systems[self._baseline]

    def defined(self, system: int) -> Floats:
        """The scores of a system that are defined."""
        scores = self._scores[system]
        missing = np.isnan(scores)
        defined: Floats = scores[~missing] if missing.any() else scores
        return defined

    def ranks(self, system: int, sign: int) -> Iterator[tuple[KindName, Floats]]:
        """For each kind the ranks of all segments, float64 (segments,); nan if one has none.

        Args:
          system: the place of the system.
          sign: -1 if a lower score is better, else 1.
        """
        quality = sign * self._scores[system]
        yield "best", -quality
        yield "worst", quality
        if self._baseline is not None and system != self._baseline:
            gained = quality - sign * self._scores[self._baseline]
            yield "gain", -gained
            yield "loss", gained

    def example(self, row: int, system: int, rank: float, texts: _Texts) -> Example:
        """The example of a row and a system."""
        baseline = None if self._baseline == system else self._baseline
        of_row = texts.row(row)
        return Example(
            rank=rank,
            index=of_row.number,
            score=_defined(self._scores[system, row]),
            candidate=texts.candidate(system, row),
            references=of_row.references,
            baseline=None if baseline is None else self._systems[baseline],
            baseline_score=None if baseline is None else _defined(self._scores[baseline, row]),
            baseline_candidate=None if baseline is None else texts.candidate(baseline, row),
            labels=of_row.labels,
            kept=of_row.kept,
        )


class _Texts:
    """The texts of the rows of a batch that are picked. A row is often picked for several reasons.

    It must not be part of a reference cycle, which would keep the batch until the next collection.
    """

    def __init__(self, batch: SegmentBatch, labels: Sequence[str]) -> None:
        self._batch = batch
        self._labels = labels
        self._candidates: dict[tuple[int, int], str | None] = {}
        self._rows: dict[int, _Row] = {}

    def candidate(self, system: int, row: int) -> str | None:
        """The text of a system; None if the metrics read no texts."""
        if not self._batch.candidates:
            return None
        key = system, row
        if key not in self._candidates:
            self._candidates[key] = _text(self._batch.candidates[system], row)
        return self._candidates[key]

    def row(self, row: int) -> _Row:
        """What all systems of a segment have in common."""
        if row not in self._rows:
            self._rows[row] = self._made(row)
        return self._rows[row]

    def _made(self, row: int) -> _Row:
        batch = self._batch
        assert batch.numbers is not None
        references = (_text(column, row) for column in batch.references)
        return _Row(
            int(batch.numbers[row]),
            tuple(text for text in references if text is not None)[:MOST_REFERENCES],
            {
                name: None if (value := column[row].as_py()) is None else cut(value.encode())
                for name, column in zip(self._labels, batch.labels, strict=True)
            },
            {name: _text(column, row) for name, column in batch.kept.items()},
        )


class _Row(NamedTuple):
    """What all systems of a segment have in common: its number, and attributes of `Example`."""

    number: int
    references: tuple[str, ...]
    labels: Mapping[str, str | None]
    kept: Mapping[str, str | None]


def _text(column: pa.LargeStringArray, row: int) -> str | None:
    buffer = column[row].as_buffer()
    return None if buffer is None else cut(memoryview(buffer))


def _defined(score: np.float64) -> float | None:
    return None if np.isnan(score) else float(score)
