"""The library's transform: BLEU of a PCollection of segments, in anybody's pipeline."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.transforms.trigger import DefaultTrigger
from apache_beam.transforms.window import TimestampCombiner
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.scoring import Scoring, counted_order
from beam_bleu.transforms.definition.text import Text, TextName
from beam_bleu.transforms.pairing.records.segments import Segment, batch_segments
from beam_bleu.transforms.score.bleu import BleuScore, bleu_score
from beam_bleu.transforms.statistics.count_matches import SegmentCounters
from beam_bleu.transforms.statistics.kernel import compile_kernel, count_batch
from beam_bleu.transforms.statistics.library_tokenizers import require_tokenizer
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals
from beam_bleu.transforms.totals.sum_totals import SumTotals

__all__ = ["CorpusBleu"]

_BATCH_SEGMENTS = 2048
_BATCH_CHARACTERS = 1 << 22


class CorpusBleu:
    """BLEU of a corpus of segments `(candidate, [reference, ...])`.

    How many references segments have may differ; a reference that is None is
    missing, and a segment needs at least one. Segments are batched internally
    and counted by the compiled kernel. Works under any windowing and trigger;
    an empty input (or window) yields no element. A tokenizer of another
    library must be installed where the pipeline is made and where it runs.

    Example:
      >>> import apache_beam as beam
      >>> from beam_bleu.transforms import BleuConfig, CorpusBleu
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
            self._config = _checked(config)

        def expand(self, segments: PCollection[Segment]) -> PCollection[BleuScore]:
            order = counted_order([self._config.scoring])
            count = _CountSegments(
                self._config.text, order, keyed=False, one_by_one=_one_by_one(segments)
            )
            add_up = beam.CombineGlobally(SumTotals(order))
            return (
                segments
                | "Count matches" >> beam.ParDo(count)
                | "Add up totals" >> add_up.without_defaults()
                | "Score" >> beam.Map(bleu_score, self._config.text.name, self._config.scoring)
            )

    class PerKey(beam.PTransform):
        """PCollection of (key, segment) -> PCollection of (key, `BleuScore`)."""

        def __init__(self, config: BleuConfig | None = None) -> None:
            super().__init__()
            self._config = _checked(config)

        def expand(
            self, segments: PCollection[tuple[Any, Segment]]
        ) -> PCollection[tuple[Any, BleuScore]]:
            order = counted_order([self._config.scoring])
            count = _CountSegments(
                self._config.text, order, keyed=True, one_by_one=_one_by_one(segments)
            )
            score = functools.partial(
                _score_of_key, text=self._config.text.name, scoring=self._config.scoring
            )
            # The key keeps its type, and so its coder.
            key_type = _key_type(segments.element_type)
            return (
                segments
                | "Count matches"
                >> beam.ParDo(count).with_output_types(typehints.Tuple[key_type, CorpusTotals])
                | "Add up totals" >> beam.CombinePerKey(SumTotals(order))
                | "Score"
                >> beam.MapTuple(score).with_output_types(typehints.Tuple[key_type, BleuScore])
            )


def _checked(config: BleuConfig | None) -> BleuConfig:
    """The config, or the default one: it is for a corpus, and what its tokenizer needs is here."""
    if config is None:
        config = BleuConfig()
    elif not isinstance(config, BleuConfig):
        raise ValueError(
            f"config must be a BleuConfig, got {config!r}, of type {type(config).__name__}"
        )
    config.scoring.require_corpus()
    require_tokenizer(config.text)
    return config


def _one_by_one(segments: PCollection[Any]) -> bool:
    """Whether each segment must be emitted for itself, because Beam counts or dates elements."""
    windowing = segments.windowing
    return not (
        isinstance(windowing.triggerfn, DefaultTrigger)
        and windowing.timestamp_combiner == TimestampCombiner.OUTPUT_AT_EOW
    )


def _key_type(element_type: Any) -> Any:
    is_pair = isinstance(element_type, typehints.TupleConstraint)
    return element_type.tuple_types[0] if is_pair else Any


def _score_of_key(
    key: Any, totals: CorpusTotals, text: TextName, scoring: Scoring
) -> tuple[Any, BleuScore]:
    return key, bleu_score(totals, text, scoring)


class _CountSegments(beam.DoFn):
    """Gathers segments, counts them together and emits `CorpusTotals`, with their key if any.

    Segments of several keys and windows share a batch; neighbours of the same
    key and window are added up before they leave, unless `one_by_one`.
    """

    def __init__(self, text: Text, max_order: int, keyed: bool, one_by_one: bool) -> None:
        self._text = text
        self._max_order = max_order
        self._keyed = keyed
        self._one_by_one = one_by_one
        self._counters = SegmentCounters()

    def setup(self) -> None:
        compile_kernel(self._text)

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
        statistics = count_batch(batch_segments(self._segments), self._text, self._max_order)
        self._counters.count(statistics)
        for rows, (key, window, timestamp) in self._runs():
            totals = CorpusTotals.of(statistics, 0, rows)
            output = (key, totals) if self._keyed else totals
            yield WindowedValue(output, timestamp, (window,))
        self.start_bundle()

    def _runs(self) -> Iterator[tuple[slice, tuple[Any, Any, Any]]]:
        """The rows that are emitted together, and their (key, window, timestamp)."""
        if self._one_by_one:
            for row, place in enumerate(self._places):
                yield slice(row, row + 1), place
            return
        stop = 0
        for _, run in itertools.groupby(self._places, key=lambda place: place[:2]):
            places = list(run)
            start, stop = stop, stop + len(places)
            yield slice(start, stop), places[0]


def _characters(segment: Segment) -> int:
    """The length of a segment's texts; 0 where the form is wrong, which batching will tell."""
    try:
        candidate, references = segment
        return len(candidate) + sum(len(reference or "") for reference in references)
    except (TypeError, ValueError):
        return 0
