"""The library's transform: BLEU of a PCollection of segments, in anybody's pipeline."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from transforms.config import BleuConfig
from transforms.pairing.segments import Segment, batch_segments
from transforms.score.bleu import BleuScore, bleu_score
from transforms.statistics.count_matches import SegmentCounters
from transforms.statistics.kernel import count_batch
from transforms.totals.corpus_totals import CorpusTotals
from transforms.totals.sum_totals import SumTotals

__all__ = ["CorpusBleu"]

_BATCH_SEGMENTS = 2048
_BATCH_CHARACTERS = 1 << 22


class CorpusBleu:
    """BLEU of a corpus of segments `(candidate, [reference, ...])`.

        How many references segments have may differ; a reference that is None is
        missing, and a segment needs at least one. Segments are batched internally
        and counted by the compiled kernel. Works under any windowing and trigger;
        an empty input (or window) yields no element.

    Example:
      >>> import apache_beam as beam
      >>> from transforms import BleuConfig, CorpusBleu
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusBleu.Globally(BleuConfig(lowercase=True))
      ...         | beam.Map(lambda bleu: print(f"{bleu.score:.2f} {bleu.matches}"))
      ...     )
      75.98 (5, 4, 3, 2)
    """

    class Globally(beam.PTransform):
        """PCollection of segments -> PCollection of one `BleuScore`."""

        def __init__(self, config: BleuConfig | None = None) -> None:
            super().__init__()
            self._config = config or BleuConfig()

        def expand(self, segments: PCollection[Segment]) -> PCollection[BleuScore]:
            return (
                segments
                | "Count matches" >> beam.ParDo(_CountSegments(self._config, keyed=False))
                | "Drop the key" >> beam.Values()
                | "Add up totals"
                >> beam.CombineGlobally(SumTotals(self._config.max_ngram_order)).without_defaults()
                | "Score" >> beam.Map(bleu_score, self._config)
            )

    class PerKey(beam.PTransform):
        """PCollection of (key, segment) -> PCollection of (key, `BleuScore`)."""

        def __init__(self, config: BleuConfig | None = None) -> None:
            super().__init__()
            self._config = config or BleuConfig()

        def expand(
            self, segments: PCollection[tuple[Any, Segment]]
        ) -> PCollection[tuple[Any, BleuScore]]:
            # The key keeps its type, and so its coder.
            key_type = _key_type(segments.element_type)
            return (
                segments
                | "Count matches"
                >> beam.ParDo(_CountSegments(self._config, keyed=True)).with_output_types(
                    typehints.Tuple[key_type, CorpusTotals]
                )
                | "Add up totals" >> beam.CombinePerKey(SumTotals(self._config.max_ngram_order))
                | "Score"
                >> beam.MapTuple(
                    functools.partial(_score_of_key, config=self._config)
                ).with_output_types(typehints.Tuple[key_type, BleuScore])
            )


def _key_type(element_type: Any) -> Any:
    is_pair = isinstance(element_type, typehints.TupleConstraint)
    return element_type.tuple_types[0] if is_pair else Any


def _score_of_key(key: Any, totals: CorpusTotals, config: BleuConfig) -> tuple[Any, BleuScore]:
    return key, bleu_score(totals, config)


class _CountSegments(beam.DoFn):
    """Gathers segments, counts them together and emits (key, `CorpusTotals`).

    Segments of several keys and windows share a batch; neighbours of the same
    key and window are added up before they leave.
    """

    def __init__(self, config: BleuConfig, keyed: bool) -> None:
        self._config = config
        self._keyed = keyed
        self._counters = SegmentCounters()

    def start_bundle(self) -> None:
        self._segments: list[Segment] = []
        self._places: list[tuple[Any, Any, Any]] = []  # (key, window, timestamp) of each
        self._characters = 0

    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Iterator[WindowedValue]:
        key, segment = element if self._keyed else (None, element)
        self._segments.append(segment)
        self._places.append((key, window, timestamp))
        self._characters += _characters(segment)
        if len(self._segments) >= _BATCH_SEGMENTS or self._characters >= _BATCH_CHARACTERS:
            yield from self._flush()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._segments:
            yield from self._flush()

    def _flush(self) -> Iterator[WindowedValue]:
        statistics = count_batch(batch_segments(self._segments), self._config)
        self._counters.count(statistics)
        row = 0
        for (key, window), run in itertools.groupby(self._places, key=lambda place: place[:2]):
            timestamps = [timestamp for _, _, timestamp in run]
            rows = slice(row, row := row + len(timestamps))
            totals = CorpusTotals.of(statistics, 0, rows)
            yield WindowedValue((key, totals), min(timestamps), (window,))
        self.start_bundle()


def _characters(segment: Segment) -> int:
    """The length of a segment's texts; 0 where the form is wrong, which batching will tell."""
    try:
        candidate, references = segment
        return len(candidate) + sum(len(reference or "") for reference in references)
    except (TypeError, ValueError):
        return 0
