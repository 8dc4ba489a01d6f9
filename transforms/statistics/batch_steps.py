"""Wires to Beam what is done with each batch of segments: a check of documents, and counting."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
from apache_beam.metrics.metric import Metrics
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics, MetricStatistics
from beam_bleu.transforms.statistics.counting import Counter, count_batch, prepare_counting
from beam_bleu.transforms.statistics.segment_labels import (
    DocumentLabel,
    LanguageLabel,
    count_by_language,
    require_documents,
)
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.wiring.coders import giving_batches
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = [
    "CountMatches",
    "CountMetrics",
    "TokenLengths",
    "check_documents",
    "count_matches",
    "count_metrics",
]


@dataclasses.dataclass(frozen=True)
class TokenLengths:
    """How the lengths of segments are counted, if the columns of a metric do not tell them.

    Attributes:
      text: the steps from a text to its tokens.
      counter: counts columns that tell the lengths in tokens.
    """

    text: Text
    counter: Counter


def count_matches(
    text: Text,
    counter: Counter,
    threads: int,
    step: Step = unchanged,
    *,
    languages: LanguageLabel | None = None,
    lengths: TokenLengths | None = None,
    metrics: bool = True,
) -> beam.ParDo:
    """The step from `SegmentBatch` to `BatchStatistics`, with the arguments of `CountMatches`."""
    counting = CountMatches(
        text, counter, threads, languages=languages, lengths=lengths, metrics=metrics
    )
    return giving_batches(step(counting), BatchStatistics)


class CountMatches(ThreadedDoFn):
    """Maps each `SegmentBatch` to its `BatchStatistics`.

    With `languages`, each segment has the tokenizer of its language, if the metric has tokens of
    languages. The library and the code of a tokenizer are loaded when a segment needs it, because
    no one knows before which ones occur.

    The Beam counters are for consoles. If Beam runs a batch again, they count it again. So the
    counters in the result come from the sums. If a pipeline counts the same segments by several
    definitions, only one step may change the counters: the others are made with `metrics=False`.
    """

    def __init__(
        self,
        text: Text,
        counter: Counter,
        threads: int,
        *,
        languages: LanguageLabel | None = None,
        lengths: TokenLengths | None = None,
        metrics: bool = True,
    ) -> None:
        super().__init__(threads)
        self._lengths = lengths
        self._languages = languages
        self._metrics = metrics
        self._text = text
        self._counter = counter
        self._console = _ConsoleCounters()

    def setup(self) -> None:
        super().setup()
        # Once in a worker, before its first batch. If a batch waited for the compiler, an engine
        # could think that the worker hangs.
        prepare_counting(self._text, self._counter)
        if self._lengths is not None:
            prepare_counting(self._lengths.text, self._lengths.counter)

    def work(self, batch: SegmentBatch) -> Iterable[BatchStatistics]:
        statistics = self._counted(batch, self._text, self._counter)
        if self._lengths is not None:
            measured = self._counted(batch, self._lengths.text, self._lengths.counter)
            statistics = dataclasses.replace(statistics, lengths=measured.lengths)
        return [statistics]

    def _counted(self, batch: SegmentBatch, text: Text, counter: Counter) -> BatchStatistics:
        if self._languages is None:
            return count_batch(batch, text, counter)
        return count_by_language(batch, self._languages, text, counter)

    def emitted(self, statistics: BatchStatistics) -> None:
        if self._metrics:
            self._console.add(statistics)


def count_metrics(counted: Sequence[tuple[Text, Counter]]) -> beam.ParDo:
    """The step from `SegmentBatch` to `MetricStatistics`.

    Args:
      counted: for each metric the steps from a text to its tokens, and what counts its columns.
    """
    return giving_batches(CountMetrics(counted), MetricStatistics)


class CountMetrics(ThreadedDoFn):
    """Maps each `SegmentBatch` to its `MetricStatistics`, on one thread.

    The Beam counters are those of the first metric; see `CountMatches`.
    """

    def __init__(self, counted: Sequence[tuple[Text, Counter]]) -> None:
        super().__init__(threads=1)
        self._counted = tuple(counted)
        self._console = _ConsoleCounters()

    def setup(self) -> None:
        super().setup()
        for text, counter in self._counted:
            prepare_counting(text, counter)

    def work(self, batch: SegmentBatch) -> Iterable[MetricStatistics]:
        return [
            MetricStatistics(
                tuple(count_batch(batch, text, counter) for text, counter in self._counted)
            )
        ]

    def emitted(self, statistics: MetricStatistics) -> None:
        self._console.add(statistics.metrics[0])


class _ConsoleCounters:
    """The Beam counters that a step changes."""

    def __init__(self) -> None:
        self._segments = Metrics.counter("beam_bleu", "segments")
        self._empty_candidates = Metrics.counter("beam_bleu", "empty_candidates")
        self._bytes = Metrics.counter("beam_bleu", "bytes")

    def add(self, statistics: BatchStatistics) -> None:
        self._segments.inc(len(statistics))
        self._empty_candidates.inc(statistics.empty_candidates)
        self._bytes.inc(statistics.text_bytes)


def check_documents(
    batches: PCollection[SegmentBatch], label: DocumentLabel, step: Step = unchanged
) -> PCollection[SegmentBatch]:
    """Adds the step that fails with an `InputError` if a segment has no document.

    Beam fuses it with the steps before and after it.
    """
    return batches | "Check documents" >> giving_batches(step(_CheckDocuments(label)), SegmentBatch)


class _CheckDocuments(beam.DoFn):
    def __init__(self, label: DocumentLabel) -> None:
        self._label = label

    def process(self, batch: SegmentBatch) -> Iterator[SegmentBatch]:
        require_documents(batch, self._label)
        yield batch
