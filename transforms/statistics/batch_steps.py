"""Wires the counting of each batch of segments to Beam."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, cast

import apache_beam as beam
from apache_beam.metrics.metric import Metrics

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import (
    BatchStatistics,
    PreparedBatch,
    SegmentLabel,
    prepare_counting,
    require_documents,
)
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.wiring.steps import Step, ThreadedDoFn, giving_batches, unchanged


def count_matches(
    counted: Sequence[tuple[Text, Metric]], threads: int, step: Step = unchanged, **options: Any
) -> beam.ParDo:
    return giving_batches(step(CountMatches(counted, threads, **options)), BatchStatistics)


class CountMatches(ThreadedDoFn):
    """Maps each `SegmentBatch` to its `BatchStatistics`. If Beam runs a batch again, the Beam
    counters include it again.

    Args:
      counted: each metric, with the steps from a text to its tokens.
      languages, documents: the labels that have them; None if they are not needed.
      lengths: a metric, with its steps, whose columns tell the lengths of references in tokens, for
        the metrics whose columns do not; None if lengths are not needed.
      pick: a `Picker` of segments to show. It runs here because no later step has texts.
    """

    def __init__(
        self,
        counted: Sequence[tuple[Text, Metric]],
        threads: int,
        *,
        languages: SegmentLabel | None = None,
        documents: SegmentLabel | None = None,
        lengths: tuple[Text, Metric] | None = None,
        keep_texts: bool = False,
        pick: Any = None,
    ) -> None:
        super().__init__(threads)
        self._counted = tuple(counted)
        self._languages = languages
        self._documents = documents
        self._lengths = lengths
        self._keep_texts = keep_texts
        self._pick = pick
        self._segments, self._empty, self._bytes = (
            Metrics.counter("beam_bleu", name) for name in ("segments", "empty_candidates", "bytes")
        )

    def setup(self) -> None:
        super().setup()
        # Once in a worker, before its first batch. If a batch waited for the compiler, an engine
        # could think that the worker hangs.
        for text, metric in (*self._counted, *([self._lengths] if self._lengths else [])):
            prepare_counting(text, metric)

    def work(self, batch: SegmentBatch) -> Iterable[Any]:
        statistics = self._counted_batch(batch)
        if self._pick is not None:
            statistics = dataclasses.replace(statistics, picked=self._pick(batch, statistics))
        return [statistics]

    def emitted(self, statistics: Any) -> None:
        sums = statistics.counts[0].sum(axis=(0, 1)).tolist()
        lengths = self._counted[0][1].lengths(sums)
        self._segments.inc(len(statistics))
        self._empty.inc(0 if lengths is None else lengths.empty_candidates)
        size = statistics.candidate_bytes.sum() + statistics.reference_bytes.sum()
        self._bytes.inc(int(size))

    def _counted_batch(self, batch: SegmentBatch) -> BatchStatistics:
        if self._documents is not None:
            require_documents(batch, self._documents)
        prepared = PreparedBatch(batch, self._languages)
        statistics = prepared.count(self._counted)
        return dataclasses.replace(
            statistics,
            lengths=self._reference_lengths(prepared, statistics.counts),
            texts=batch if self._keep_texts else None,
        )

    def _reference_lengths(
        self, prepared: PreparedBatch, counts: Sequence[Integers]
    ) -> tuple[Integers, ...]:
        if self._lengths is None:
            return ()
        own = [
            metric.reference_lengths(columns)
            for (_, metric), columns in zip(self._counted, counts, strict=True)
        ]
        usual = None
        if any(lengths is None for lengths in own):
            text, metric = self._lengths
            usual = metric.reference_lengths(prepared.counts(text, metric))
        return tuple(cast(Integers, usual if lengths is None else lengths) for lengths in own)
