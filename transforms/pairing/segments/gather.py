"""Wires a PCollection of segments to Beam: single elements become batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.transforms.trigger import DefaultTrigger
from apache_beam.transforms.window import TimestampCombiner
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.pairing.batch import RowGroup, SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch, to_batch_of_systems
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
      systems: the names of the systems whose candidates each segment has by name; None if each
        segment is `(candidate, references)` of one system.
    """

    def __init__(self, keyed: bool, systems: tuple[str, ...] | None = None) -> None:
        super().__init__()
        self._keyed = keyed
        self._systems = systems

    def expand(self, segments: PCollection[Any]) -> PCollection[SegmentBatch]:
        return segments | "Fill batches" >> giving_batches(
            _Gather(self._keyed, _one_by_one(segments), self._systems), SegmentBatch
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

    def __init__(self, keyed: bool, one_by_one: bool, systems: tuple[str, ...] | None) -> None:
        self._keyed = keyed
        self._systems = systems
        self._one_by_one = one_by_one

    def start_bundle(self) -> None:
        self._segments: list[Any] = []
        self._characters = 0
        self._groups: list[RowGroup] = []  # those that have ended
        self._place: tuple[Any, Any, Any] | None = None  # (key, window, timestamp) of the next one
        self._start = 0  # its first row

    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Iterator[WindowedValue]:
        key, segment = element if self._keyed else (None, element)
        place = key, window, timestamp
        if self._place is None or self._one_by_one or place[:2] != self._place[:2]:
            self._end_group()
            self._place = place
        self._segments.append(segment)
        self._characters += _characters(segment)
        if len(self._segments) >= _BATCH_SEGMENTS or self._characters >= _BATCH_CHARACTERS:
            yield self._batch()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._segments:
            yield self._batch()

    def _end_group(self) -> None:
        if self._place is not None:
            self._groups.append(RowGroup(self._start, len(self._segments), *self._place))
            self._start = len(self._segments)

    def _batch(self) -> WindowedValue:
        self._end_group()
        groups = tuple(self._groups)
        if self._systems is None:
            batch = to_batch(self._segments, groups)
        else:
            batch = to_batch_of_systems(self._segments, self._systems, groups)
        # Beam needs a window and a time for the batch, too. The sums have those of the groups;
        # with the earliest one, no group is later than the batch that holds it.
        earliest = min(self._groups, key=lambda group: group.timestamp)
        self.start_bundle()
        return WindowedValue(batch, earliest.timestamp, (earliest.window,))


def _characters(segment: Any) -> int:
    """The length of a segment's texts; 0 if its form is wrong (then batching raises an error)."""
    try:
        candidate, references = segment
        candidates = candidate.values() if isinstance(candidate, Mapping) else [candidate]
        return sum(map(len, candidates)) + sum(len(reference or "") for reference in references)
    except (TypeError, ValueError):
        return 0
