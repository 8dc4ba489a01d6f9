"""Numbers the slices of a corpus: from the labels of segments to the rows of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.definition.slicing import LENGTH, SliceKey, Slicing
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.group_totals import require_bounded

_Values = tuple[str | int | None, ...]


class SliceNumbering:
    """Numbers slices from 0, in the order in which they come: `keys` has those that have come.

    With a label `documents`, slices are divided into documents: item 0 divides the whole corpus,
    and item i the slices of the item before it. The first value of each key is the document.
    """

    def __init__(
        self, slicing: Slicing, labels: Sequence[str], documents: str | None = None
    ) -> None:
        self._items = slicing.items
        self._most: int | None = slicing.most
        if documents is not None:
            self._items = ((documents,), *((documents, *item) for item in slicing.items))
            self._most = None
        self._names = dict.fromkeys(itertools.chain.from_iterable(self._items))
        self._places = {name: labels.index(name) for name in self._names if name != LENGTH}
        self._edges = np.array(slicing.length_edges, np.int64)
        self._numbers: list[dict[_Values, int]] = [{} for _ in self._items]
        self.keys: list[SliceKey] = []

    def rows_of(self, statistics: BatchStatistics, place: int) -> Integers:
        """The number of each segment's slice in `keys`, int64 (items, segments).

        Raises:
          InputError: there are too many slices.
        """
        columns = {name: self._column(name, statistics, place) for name in self._names}
        rows = np.stack(
            [
                self._rows_of_item(item, [columns[name] for name in names])
                for item, names in enumerate(self._items)
            ]
        )
        if self._most is not None:
            require_bounded(self.keys, self._most)
        return rows

    def _column(
        self, name: str, statistics: BatchStatistics, place: int
    ) -> tuple[Integers, list[Any]]:
        """The place of each segment's value among the values that occur, and these values."""
        if name == LENGTH:
            # The average, so that it does not depend on the order of the references.
            lengths = np.searchsorted(self._edges, statistics.lengths[place], side="right")
            ranges = pa.array(lengths)
            encoded = ranges.dictionary_encode()
            values = encoded.dictionary
        else:
            column = statistics.labels[self._places[name]]
            encoded = column.indices.dictionary_encode(null_encoding="encode")
            values = column.dictionary.take(encoded.dictionary)
        return encoded.indices.to_numpy().astype(np.int64), values.to_pylist()

    def _rows_of_item(self, item: int, columns: Sequence[tuple[Integers, list[Any]]]) -> Integers:
        places, first = columns[0]
        values: list[_Values] = [(value,) for value in first]
        for of_column, others in columns[1:]:
            pairs = pa.array(places << 32 | of_column).dictionary_encode()
            places = pairs.indices.to_numpy().astype(np.int64)
            values = [
                (*values[pair >> 32], others[pair & 0xFFFFFFFF])
                for pair in pairs.dictionary.to_pylist()
            ]
        known, keys = self._numbers[item], self.keys
        rows = np.empty(len(values), np.int64)
        for place, value in enumerate(values):
            rows[place] = number = known.setdefault(value, len(keys))
            if number == len(keys):
                keys.append(SliceKey(item, value))
        of_segments: Integers = rows[places]
        return of_segments
