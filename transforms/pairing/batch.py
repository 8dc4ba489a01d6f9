"""A batch of aligned segments: the element that sources give and that the kernel counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.needs import ValueColumn

# Whatever its size, a batch costs a few hand-overs between threads, and some time in Python.
# Batches larger than these would take more memory (see docs/performance.md).
_USUAL_ROWS = 32768
_USUAL_TEXTS = 65536


def usual_rows(columns: int) -> int:
    """How many rows a batch from files has: fewer for more columns of text, to bound the memory."""
    return min(_USUAL_ROWS, max(_USUAL_TEXTS // columns, 1))


def even_rows(lines: int, columns: int) -> int:
    """The rows of a portion's batches, all of about equal size: a small last one costs memory."""
    usual = usual_rows(columns)
    batches = max(-(-8 * lines // (9 * usual)), 1)
    return -(-lines // batches)


KEPT_ID = "id"  # the name of the segments' ids in `SegmentBatch.kept`, if they have ids


class RowGroup(NamedTuple):
    """Neighbouring rows of a batch that are added up together, to its end if `stop` is None."""

    start: int
    stop: int | None
    key: Any = None
    window: Any = None
    timestamp: Any = None

    @property
    def rows(self) -> slice:
        return slice(self.start, self.stop)


ALL_ROWS = (RowGroup(0, None),)  # the groups of a batch whose rows are all added up together


@dataclasses.dataclass(frozen=True)
class Places:
    paths: pa.DictionaryArray
    kinds: pa.DictionaryArray
    numbers: pa.Int64Array

    @classmethod
    def in_files(
        cls, paths: Sequence[str], kind: str, files: Integers, numbers: Integers
    ) -> Places:
        same = pa.array(np.zeros(len(files), np.int32))
        return cls(
            pa.DictionaryArray.from_arrays(pa.array(files, pa.int32()), paths),
            pa.DictionaryArray.from_arrays(same, [kind]),
            pa.array(numbers, pa.int64()),
        )

    def of(self, row: int) -> str:
        return f"{self.paths[row]} {self.kinds[row]} {self.numbers[row]}"

    def take(self, rows: pa.Array) -> Places:
        return Places(self.paths.take(rows), self.kinds.take(rows), self.numbers.take(rows))


@dataclasses.dataclass(frozen=True)
class SegmentBatch:
    """Rows of aligned segments, at least one, column by column.

    Attributes:
      candidates: one column per system, without nulls; none at all if no metric needs texts.
      references: a null where a segment has fewer references than others (an empty string is one).
      numbers: int64 (rows,), the number of each row's segment in the input, from 0.
      references_per_line: how many neighbouring references are fields of one line. Only the last
        one of them ends where the line ends.
      labels: the values by which a segment belongs to slices; null is one (`label_column`).
      label_places: where the values of each label are; empty if they come from no files.
      values: float64 (systems, rows), finite, and between the bounds of signed fixed point.
      kept: columns that go into the scores of segments. Joined and long records have `id` first.
    """

    candidates: tuple[pa.LargeStringArray, ...]
    references: tuple[pa.LargeStringArray, ...]
    numbers: Integers | None = None
    groups: tuple[RowGroup, ...] = ALL_ROWS
    references_per_line: int = 1
    systems: tuple[str, ...] = ()
    labels: tuple[pa.DictionaryArray, ...] = ()
    label_places: tuple[Places, ...] = ()
    values: Mapping[ValueColumn, Floats] = dataclasses.field(default_factory=dict)
    kept: Mapping[str, pa.LargeStringArray] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.systems:
            numbered = tuple(str(number + 1) for number in range(len(self._columns)))
            object.__setattr__(self, "systems", numbered)

    def __len__(self) -> int:
        return len(self._columns[0])

    def taken(self, left: Integers) -> SegmentBatch:
        """Only these rows of a batch whose rows are one group."""
        assert self.groups == ALL_ROWS
        rows = pa.array(left)
        return dataclasses.replace(
            self,
            candidates=tuple(padded(column.take(rows)) for column in self.candidates),
            references=tuple(padded(column.take(rows)) for column in self.references),
            numbers=None if self.numbers is None else self.numbers[left],
            labels=tuple(column.take(rows) for column in self.labels),
            label_places=tuple(places.take(rows) for places in self.label_places),
            values={column: values[:, left] for column, values in self.values.items()},
            kept={name: column.take(rows) for name, column in self.kept.items()},
        )

    @property
    def _columns(self) -> Sequence[Any]:
        return self.candidates or tuple(next(iter(self.values.values()), ()))

    @property
    def nbytes(self) -> int:
        texts = (*self.candidates, *self.references, *self.kept.values())
        columns = (*texts, *self.values.values())
        return sum(int(column.nbytes) for column in columns)
