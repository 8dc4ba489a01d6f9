"""The score of a few segments, as the library computes it without a pipeline.

Tests give a whole definition, a `BleuConfig`. The helpers here pass on the part that a room needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig, BleuScore
from beam_bleu.transforms.metrics.metric import Basis, Config
from beam_bleu.transforms.native.arrays import exact
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import Segment, to_batch
from beam_bleu.transforms.score.estimates import Estimates, corpus_score
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.counting import BatchStatistics, count_batch
from beam_bleu.transforms.totals.batch_adder import totals_of_rows
from beam_bleu.transforms.totals.group_totals import (
    FEWEST,
    FIRST_REFERENCE,
    MOST,
    CorpusSums,
    GroupTotals,
)


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


def bleu_of(totals: GroupTotals, config: BleuConfig, **options: Any) -> BleuScore:
    return cast("BleuScore", score_of_totals(totals, config, **options))


def totals_of_sums(sums: Mapping[str, CorpusSums]) -> GroupTotals:
    """The totals of systems, without products. Of the facts they have bytes and references."""
    (width,) = {len(own.columns) for own in sums.values()} or {0}
    total = GroupTotals.zero(width)
    for system, own in sums.items():
        facts = np.zeros((1, 1, FIRST_REFERENCE), np.int64)
        facts[..., :2] = own.candidate_bytes, own.reference_bytes
        facts[..., [FEWEST, MOST]] = own.min_reference_count, own.max_reference_count
        common = exact(np.array([[[own.segments, *own.columns]]], object))
        crosses = np.zeros((1, 0, width, width), np.int64)
        total += GroupTotals(width, (system,), (None,), (), common, crosses, None, facts)
    return total


def score_of(segments: Sequence[Segment], config: BleuConfig) -> BleuScore:
    return bleu_of(group_totals(statistics_of(to_batch(segments), config)), config)


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
