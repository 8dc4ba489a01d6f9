"""Wires to Beam what is done with each batch of segments: a check of documents, and counting."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.metrics.metric import Metrics
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import (
    BatchStatistics,
    BatchTexts,
    MetricStatistics,
)
from beam_bleu.transforms.statistics.counting import PreparedBatch, prepare_counting
from beam_bleu.transforms.statistics.segment_labels import (
    SegmentLabel,
    count_by_language,
    require_documents,
)
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.wiring.steps import Step, giving_batches, unchanged
from beam_bleu.transforms.wiring.sums import Sums
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = [
    "CountMatches",
    "Pick",
    "check_documents",
    "count_matches",
]


class Picking(Protocol):
    """Picks segments of the batches of a bundle."""

    def __call__(self, batch: SegmentBatch, counted: Sequence[BatchStatistics]) -> Sums:
        """What is picked of a batch with these statistics. Several threads can call it."""


class Pick(Protocol):
    """Says how segments are picked to be shown. It is sent to workers."""

    def prepare(self) -> None:
        """Prepares this process for its first batch."""

    def begin(self) -> Picking:
        """Begins with a bundle. What is picked of its batches is added up, or all of it is lost."""


def count_matches(
    counted: Sequence[tuple[Text, Metric]], threads: int, step: Step = unchanged, **options: Any
) -> beam.ParDo:
    """The step from `SegmentBatch` to `MetricStatistics`, with the arguments of `CountMatches`."""
    return giving_batches(step(CountMatches(counted, threads, **options)), MetricStatistics)


class CountMatches(ThreadedDoFn):
    """Maps each `SegmentBatch` to its `MetricStatistics`.

    The texts are prepared once for all metrics. With `languages`, each segment has the tokenizer of
    its language, if the metric has tokens of languages. The library and the code of a tokenizer are
    loaded when a segment needs it, because no one knows before which ones occur.

    The Beam counters are for consoles. If Beam runs a batch again, they count it again. So the
    counters in the result come from the sums.

    Args:
      counted: each metric, with the steps from a text to its tokens.
      threads: the number of threads.
      languages: where the segments have their languages; None if all have the same tokenizer.
      lengths: a metric whose columns tell the lengths of segments in tokens, for the metrics whose
        columns do not, with its steps; None if they are not needed.
      keep_texts: whether the statistics have the texts, for the scores of segments.
      on_consoles: the metric whose empty candidates the Beam counters count.
      pick: picks segments to be shown; None if none are. It is called here, because this is the
        last step that has texts.
    """

    def __init__(
        self,
        counted: Sequence[tuple[Text, Metric]],
        threads: int,
        *,
        languages: SegmentLabel | None = None,
        lengths: tuple[Text, Metric] | None = None,
        keep_texts: bool = False,
        on_consoles: int = 0,
        pick: Pick | None = None,
    ) -> None:
        super().__init__(threads)
        self._counted = tuple(counted)
        self._languages = languages
        self._lengths = lengths
        self._keep_texts = keep_texts
        self._on_consoles = on_consoles
        self._pick = pick
        self._picking: Picking | None = None
        self._counters = {
            name: Metrics.counter("beam_bleu", name)
            for name in ("segments", "empty_candidates", "bytes")
        }

    def setup(self) -> None:
        super().setup()
        # Once in a worker, before its first batch. If a batch waited for the compiler, an engine
        # could think that the worker hangs.
        for text, metric in (*self._counted, *([self._lengths] if self._lengths else [])):
            prepare_counting(text, metric)
        if self._pick is not None:
            self._pick.prepare()

    def start_bundle(self) -> None:
        super().start_bundle()
        if self._pick is not None:
            self._picking = self._pick.begin()

    def work(self, batch: SegmentBatch) -> Iterable[Any]:
        return [MetricStatistics(self._all_counted(batch))]

    def _outputs(self, batch: SegmentBatch) -> Iterator[Any]:
        if self._picking is None:
            return super()._outputs(batch)
        # That of this bundle, even if a thread begins with the batch after the bundle has failed.
        return self._with_picked(batch, self._picking)

    def _with_picked(self, batch: SegmentBatch, picking: Picking) -> Iterator[MetricStatistics]:
        for statistics in self.work(batch):
            picked = picking(batch, statistics.metrics)
            yield dataclasses.replace(statistics, picked=picked)

    def emitted(self, statistics: Any) -> None:
        counted = statistics.metrics[self._on_consoles]
        self._counters["segments"].inc(len(counted))
        self._counters["empty_candidates"].inc(counted.empty_candidates)
        self._counters["bytes"].inc(counted.text_bytes)

    def _all_counted(self, batch: SegmentBatch) -> tuple[BatchStatistics, ...]:
        prepared = PreparedBatch(batch)
        counted = [self._one_counted(prepared, *counted) for counted in self._counted]
        if self._lengths is not None:
            lengths = self._all_lengths(prepared, counted, self._lengths)
            counted = [
                dataclasses.replace(of_metric, lengths=of_segments)
                for of_metric, of_segments in zip(counted, lengths, strict=True)
            ]
        if self._keep_texts:
            texts = BatchTexts(batch.candidates, batch.references)
            counted = [dataclasses.replace(of_metric, texts=texts) for of_metric in counted]
        return tuple(counted)

    def _all_lengths(
        self,
        prepared: PreparedBatch,
        counted: Sequence[BatchStatistics],
        others: tuple[Text, Metric],
    ) -> list[Integers | None]:
        """The lengths of segments for each metric: its own ones, or those of `others`."""
        own = [
            metric.reference_lengths(of_metric.counts)
            for (_, metric), of_metric in zip(self._counted, counted, strict=True)
        ]
        if all(lengths is not None for lengths in own):
            return own
        _, metric = others
        of_others = metric.reference_lengths(self._one_counted(prepared, *others).counts)
        return [of_others if lengths is None else lengths for lengths in own]

    def _one_counted(self, prepared: PreparedBatch, text: Text, metric: Metric) -> BatchStatistics:
        if self._languages is None:
            return prepared.count(text, metric)
        return count_by_language(prepared, self._languages, text, metric)


def check_documents(
    batches: PCollection[SegmentBatch], label: SegmentLabel, step: Step = unchanged
) -> PCollection[SegmentBatch]:
    """Adds the step that fails with an `InputError` if a segment has no document.

    Beam fuses it with the steps before and after it.
    """
    return batches | "Check documents" >> giving_batches(step(_CheckDocuments(label)), SegmentBatch)


class _CheckDocuments(beam.DoFn):
    def __init__(self, label: SegmentLabel) -> None:
        self._label = label

    def process(self, batch: SegmentBatch) -> Iterator[SegmentBatch]:
        require_documents(batch, self._label)
        yield batch
