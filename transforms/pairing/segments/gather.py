"""Wires a PCollection of segments to Beam: single elements become batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.coders import Coder
from apache_beam.coders.typecoders import registry
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindow, GlobalWindows, TimestampCombiner
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns, table_batches
from beam_bleu.transforms.pairing.segments.batching import GatheredSegments, pair_of
from beam_bleu.transforms.wiring.steps import giving_batches

__all__ = ["GatherSegments", "tuple_parts"]


class GatherSegments(beam.PTransform):
    """PCollection of segments, of (key, segment), or of tables -> PCollection of `SegmentBatch`, in
    which several keys and windows are groups of rows.
    """

    def __init__(
        self,
        keyed: bool,
        systems: tuple[str, ...] | None = None,
        columns: ArrowColumns | None = None,
        *,
        of_segments: bool = False,
    ) -> None:
        super().__init__()
        if columns is not None:
            if not isinstance(columns, ArrowColumns):
                raise ValueError(f"columns must be ArrowColumns, got {columns!r}")
            columns.require(keyed=keyed, systems=systems, of_segments=of_segments)
        self._keyed = keyed
        self._systems = systems
        self._columns = columns

    def key_type(self, segments: PCollection[Any]) -> Any:
        if not self._keyed:
            return None
        parts = tuple_parts(segments.element_type)
        return parts[0] if parts else Any

    def expand(self, segments: PCollection[Any]) -> PCollection[SegmentBatch]:
        if self._columns is not None:
            # A table has one window and one time, and so do its sums.
            cutting = _CutTables(self._columns, self._systems)
            return segments | "Cut tables" >> giving_batches(cutting, SegmentBatch)
        by: type[_GatherByKey] = _GatherByKeyAndWindow
        if _one_by_one(segments):
            by = _GatherOneByOne
        elif isinstance(segments.windowing.windowfn, GlobalWindows):
            by = _GatherByKey
        coder = registry.get_coder(self.key_type(segments)) if self._keyed else None
        gather = by(coder, self._systems)
        return segments | "Fill batches" >> giving_batches(gather, SegmentBatch)


def tuple_parts(element_type: Any) -> tuple[Any, ...]:
    is_tuple = isinstance(element_type, typehints.TupleConstraint)
    return tuple(element_type.tuple_types) if is_tuple else ()


def _one_by_one(segments: PCollection[Any]) -> bool:
    """Whether a trigger or a timestamp combiner needs sums of each segment, which takes long."""
    windowing = segments.windowing
    return (
        "element_count" in str(windowing.triggerfn.to_runner_api(None))
        or windowing.timestamp_combiner != TimestampCombiner.OUTPUT_AT_EOW
    )


@dataclasses.dataclass(eq=False, repr=False)
class _CutTables(beam.DoFn):
    columns: ArrowColumns
    systems: tuple[str, ...] | None

    def process(self, table: Any) -> Iterator[SegmentBatch]:
        return table_batches(table, self.columns, self.systems)


_GLOBAL = GlobalWindow()


class _GatherByKey(beam.DoFn):
    """Gathers the segments of a bundle in groups of one key, in the global window.

    Keys are the same here if their coder makes the same bytes of them, so they need not be
    hashable. Beam takes long to tell the window and time of each segment, so sums are dated by the
    end of their window. Methods return lists, because a generator takes more time.
    """

    def __init__(self, coder: Coder | None, systems: tuple[str, ...] | None) -> None:
        self._coder = coder
        self._systems = systems

    def start_bundle(self) -> None:
        self._segments = GatheredSegments(self._systems)
        self._groups: list[tuple[Any, Any, Any]] = []  # the key, window and timestamp of each
        self._groups_of_segments: list[int] = []
        self._numbers: dict[Hashable, int] = {}

    def process(self, element: Any) -> Sequence[WindowedValue]:
        key, segment = self._parts(element)
        return self._add(segment, self._place(key), key, _GLOBAL)

    def finish_bundle(self) -> Sequence[WindowedValue]:
        return self._batches() if self._groups else ()

    def _parts(self, element: Any) -> tuple[Any, Any]:
        if self._coder is None:
            return None, element
        return pair_of(element, "an element is (key, segment)")

    def _place(self, key: Any) -> Any:
        return key if type(key) is str or self._coder is None else self._coder.encode(key)

    def _add(
        self, segment: Any, place: Hashable, key: Any, window: Any, timestamp: Any = None
    ) -> Sequence[WindowedValue]:
        """Gives the batches once they are full. By default, sums are dated by the window's end."""
        self._segments.add(segment)
        group = self._numbers.get(place)
        if group is None:
            group = self._numbers[place] = len(self._groups)
            time = window.max_timestamp() if timestamp is None else timestamp
            self._groups.append((key, window, time))
        self._groups_of_segments.append(group)
        return self._batches() if self._segments.is_full else ()

    def _batches(self) -> Sequence[WindowedValue]:
        batches = []
        numbers = np.array(self._groups_of_segments)
        for batch in self._segments.batches(numbers, self._groups):
            # Beam needs a window and a time for the batch, too. The sums have those of the groups;
            # with the earliest one, no group is later than the batch that holds it.
            earliest = min(batch.groups, key=lambda group: group.timestamp)
            batches.append(WindowedValue(batch, earliest.timestamp, (earliest.window,)))
        self.start_bundle()
        return batches


class _GatherByKeyAndWindow(_GatherByKey):
    def process(self, element: Any, window: Any = beam.DoFn.WindowParam) -> Sequence[WindowedValue]:
        key, segment = self._parts(element)
        return self._add(segment, (self._place(key), window), key, window)


class _GatherOneByOne(_GatherByKey):
    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Sequence[WindowedValue]:
        key, segment = self._parts(element)
        return self._add(segment, object(), key, window, timestamp)
