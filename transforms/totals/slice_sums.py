"""The sums of slices: compact arrays of integers for each slice and system.

An int64 is large enough: each sum is at most the number of bytes of all texts of the corpus. Only
BLEU's average length of several references is larger: it overflows above 10^13 tokens.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.text.tokenizers import SCRIPTS
from beam_bleu.transforms.totals.corpus_sums import CorpusSums, InputSigns
from beam_bleu.transforms.wiring.sums import Sums

# The columns of `SliceSums.sums` after those of the metric.
CANDIDATE_BYTES, REFERENCE_BYTES, TOKENIZED, CANDIDATE_RETURNS, FIRST_SCRIPT = range(5)
_OTHERS = FIRST_SCRIPT + len(SCRIPTS)

# The kinds of `SliceSums.by_reference`. For the first kind place k of a slice is of the segments
# with k + 1 references, for the others it is of reference k + 1.
WITH_SO_MANY, GIVEN, RETURNS, IDENTICAL = range(4)
_KINDS = 4

_SAMPLES = 3
_SHOWN_CHARACTERS = 40


@dataclasses.dataclass(frozen=True, eq=False)
class SliceSums(Sums):
    """The sums of slices, for each system. Those of all parts of a corpus are added up.

    If there are more slices than `most`, they have one key more than this number, and no systems.
    And a slice has places only for the references of its own segments, because a corpus
    can have a few segments with thousands of references. So the memory is bounded.

    Attributes:
      width: the number of columns of the metric, W.
      keys: the slices.
      systems: the names of the systems.
      sums: int64 (slices, systems, W + 10), the columns of the metric, then neutral ones.
      offsets: int64 (slices + 1,), the first place of each slice in `by_reference`, then the end
        of the last one. A slice has at least as many places as its segments have references.
      by_reference: int64 (systems, kinds, places). Without texts there are no places.
      most: the most slices that are kept, `Slicing.most`; None if there is no limit.
    """

    width: int
    keys: tuple[SliceKey, ...]
    systems: tuple[str, ...]
    sums: Integers
    offsets: Integers
    by_reference: Integers
    most: int | None = None

    @classmethod
    def zero(
        cls,
        width: int,
        keys: Sequence[SliceKey] = (),
        systems: Sequence[str] = (),
        widths: Integers | None = None,
        most: int | None = None,
    ) -> SliceSums:
        """The sums of no segments.

        Args:
          width: as in the class, and so are the next two.
          keys: the slices.
          systems: the names of the systems.
          widths: int64 (slices,), the number of places of each slice; none if it is None.
          most: as in the class.
        """
        if widths is None:
            widths = np.zeros(len(keys), np.int64)
        return cls(
            width,
            tuple(keys),
            tuple(systems),
            np.zeros((len(keys), len(systems), width + _OTHERS), np.int64),
            np.append(0, np.cumsum(widths)),
            np.zeros((len(systems), _KINDS, widths.sum()), np.int64),
            most,
        )

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        return self.sums.nbytes + self.offsets.nbytes + self.by_reference.nbytes

    @property
    def widths(self) -> Integers:
        """The number of places of each slice in `by_reference`, int64 (slices,)."""
        return np.diff(self.offsets)

    def __add__(self, other: SliceSums) -> SliceSums:
        most = smaller_limit(self.most, other.most)
        if self.width != other.width:
            raise ValueError(f"sums of {self.width} and {other.width} columns cannot be added")
        keys = list(dict.fromkeys((*self.keys, *other.keys)))
        if most is not None and len(keys) > most:
            return SliceSums.zero(self.width, keys[: most + 1], most=most)
        systems = list(dict.fromkeys((*self.systems, *other.systems)))
        row_of = {key: row for row, key in enumerate(keys)}
        widths = np.zeros(len(keys), np.int64)
        for part in (self, other):
            rows = np.array([row_of[key] for key in part.keys], np.int64)
            widths[rows] = np.maximum(widths[rows], part.widths)
        total = SliceSums.zero(self.width, keys, systems, widths, most)
        column_of = {system: column for column, system in enumerate(systems)}
        for part in (self, other):
            rows = np.array([row_of[key] for key in part.keys], np.int64)
            columns = np.array([column_of[system] for system in part.systems], np.int64)
            total.add(part, rows, columns)
        return total

    def add(self, other: SliceSums, rows: Integers, columns: Integers) -> None:
        """Adds the sums of other slices in place.

        Args:
          other: the other slices. None of them has more places than the same slice here.
          rows: int64, for each slice of `other` its number here.
          columns: int64, for each system of `other` its number here.
        """
        self.sums[rows[:, np.newaxis], columns] += other.sums
        moved = np.repeat(self.offsets[rows] - other.offsets[:-1], other.widths)
        places = moved + np.arange(len(moved))
        self.by_reference[np.ix_(columns, np.arange(_KINDS), places)] += other.by_reference

    def arranged(self, keys: Sequence[SliceKey], systems: Sequence[str]) -> SliceSums:
        """The same sums in an order that is given, without places that no segment uses.

        So they do not depend on how the corpus was divided, and which part was added first.

        Args:
          keys: all slices, in order.
          systems: all systems, in order. There can be others, which have no sums.
        """
        row_of = {key: row for row, key in enumerate(self.keys)}
        column_of = {system: column for column, system in enumerate(self.systems)}
        systems = [system for system in systems if system in column_of]
        rows = np.array([row_of[key] for key in keys], np.int64)
        columns = np.array([column_of[system] for system in systems], np.int64)
        row_of_place = np.repeat(np.arange(len(self.keys)), self.widths)
        positions = np.arange(1, len(row_of_place) + 1) - self.offsets[row_of_place]
        used = np.zeros(len(self.keys), np.int64)
        np.maximum.at(used, row_of_place, positions * self.by_reference.any(axis=(0, 1)))
        arranged = SliceSums.zero(self.width, keys, systems, used[rows], self.most)
        arranged.sums[:] = self.sums[np.ix_(rows, columns)]
        starts = np.repeat(self.offsets[rows] - arranged.offsets[:-1], used[rows])
        places = starts + np.arange(len(starts))
        arranged.by_reference[:] = self.by_reference[np.ix_(columns, np.arange(_KINDS), places)]
        return arranged

    def of_system(self, system: str) -> dict[SliceKey, CorpusSums]:
        """The sums of each slice in which a system has segments."""
        if system not in self.systems:
            return {}
        column = self.systems.index(system)
        of_keys = (
            (key, self._corpus_sums(self.sums[row, column], self._of_slice(row, column)))
            for row, key in enumerate(self.keys)
        )
        return {key: sums for key, sums in of_keys if sums.segments}

    def columns_of_system(self, system: str) -> dict[SliceKey, list[int]]:
        """The columns of a system in each slice, without its other sums; none if it has no sums."""
        if system not in self.systems:
            return {}
        columns = self.sums[:, self.systems.index(system), : self.width]
        return dict(zip(self.keys, columns.tolist(), strict=True))

    def of_item(self, system: str, item: int) -> CorpusSums:
        """The sums of all slices of an item together."""
        rows = [row for row, key in enumerate(self.keys) if key.item == item]
        if system not in self.systems:
            return CorpusSums.zero(self.width)
        column = self.systems.index(system)
        by_reference = np.zeros((_KINDS, self.widths[rows].max(initial=0)), np.int64)
        for row in rows:
            of_slice = self._of_slice(row, column)
            by_reference[:, : of_slice.shape[1]] += of_slice
        return self._corpus_sums(self.sums[rows, column].sum(axis=0), by_reference)

    def _of_slice(self, row: int, column: int) -> Integers:
        """The part of `by_reference` of a slice and system, int64 (kinds, places)."""
        return self.by_reference[column, :, self.offsets[row] : self.offsets[row + 1]]

    def _corpus_sums(self, sums: Integers, by_reference: Integers) -> CorpusSums:
        values = sums.tolist()
        segments, references, returns, identical = by_reference.tolist()
        numbers = [number for number, of_number in enumerate(segments, 1) if of_number]
        if not values[SEGMENTS]:
            return CorpusSums.zero(self.width)
        present = int(np.flatnonzero(references)[-1]) + 1 if any(references) else 0
        others = values[self.width :]
        return CorpusSums(
            columns=tuple(values[: self.width]),
            min_reference_count=min(numbers, default=0),
            max_reference_count=max(numbers, default=0),
            candidate_bytes=others[CANDIDATE_BYTES],
            reference_bytes=others[REFERENCE_BYTES],
            signs=InputSigns(
                tokenized=others[TOKENIZED],
                candidate_returns=others[CANDIDATE_RETURNS],
                scripts=tuple(others[FIRST_SCRIPT:]),
                identical=tuple(identical[:present]),
                given=tuple(references[:present]),
                reference_returns=tuple(returns[:present]),
            ),
        )


def smaller_limit(one: int | None, other: int | None) -> int | None:
    """The smaller one of two limits, each of which is None if there is none."""
    return min((limit for limit in (one, other) if limit is not None), default=None)


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
