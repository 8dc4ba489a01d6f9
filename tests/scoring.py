"""What the library counts in a few segments, and their scores, without a pipeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_texts import Segment

from beam_bleu.transforms.known_metrics import config_type
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import Basis, Config
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.estimates import Estimates, corpus_score
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch
from beam_bleu.transforms.totals.batch_adder import totals_of_rows
from beam_bleu.transforms.totals.group_totals import CorpusSums, GroupTotals


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


def statistics_of(
    batch: SegmentBatch, config: BleuConfig, max_order: int | None = None
) -> BatchStatistics:
    """The statistics of a batch, up to the order that the definition needs.

    Segments without numbers get numbers from 0, so that they can be scored one by one. There are
    lengths, so that they can be in slices by length.
    """
    order = max_order or config.metric.counted_order
    statistics = count_batch(batch, config.text, BleuConfig(max_ngram_order=order))
    return dataclasses.replace(
        statistics,
        lengths=(BleuConfig(max_ngram_order=order).reference_lengths(statistics.counts[0]),),
        numbers=np.arange(len(batch)) if statistics.numbers is None else statistics.numbers,
    )


def bleu_table(statistics: BatchStatistics, metric: BleuConfig) -> pa.Table:
    """The scores of the segments of a batch."""
    return segment_table(statistics, 0, "bleu", metric, segment_schema([metric]))


def score_of_totals(totals: GroupTotals, config: Config, **options: Any) -> Any:
    """The score of one system."""
    return corpus_score(Estimates(totals, config.metric), config.text.name, **options)


def score_of(segments: Sequence[Segment], metric: Any, **choices: Any) -> Any:
    config = config_of(metric, **choices)
    return score_of_totals(group_totals(counted(segments, config), with_products=True), config)


def corpus_sums(
    statistics: BatchStatistics, system: int = 0, rows: slice = slice(None)
) -> CorpusSums:
    """The sums of some segments of one system of a batch; zero without a segment."""
    return group_totals(statistics, rows).sums(statistics.systems[system])


def group_totals(
    statistics: BatchStatistics, rows: slice = slice(None), *, with_products: bool = False
) -> GroupTotals:
    """The totals of some segments of a batch."""
    basis = Basis(tuple(map(str, range(statistics.counts[0].shape[2]))), shared=())
    return totals_of_rows(statistics, [basis], rows, with_products=with_products).metrics[0]


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
