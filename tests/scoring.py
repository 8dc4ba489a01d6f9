"""The score of a few segments, as the library computes it without a pipeline.

Tests give a whole definition, a `BleuConfig`. The helpers here pass on the part that a room needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from beam_bleu.transforms.definition import signature
from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.scoring import counted_order
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.records.segments import Segment, batch_segments
from beam_bleu.transforms.score.bleu import BleuScore, bleu_score
from beam_bleu.transforms.statistics.kernel import count_batch
from beam_bleu.transforms.statistics.segment_statistics import SegmentStatistics
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals


def statistics_of(
    batch: SegmentBatch, config: BleuConfig, max_order: int | None = None
) -> SegmentStatistics:
    """The statistics of a batch, up to the order that the definition needs."""
    return count_batch(batch, config.text, max_order or counted_order([config.scoring]))


def totals_of(segments: Sequence[Segment], config: BleuConfig) -> CorpusTotals:
    return CorpusTotals.of(statistics_of(batch_segments(segments), config), 0)


def bleu_of(totals: CorpusTotals, config: BleuConfig, **options: Any) -> BleuScore:
    return bleu_score(totals, config.text.name, config.scoring, **options)


def score_of(segments: Sequence[Segment], config: BleuConfig) -> BleuScore:
    return bleu_of(totals_of(segments, config), config)


def signature_of(totals: CorpusTotals, config: BleuConfig) -> str:
    return signature.signature(*_signed(totals, config))


def sacrebleu_signature_of(totals: CorpusTotals, config: BleuConfig) -> str | None:
    return signature.sacrebleu_signature(*_signed(totals, config))


def _signed(totals: CorpusTotals, config: BleuConfig) -> Any:
    return config.text.name, config.scoring, totals.min_references, totals.max_references


def of_segments(config: BleuConfig) -> BleuConfig:
    """The same definition, for single segments."""
    return dataclasses.replace(config, **vars(config.scoring.for_segments()))
