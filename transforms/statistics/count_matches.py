"""Wires the statistics kernel to Beam."""

from __future__ import annotations

from collections.abc import Iterable

import apache_beam as beam
from apache_beam.metrics.metric import Metrics

from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.by_language import LanguageLabel, count_by_language
from beam_bleu.transforms.statistics.kernel import compile_kernel, count_batch
from beam_bleu.transforms.wiring.coders import giving_batches
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["CountMatches", "count_matches"]


def count_matches(
    text: Text,
    max_order: int,
    threads: int,
    step: Step = unchanged,
    *,
    languages: LanguageLabel | None = None,
    metrics: bool = True,
) -> beam.ParDo:
    """The step from `SegmentBatch` to `BatchStatistics`, with the arguments of `CountMatches`."""
    counting = CountMatches(text, max_order, threads, languages=languages, metrics=metrics)
    return giving_batches(step(counting), BatchStatistics)


class CountMatches(ThreadedDoFn):
    """Maps each `SegmentBatch` to its `BatchStatistics`, of n-gram orders up to `max_order`.

    With `languages`, each segment has the tokenizer of its language. The library and the code of
    a tokenizer are loaded when a segment needs it, because no one knows before which ones occur.

    The Beam counters are for consoles. If Beam runs a batch again, they count it again. So the
    counters in the result come from the sums. If a pipeline counts the same segments by several
    definitions, only one step may change the counters: the others are made with `metrics=False`.
    """

    def __init__(
        self,
        text: Text,
        max_order: int,
        threads: int,
        *,
        languages: LanguageLabel | None = None,
        metrics: bool = True,
    ) -> None:
        super().__init__(threads)
        self._languages = languages
        self._metrics = metrics
        self._text = text
        self._max_order = max_order
        self._segments = Metrics.counter("beam_bleu", "segments")
        self._empty_candidates = Metrics.counter("beam_bleu", "empty_candidates")
        self._bytes = Metrics.counter("beam_bleu", "bytes")

    def setup(self) -> None:
        super().setup()
        # Once in a worker, before its first batch. If a batch waited for the compiler, an engine
        # could think that the worker hangs.
        compile_kernel(self._text)

    def work(self, batch: SegmentBatch) -> Iterable[BatchStatistics]:
        if self._languages is None:
            statistics = count_batch(batch, self._text, self._max_order)
        else:
            statistics = count_by_language(batch, self._languages, self._text, self._max_order)
        if self._metrics:
            statistics.shown_counts()  # computed here, because all threads share Beam's own one
        return [statistics]

    def emitted(self, statistics: BatchStatistics) -> None:
        if not self._metrics:
            return
        empty_candidates, text_bytes = statistics.shown_counts()
        self._segments.inc(len(statistics))
        self._empty_candidates.inc(empty_candidates)
        self._bytes.inc(text_bytes)
