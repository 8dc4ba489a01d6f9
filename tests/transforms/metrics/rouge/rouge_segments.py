"""What this project counts in segments, for the tests of ROUGE."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_texts import Segment
from rouge_score.rouge_scorer import RougeScorer

from beam_bleu.transforms.metrics.rouge.kind import KINDS
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.totals.corpus_sums import CorpusSums

NAMES = [*KINDS]


@functools.cache
def _scorer(is_stemmed: bool) -> RougeScorer:
    return RougeScorer(NAMES, use_stemmer=is_stemmed)


def by_rouge_score(segment: Segment, stemmer: bool = False) -> dict[str, Any]:
    """The scores of a segment by rouge_score: precision, recall, F of each metric, 0..1."""
    candidate, references = segment
    present = [reference for reference in references if reference is not None]
    scores: dict[str, Any] = _scorer(stemmer).score_multi(present, candidate)
    return scores


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


def segment_scores(
    segments: Sequence[Segment], metric: str, **choices: Any
) -> list[dict[str, Any]]:
    """The rows of the table of the scores of segments."""
    kind = KINDS[metric]
    definition = kind.metric_of(kind.config(**choices))
    statistics = counted(segments, metric, **choices)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    schema = segment_schema([kind.segment_fields(definition)])
    rows: list[dict[str, Any]] = segment_table(
        statistics, metric, kind, definition, schema
    ).to_pylist()
    return rows


def assert_equal_to_rouge_score(segments: Sequence[Segment], stemmer: bool = False) -> None:
    """Checks precision, recall and F of all segments, to the last bit."""
    expected = [by_rouge_score(segment, stemmer) for segment in segments]
    for metric in NAMES:
        rows = segment_scores(segments, metric, stemmer=stemmer)
        for row, scores, segment in zip(rows, expected, segments, strict=True):
            found = row["precision"], row["recall"], row["score"]
            assert found == tuple(100.0 * value for value in scores[metric]), (metric, segment)
