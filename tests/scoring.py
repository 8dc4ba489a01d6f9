"""The score of a few segments, as the library computes it without a pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.pairing.records.segments import Segment, batch_segments
from beam_bleu.transforms.score.bleu import BleuScore, bleu_score
from beam_bleu.transforms.statistics.kernel import count_batch
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals


def totals_of(segments: Sequence[Segment], config: BleuConfig) -> CorpusTotals:
    return CorpusTotals.of(count_batch(batch_segments(segments), config), 0)


def score_of(segments: Sequence[Segment], config: BleuConfig) -> BleuScore:
    return bleu_score(totals_of(segments, config), config)
