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


def config_of(metric: Any, **choices: Any) -> Any:
    """The definition of a metric by its name, or the definition that is given."""
    return config_type(metric)(**choices) if isinstance(metric, str) else metric


def counted(
    segments: Sequence[Segment], metric: Any, others: Sequence[str] | None = None, **choices: Any
) -> BatchStatistics:
    """What is counted in segments, and, if there are any, in the candidates of another system."""
    config, batch = config_of(metric, **choices), to_batch(segments)
    if others is not None:
        candidates = (*batch.candidates, pa.array(others, pa.large_string()))
        batch = dataclasses.replace(batch, candidates=candidates, systems=("one", "other"))
    return count_batch(batch, config.text, config.metric)


def score_of(segments: Sequence[Segment], metric: Any, **choices: Any) -> Any:
    config = config_of(metric, **choices)
    return score_of_totals(group_totals(counted(segments, config), with_products=True), config)


def rows_of_table(statistics: BatchStatistics, metric: Any) -> list[dict[str, Any]]:
    """The rows of the table of the scores of segments."""
    count = statistics.counts[0].shape[1]
    numbered = dataclasses.replace(statistics, numbers=np.arange(count))
    table = segment_table(numbered, 0, "metric", metric, segment_schema([metric]))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def segment_scores(
    segments: Sequence[Segment], metric: Any, **choices: Any
) -> list[dict[str, Any]]:
    config = config_of(metric, **choices)
    return rows_of_table(counted(segments, config), config.metric)


def present(references: Sequence[str | None]) -> list[str]:
    return [reference for reference in references if reference is not None]


def columns_of(segments: Sequence[Segment]) -> tuple[list[str], list[tuple[str | None, ...]]]:
    """The candidates, and a list for each reference."""
    references = zip(*(references for _, references in segments), strict=True)
    return [candidate for candidate, _ in segments], list(references)


def assert_same_rows(segments: Sequence[Segment], ours: np.ndarray, expected: Any) -> None:
    """Checks the numbers of each segment: arrays (segments, numbers)."""
    (wrong,) = np.nonzero((ours != np.array(expected)).any(axis=1))
    assert not wrong.size, (segments[wrong[0]], ours[wrong[0]], expected[wrong[0]])
