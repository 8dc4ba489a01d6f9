"""What this project counts in segments, and scores, for the tests of any metric of texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_texts import Segment
from scoring import group_totals, score_of_totals

from beam_bleu.transforms.known_metrics import config_type
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch


def counted(
    segments: Sequence[Segment],
    metric: str,
    others: Sequence[str] | None = None,
    **choices: Any,
) -> BatchStatistics:
    """What is counted in segments, and, if there are any, in the candidates of another system."""
    config = config_type(metric)(**choices)
    batch = to_batch(segments)
    if others is not None:
        more = pa.array(others, pa.large_string())
        batch = dataclasses.replace(
            batch, candidates=(*batch.candidates, more), systems=("one", "other")
        )
    return count_batch(batch, config.text, config.metric)


def score_of(segments: Sequence[Segment], metric: str, **choices: Any) -> Any:
    """The score of segments."""
    config = config_type(metric)(**choices)
    totals = group_totals(counted(segments, metric, **choices), with_products=True)
    return score_of_totals(totals, config)


def segment_scores(
    segments: Sequence[Segment], metric: str, **choices: Any
) -> list[dict[str, Any]]:
    """The rows of the table of the scores of segments."""
    definition = config_type(metric)(**choices).metric
    statistics = counted(segments, metric, **choices)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    schema = segment_schema([definition])
    rows: list[dict[str, Any]] = segment_table(
        statistics, 0, metric, definition, schema
    ).to_pylist()
    return rows


def assert_scores_of_many_sums(
    definition: Any, width: int, rows: int = 50, orders: Sequence[int] = (10**3, 10**10, 10**15)
) -> None:
    """Checks that sums have the same scores together as each by itself.

    Args:
      definition: the definition of a metric.
      width: the number of its columns.
      rows: how many sums there are; half of their columns are 0.
      orders: what is larger than all columns, for different sums.
    """
    rng = np.random.default_rng(3)
    for largest in orders:
        sums = rng.integers(0, largest, (rows, width)) * rng.integers(0, 2, (rows, width))
        assert definition.values(sums).tolist() == [definition.value(row) for row in sums.tolist()]
    assert definition.values(np.zeros((0, width), np.int64)).tolist() == []
