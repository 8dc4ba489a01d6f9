"""The score of a few segments, as the library computes it without a pipeline.

Tests give a whole definition, a `BleuConfig`. The helpers here pass on the part that a room needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns, ReferenceLengthName
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


def bleu_table_schema(metric: BleuConfig, labels: Sequence[str] = ()) -> pa.Schema:
    """The columns of the scores of segments, if BLEU is the only metric."""
    return segment_schema([metric], labels)


def bleu_table(
    statistics: BatchStatistics, metric: BleuConfig, labels: Sequence[str] = ()
) -> pa.Table:
    """The scores of the segments of a batch."""
    return segment_table(statistics, 0, "bleu", metric, bleu_table_schema(metric, labels))


@dataclasses.dataclass(frozen=True)
class Counted:
    """The columns of a batch by their names: arrays (systems, segments), and (..., N) by order."""

    candidate_length: Any
    reference_length: Any
    matches: Any
    totals: Any


def counted(statistics: BatchStatistics, rule: ReferenceLengthName = "closest") -> Counted:
    """The columns of a batch. The average length of references is a float."""
    columns = BleuColumns(np.moveaxis(statistics.counts[0], 2, 0))
    lengths, divisor = columns.reference_length(rule)
    return Counted(
        columns.candidate_length,
        lengths if divisor == 1 else lengths / divisor,
        np.stack(columns.matches, axis=-1),
        np.stack(columns.totals, axis=-1),
    )


def sums_of(segments: Sequence[Segment], config: BleuConfig) -> CorpusSums:
    return corpus_sums(statistics_of(to_batch(segments), config), 0)


def score_of_totals(totals: GroupTotals, config: Config, **options: Any) -> Any:
    """The score of one system."""
    return corpus_score(Estimates(totals, config.metric), config.text.name, **options)


def bleu_of(sums: CorpusSums | GroupTotals, config: BleuConfig, **options: Any) -> BleuScore:
    totals = sums if isinstance(sums, GroupTotals) else totals_of_sums({"": sums})
    return cast("BleuScore", score_of_totals(totals, config, **options))


def totals_of_sums(sums: Mapping[str, CorpusSums]) -> GroupTotals:
    """The totals of systems, without products."""
    (width,) = {len(own.columns) for own in sums.values()} or {0}
    total = GroupTotals.zero(width)
    for system, own in sums.items():
        references = zip(own.given, own.reference_returns, own.identical, strict=True)
        facts = [
            *(own.candidate_bytes, own.reference_bytes),
            *(own.min_reference_count, own.max_reference_count),
            *(own.tokenized, own.candidate_returns, *own.scripts),
            *(fact for reference in references for fact in reference),
        ]
        common = exact(np.array([[[own.segments, *own.columns]]], object))
        crosses = np.zeros((1, 0, width, width), np.int64)
        total += GroupTotals(
            width, (system,), (None,), (), common, crosses, None, np.array([[facts]])
        )
    return total


def score_of(segments: Sequence[Segment], config: BleuConfig) -> BleuScore:
    return bleu_of(group_totals(statistics_of(to_batch(segments), config)), config)


def signature_of(sums: CorpusSums, config: BleuConfig) -> str:
    return _signatures(sums, config)[0]


def sacrebleu_signature_of(sums: CorpusSums, config: BleuConfig) -> str | None:
    return _signatures(sums, config)[1]


def _signatures(sums: CorpusSums, config: BleuConfig) -> tuple[str, str | None]:
    references = sums.min_reference_count, sums.max_reference_count
    return config.metric.signatures(config.text.name, *references)


def of_segments(config: BleuConfig) -> BleuConfig:
    """The same definition, for single segments."""
    return config.for_segments()


def corpus_sums(
    statistics: BatchStatistics,
    system: int = 0,
    rows: slice = slice(None),
    *,
    with_products: bool = False,
) -> CorpusSums:
    """The sums of some segments of one system of a batch; zero without a segment."""
    totals = group_totals(statistics, rows, with_products=with_products)
    return totals.sums(statistics.systems[system])


def group_totals(
    statistics: BatchStatistics, rows: slice = slice(None), *, with_products: bool = False
) -> GroupTotals:
    """The totals of some segments of a batch."""
    basis = Basis(tuple(map(str, range(statistics.counts[0].shape[2]))), shared=())
    return totals_of_rows(statistics, [basis], rows, with_products=with_products).metrics[0]
