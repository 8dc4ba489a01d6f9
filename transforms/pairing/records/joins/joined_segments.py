"""The segments of a bucket as columns, and the batches that are made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Booleans, Floats, Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import Places, SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.records.joins.row_messages import PATH, PLACE, PLACE_KIND


@dataclasses.dataclass(frozen=True)
class JoinedColumn:
    """A column of a table, and for each segment its row there."""

    values: pa.Array
    rows: Integers

    def of(self, segments: Integers) -> pa.Array:
        return self.values.take(pa.array(self.rows[segments]))


@dataclasses.dataclass(frozen=True)
class JoinedPlaces:
    """A table of rows, and for each segment its row there."""

    table: pa.Table
    rows: Integers

    def of(self, segments: Integers) -> Places:
        paths, kinds, numbers = (self.table[name].chunk(0) for name in (PATH, PLACE_KIND, PLACE))
        return Places(paths, kinds, numbers).take(pa.array(self.rows[segments]))


@dataclasses.dataclass(frozen=True)
class JoinedSegments:
    """The segments of a bucket, in the order of their numbers.

    Attributes:
      numbers: int64 (segments,), their numbers.
      references: the columns of references; None for one that has no texts here.
      labels: the columns of labels.
      places: where the labels are; None if there are none.
      candidates: the column of each system; None if the system has none of these segments, or no
        texts are read.
      systems: the systems' names.
      values: for each column of numbers that of each system; None as above.
      kept: the columns that are kept, by their names.
    """

    numbers: Integers
    references: list[JoinedColumn | None]
    labels: list[JoinedColumn]
    places: JoinedPlaces | None
    candidates: list[JoinedColumn | None]
    systems: tuple[str, ...]
    values: Mapping[ValueColumn, Sequence[JoinedColumn | None]]
    kept: Mapping[str, JoinedColumn]

    def batches(self, scored: Booleans) -> Iterator[SegmentBatch]:
        """The batches of segments, for each set of systems that are scored on a segment.

        Args:
          scored: bool (systems, segments).
        """
        if not scored.size:
            return
        if scored.all():  # the usual case, without a sort
            yield from self._batches_of(np.arange(scored.shape[1]), range(len(self.systems)))
            return
        packed = np.ascontiguousarray(np.packbits(scored, axis=0).T)
        _, set_of = np.unique(packed, axis=0, return_inverse=True)
        order = np.argsort(set_of, kind="stable")
        for segments in np.split(order, np.flatnonzero(np.diff(set_of[order])) + 1):
            systems = np.flatnonzero(scored[:, segments[0]]).tolist()
            if systems:
                yield from self._batches_of(segments, systems)

    def _batches_of(self, segments: Integers, systems: Sequence[int]) -> Iterator[SegmentBatch]:
        rows = usual_rows(len(self.references) + len(systems))
        columns = [self.candidates[system] for system in systems]
        names = tuple(self.systems[system] for system in systems)
        for begin in range(0, len(segments), rows):
            part = segments[begin : begin + rows]
            references = [_texts(column, part) for column in self.references]
            # Only at the end: the others must keep their numbers, whatever the other segments are.
            while len(references) > 1 and references[-1].null_count == len(part):
                references.pop()
            yield SegmentBatch(
                tuple(padded(column.of(part)) for column in columns if column is not None),
                tuple(references),
                self.numbers[part],
                systems=names,
                labels=tuple(column.of(part) for column in self.labels),
                label_places=self._places_of(part),
                values={
                    column: np.stack([_numbers(of_systems[system], part) for system in systems])
                    for column, of_systems in self.values.items()
                },
                kept={name: column.of(part) for name, column in self.kept.items()},
            )

    def _places_of(self, segments: Integers) -> tuple[Places, ...]:
        if self.places is None or not self.labels:
            return ()
        places = self.places.of(segments)
        return tuple(places for _ in self.labels)


def _numbers(column: JoinedColumn | None, segments: Integers) -> Floats:
    assert column is not None  # a system that is scored has these segments
    numbers: Floats = column.of(segments).to_numpy()
    return numbers


def _texts(column: JoinedColumn | None, segments: Integers) -> pa.LargeStringArray:
    if column is None:
        return padded(pa.nulls(len(segments), pa.large_string()))
    return padded(column.of(segments))
