"""Numbers the slices of a corpus: from the labels of segments to the rows of arrays."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.definition.slicing import LENGTH, SliceKey, Slicing
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics

_SAMPLES = 3
_SHOWN_CHARACTERS = 40


class SliceNumbering:
    """Numbers slices from 0, in the order in which they come.

    Args:
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.

    Attributes:
      keys: the slices that have come, in the order of their numbers. There will be more.
    """

    def __init__(self, slicing: Slicing, labels: Sequence[str]) -> None:
        self._slicing = slicing
        self._places = {name: labels.index(name) for name in slicing.labels}
        self._edges = np.array(slicing.length_edges, np.int64)
        self._labels: dict[str, _Numbered] = {
            name: _Numbered() for name in (*slicing.labels, LENGTH)
        }
        self._crosses: dict[tuple[str, ...], _Numbered] = {
            item[:size]: _Numbered() for item in slicing.items for size in range(2, len(item) + 1)
        }
        self._rows: list[Integers] = [np.zeros(0, np.int64) for _ in slicing.items]
        self.keys: list[SliceKey] = []

    def rows_of(self, statistics: BatchStatistics) -> Integers:
        """The number of each segment's slice in `keys`, int64 (items, segments).

        Raises:
          InputError: there are too many slices.
        """
        return np.stack(list(self._rows_of(statistics)))

    def _rows_of(self, statistics: BatchStatistics) -> Iterable[Integers]:
        numbers: dict[tuple[str, ...], Integers] = {}
        for number, item in enumerate(self._slicing.items):
            for name in item:
                if (name,) not in numbers:
                    numbers[name,] = self._numbers(name, statistics)
            for size in range(2, len(item) + 1):
                prefix = item[:size]
                if prefix not in numbers:
                    numbers[prefix] = self._crosses[prefix].of_pairs(
                        numbers[prefix[:-1]],
                        self._named(prefix[:-1]),
                        numbers[prefix[-1:]],
                        self._named(prefix[-1:]),
                    )
            values = self._named(item).values
            known = self._rows[number]
            if len(values) > len(known):
                first = len(self.keys)
                self.keys += [SliceKey(number, of_key) for of_key in values[len(known) :]]
                self._rows[number] = np.concatenate([known, np.arange(first, len(self.keys))])
                require_bounded(self.keys, self._slicing)
            yield self._rows[number][numbers[item]]

    def _named(self, names: tuple[str, ...]) -> _Numbered:
        return self._labels[names[0]] if len(names) == 1 else self._crosses[names]

    def _numbers(self, name: str, statistics: BatchStatistics) -> Integers:
        if name != LENGTH:
            return self._labels[name].of_labels(statistics.labels[self._places[name]])
        # The average, so that it does not depend on the order of the references.
        lengths = statistics.lengths
        assert lengths is not None
        return self._labels[name].of_ranges(np.searchsorted(self._edges, lengths, side="right"))


class _Numbered:
    """Numbers for different values, from 0, in the order in which they come.

    Attributes:
      values: the values, each one as a tuple, as in `SliceKey`.
    """

    def __init__(self) -> None:
        self.values: list[tuple[str | int | None, ...]] = []
        self._numbers: dict[Any, int] = {}

    def of_labels(self, column: pa.DictionaryArray) -> Integers:
        """The number of each row's label."""
        values = column.dictionary
        missing = len(values)
        places = pc.fill_null(column.indices.cast(pa.int64()), missing).to_numpy()
        if values.null_count:
            places = np.where(
                values.is_null().to_numpy(zero_copy_only=False), missing, np.arange(missing)
            )[places]
        is_used = np.zeros(missing + 1, np.bool_)
        is_used[places] = True
        used = np.flatnonzero(is_used)
        texts: list[str | None] = values.take(pa.array(used[used < missing])).to_pylist()
        if is_used[missing]:
            texts.append(None)
        numbers = np.empty(missing + 1, np.int64)
        numbers[used] = [self._number(text, (text,)) for text in texts]
        of_rows: Integers = numbers[places]
        return of_rows

    def of_ranges(self, ranges: Integers) -> Integers:
        """The number of each row's range of lengths."""
        numbers = np.zeros(int(ranges.max()) + 1, np.int64)
        for used in np.flatnonzero(np.bincount(ranges)).tolist():
            numbers[used] = self._number(used, (used,))
        return numbers[ranges]

    def of_pairs(
        self, left: Integers, of_left: _Numbered, right: Integers, of_right: _Numbered
    ) -> Integers:
        """The number of each row's pair of numbers."""
        pairs = pa.array(left << 32 | right).dictionary_encode()
        numbers = np.array(
            [
                self._number(pair, of_left.values[pair >> 32] + of_right.values[pair & 0xFFFFFFFF])
                for pair in pairs.dictionary.to_pylist()
            ],
            np.int64,
        )
        of_rows: Integers = numbers[pairs.indices.to_numpy()]
        return of_rows

    def _number(self, known_by: Any, value: tuple[str | int | None, ...]) -> int:
        number = self._numbers.setdefault(known_by, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


def require_bounded(keys: Iterable[SliceKey], slicing: Slicing) -> None:
    """Checks that there are not more slices than `Slicing.most`.

    Raises:
      InputError: there are more.
    """
    keys = list(keys)
    if len(keys) <= slicing.most:
        return
    item, _ = collections.Counter(key.item for key in keys).most_common(1)[0]
    of_item = [key for key in keys if key.item == item]
    samples = ", ".join(_shown(slicing, key) for key in of_item[:_SAMPLES])
    raise InputError(
        f"there are more than {slicing.most} slices; most of them are of "
        f"{slicing.name_of_item(item)}, for example {samples}",
        "slice by labels that have few different values, and not by ids; or raise --max_slices",
    )


def _shown(slicing: Slicing, key: SliceKey) -> str:
    return "*".join(
        "null" if value is None else ascii(value[:_SHOWN_CHARACTERS])
        for value in slicing.values(key).values()
    )
