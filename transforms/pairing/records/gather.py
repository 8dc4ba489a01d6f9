"""Wires a PCollection of segments to Beam: single elements become batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.transforms.trigger import DefaultTrigger
from apache_beam.transforms.window import TimestampCombiner
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.pairing.batch import RowGroup, SegmentBatch
from beam_bleu.transforms.pairing.records.batching import Segment, to_batch
from beam_bleu.transforms.wiring.coders import giving_batches

__all__ = ["GatherSegments"]

_BATCH_SEGMENTS = 2048
_BATCH_CHARACTERS = 1 << 22


class GatherSegments(beam.PTransform):
    """PCollection of segments, or of (key, segment) -> PCollection of `SegmentBatch`.

    Segments of several keys and windows share a batch. The batch's groups say which key its
    rows have, and to which window their sums belong.

    Args:
      keyed: whether segments have keys.
    """

    def __init__(self, keyed: bool) -> None:
        super().__init__()
        self._keyed = keyed

    def expand(self, segments: PCollection[Any]) -> PCollection[SegmentBatch]:
        return segments | "Fill batches" >> giving_batches(
            _Gather(self._keyed, _one_by_one(segments)), SegmentBatch
        )


def _one_by_one(segments: PCollection[Any]) -> bool:
    """Whether each segment must have sums of its own.

    A trigger can count elements, and a timestamp combiner can use the time of each one.
    """
    windowing = segments.windowing
    return not (
        isinstance(windowing.triggerfn, DefaultTrigger)
        and windowing.timestamp_combiner == TimestampCombiner.OUTPUT_AT_EOW
    )


class _Gather(beam.DoFn):
    """Gathers the segments of a bundle.

    Neighbours of the same key and window are one group, unless `one_by_one`.
    """

    def __init__(self, keyed: bool, one_by_one: bool) -> None:
        self._keyed = keyed
        self._one_by_one = one_by_one

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
            yield self._batch()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._segments:
            yield self._batch()

    def _batch(self) -> WindowedValue:
        batch = to_batch(self._segments, tuple(self._groups()))
        # Beam needs a window for the batch, too. The groups have the windows of the sums.
        _, window, timestamp = self._places[0]
        self.start_bundle()
        return WindowedValue(batch, timestamp, (window,))

    def _groups(self) -> Iterator[RowGroup]:
        if self._one_by_one:
            for row, (key, window, timestamp) in enumerate(self._places):
                yield RowGroup(slice(row, row + 1), key, (window, timestamp))
            return
        stop = 0
        for _, run in itertools.groupby(self._places, key=lambda place: place[:2]):
            places = list(run)
            key, window, timestamp = places[0]
            start, stop = stop, stop + len(places)
            yield RowGroup(slice(start, stop), key, (window, timestamp))


def _characters(segment: Segment) -> int:
    """The length of a segment's texts; 0 if its form is wrong (then batching raises an error)."""
    try:
        candidate, references = segment
        return len(candidate) + sum(len(reference or "") for reference in references)
    except (TypeError, ValueError):
        return 0
