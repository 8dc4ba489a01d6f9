"""Picks the examples of a batch: scores are compared as arrays; texts are made for a few rows."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.examples.example import (
    EXAMPLE_KINDS,
    Example,
    KindName,
    ListKey,
    Picked,
    ScoreCells,
    cut,
)
from beam_bleu.transforms.examples.sampling import first_rows, sample_ranks
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Floats
from beam_bleu.transforms.pairing.batch import KEPT_ID, SegmentBatch
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.text.text import Text


class PickedMetric(NamedTuple):
    """`place` is that of its statistics among those of a batch."""

    name: str
    definition: Metric
    place: int
    lower_is_better: bool


@dataclasses.dataclass(frozen=True)
class Picker:
    """Picks examples of a batch, for `CountMatches`. The default baseline is the first system.
    `varied` is how tokens are made to find how varied the candidates are; None if nobody asks.
    """

    number: int
    metrics: tuple[PickedMetric, ...]
    baseline: str | None = None
    labels: tuple[str, ...] = ()
    varied: Text | None = None

    def __call__(self, batch: SegmentBatch, statistics: BatchStatistics) -> Picked:
        """Several threads can pick at the same time."""
        numbers, systems = batch.numbers, batch.systems
        assert numbers is not None
        examples: dict[ListKey, tuple[Example, ...]] = {}
        cells: dict[tuple[str, str], ScoreCells] = {}
        baseline = systems[0] if self.baseline is None else self.baseline
        drawn = sample_ranks(numbers)
        ids = batch.kept.get(KEPT_ID)
        of_segment = functools.cache(functools.partial(_of_segment, batch, self.labels))
        for metric in self.metrics:
            values = metric.definition.segment_scores(statistics.rows(metric.place))
            scores = dict(zip(systems, values.reshape(len(systems), len(batch)), strict=True))
            sign = -1 if metric.lower_is_better else 1
            for system, own in scores.items():
                cells[metric.name, system] = ScoreCells.of(own[~np.isnan(own)])
                against = baseline if baseline in scores and system != baseline else None
                other = scores[against] if against is not None else np.full(len(batch), np.nan)
                difference = own - other
                gained = sign * difference
                ranks: dict[KindName, Floats] = {
                    "best": -sign * own,
                    "worst": sign * own,
                    "gain": np.where(gained > 0, -gained, np.nan),
                    "loss": np.where(gained < 0, gained, np.nan),
                    "sample": drawn,
                }
                for kind, of_kind in ranks.items():
                    compared = against if EXAMPLE_KINDS[kind].compares else None
                    picked = tuple(
                        Example(
                            (float(of_kind[row]), float(drawn[row]), int(numbers[row])),
                            {
                                "kind": kind,
                                "metric": metric.name,
                                "system": system,
                                "baseline": against,
                                "index": int(numbers[row]),
                                "id": None if ids is None else _text(ids, row),
                                "score": _defined(own[row]),
                                "baseline_score": _defined(other[row]),
                                "difference": _defined(difference[row]),
                                "candidate": of_segment(row)["candidates"].get(system),
                                "baseline_candidate": of_segment(row)["candidates"].get(against),
                                **of_segment(row),
                            },
                        )
                        for row in first_rows(of_kind, drawn, numbers, self.number)
                    )
                    if picked:
                        examples[ListKey(kind, metric.name, system, compared)] = picked
        if self.varied is None:
            return Picked(self.number, examples, cells)
        from beam_bleu.transforms.examples.variety import varieties

        return Picked(self.number, examples, cells, varieties(batch, self.varied))


MOST_REFERENCES = 16


def _defined(score: float) -> float | None:
    return None if np.isnan(score) else float(score)


def _of_segment(batch: SegmentBatch, labels: Sequence[str], row: int) -> Mapping[str, Any]:
    references = (_text(column, row) for column in batch.references)
    # Without candidates if the metrics read no texts.
    candidates = zip(batch.systems, batch.candidates, strict=False)
    return {
        "candidates": {system: _text(column, row) for system, column in candidates},
        "references": [text for text in references if text is not None][:MOST_REFERENCES],
        "labels": {
            name: None if (value := column[row].as_py()) is None else cut(value.encode())
            for name, column in zip(labels, batch.labels, strict=True)
        },
        "kept": {
            name: _text(column, row) for name, column in batch.kept.items() if name != KEPT_ID
        },
    }


def _text(column: pa.LargeStringArray, row: int) -> str | None:
    buffer = column[row].as_buffer()
    return None if buffer is None else cut(memoryview(buffer))
