"""What this project counts in segments, for the tests of exact match and token F1."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_texts import Segment

from beam_bleu.transforms.metrics.squad.kind import KINDS
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from benchmarks.speed.squad_evaluation import best_exact, best_f1

ARTICLES = ["a", "an", "the", "The", "a's", "the_", "the9", "th-e", "Ａ", "a\u0301", "an\xa0"]


def raw_scores(candidate: str, references: Sequence[str | None]) -> tuple[float, float]:
    """(exact match, F1) of a segment by SQuAD's evaluation, 0..1 each."""
    present = [reference for reference in references if reference is not None]
    return best_exact(candidate, present), best_f1(candidate, present)


def counted(
    segments: Sequence[Segment],
    metric: str,
    others: Sequence[str] | None = None,
    **choices: Any,
) -> BatchStatistics:
    """What is counted in segments, and, if there are any, in the candidates of another system."""
    config = KINDS[metric].config(**choices)
    batch = to_batch(segments)
    if others is not None:
        more = pa.array(others, pa.large_string())
        batch = dataclasses.replace(
            batch, candidates=(*batch.candidates, more), systems=("one", "other")
        )
    return count_batch(batch, config.text, KINDS[metric].counter([config.metric]))


def score_of(segments: Sequence[Segment], metric: str, **choices: Any) -> Any:
    """The score of segments."""
    config = KINDS[metric].config(**choices)
    sums = CorpusSums.of(counted(segments, metric, **choices), 0, with_products=True)
    return KINDS[metric].score(sums, config.text.name, config.metric)


def segment_scores(segments: Sequence[Segment], metric: str) -> list[dict[str, Any]]:
    """The rows of the table of the scores of segments."""
    kind = KINDS[metric]
    definition = kind.metric_of(kind.config())
    statistics = counted(segments, metric)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    schema = segment_schema([kind.segment_fields(definition)])
    rows: list[dict[str, Any]] = segment_table(
        statistics, metric, kind, definition, schema
    ).to_pylist()
    return rows
