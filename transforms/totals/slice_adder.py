"""Adds up the slices of batches, and the whole corpus, without an object for each slice and batch.

A corpus can have hundreds of slices, and each batch has segments of most of them. So a compiled
loop adds the integers of each segment to the rows of its slices in two arrays, `SliceSums`.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.slice_sums import (
    CANDIDATE_BYTES,
    CANDIDATE_RETURNS,
    FIRST_SCRIPT,
    GIVEN,
    IDENTICAL,
    REFERENCE_BYTES,
    RETURNS,
    TOKENIZED,
    WITH_SO_MANY,
    SliceSums,
)
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS


class Numbering(Protocol):
    """Numbers slices from 0: `SliceNumbering`, or another object that does so.

    Attributes:
      keys: the slices that have come, in the order of their numbers.
    """

    @property
    def keys(self) -> Sequence[SliceKey]: ...

    def rows_of(self, statistics: BatchStatistics) -> Integers:
        """The number of each segment's slice in `keys`, int64 (items, segments)."""


ALL = SliceKey(0, ())
"""The key of `OneSlice`."""


class OneSlice:
    """All segments belong to the same slice."""

    keys: Sequence[SliceKey] = (ALL,)

    def __init__(self) -> None:
        self._zeros = np.zeros((1, 0), np.int64)

    def rows_of(self, statistics: BatchStatistics) -> Integers:
        """Zeros, int64 (1, segments)."""
        if self._zeros.size < len(statistics):
            self._zeros = np.zeros((1, len(statistics)), np.int64)
        return self._zeros[:, : len(statistics)]


class SliceAdder:
    """Adds up the slices of batches. Mutable.

    Args:
      numbering: the numbers of the slices.
      width: the number of columns of the metric, W.
      most: the most slices that are kept when these sums and others are added up; None for all.
    """

    def __init__(self, numbering: Numbering, width: int, most: int | None = None) -> None:
        self._numbering = numbering
        self._most = most
        self._columns: dict[str, int] = {}
        self._total = SliceSums.zero(width)
        # What is the same for most batches: their systems, references and slices, for which there
        # is room, and what compiled code gets for them.
        self._usual: tuple[tuple[str, ...], int, int] | None = None
        self._of_usual: tuple[Integers, ...] = ()

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch.

        Raises:
          InputError: there are too many slices.
        """
        if not len(statistics):
            return
        rows = self._numbering.rows_of(statistics)
        signs, systems = statistics.signs, statistics.systems
        kind = systems, len(signs.given), len(self._numbering.keys)
        if kind != self._usual:
            self._usual = None
            for system in systems:
                self._columns.setdefault(system, len(self._columns))
            self._make_room(rows, signs.given)
            if self._has_room(len(signs.given)):
                self._usual = kind
            columns = np.array([self._columns[system] for system in systems], np.int64)
            total = self._total
            self._of_usual = columns, total.offsets, total.sums, total.by_reference
        _add_rows(
            self._of_usual,
            rows,
            statistics.counts,
            statistics.reference_counts,
            statistics.candidate_bytes,
            statistics.reference_bytes,
            signs.tokenized,
            signs.candidate_returns,
            signs.scripts,
            signs.identical,
            signs.given,
            signs.reference_returns,
        )

    def by_system(self) -> dict[str, SliceSums]:
        """The sums of all batches, as those of all systems."""
        return {ALL_SYSTEMS: self.sums()}

    def sums(self) -> SliceSums:
        """The sums of all batches."""
        used = len(self._numbering.keys)  # after them, there is room for other slices
        offsets = self._total.offsets[: used + 1].copy()
        return SliceSums(
            self._total.width,
            tuple(self._numbering.keys),
            tuple(self._columns),
            self._total.sums[:used].copy(),
            offsets,
            self._total.by_reference[:, :, : offsets[-1]].copy(),
            self._most,
        )

    def _has_room(self, references: int) -> bool:
        """Whether each slice has a place for this number of references, and for each system."""
        total = self._total
        widths = total.widths
        has_all = len(widths) >= len(self._numbering.keys)
        has_all &= len(self._columns) == len(total.systems)
        return has_all and references <= int(widths.min())

    def _make_room(self, rows: Integers, is_there: Booleans) -> None:
        """Makes the arrays large enough for a batch.

        Args:
          rows: int64 (items, segments), the row of each segment's slice.
          is_there: `BatchSigns.given`.
        """
        if self._has_room(len(is_there)):
            return
        total = self._total
        widths = total.widths
        slices = len(widths)
        positions = _positions(is_there)
        needed = np.zeros(max(slices, len(self._numbering.keys)), np.int64)
        for of_item in rows:
            np.maximum.at(needed, of_item, positions)
        is_wide_enough = bool((needed[:slices] <= widths).all())
        if len(needed) == slices and is_wide_enough and len(self._columns) == len(total.systems):
            return
        if len(needed) > slices:
            # Room for as many slices again, so that the arrays are rarely copied. They get the
            # places that all segments need, so that one long list does not make all slices wide.
            spare = max(2 * slices - len(needed), 0)
            needed = np.append(needed, np.full(spare, positions.min()))
        needed[:slices] = np.maximum(needed[:slices], widths)
        larger = SliceSums.zero(total.width, [_NO_KEY] * len(needed), tuple(self._columns), needed)
        larger.add(total, np.arange(slices), np.arange(len(total.systems)))
        self._total = larger


class CorpusAdder:
    """Adds up all segments of batches, for each system. Mutable.

    Args:
      width: the number of columns of the metric, W.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._adder = SliceAdder(OneSlice(), width)
        self._systems: dict[str, None] = {}

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""
        self._systems |= dict.fromkeys(statistics.systems)
        self._adder.add(statistics)

    def by_system(self) -> dict[str, CorpusSums]:
        """The sums of each system, also of one that has batches without a segment only."""
        sums = self._adder.sums()
        zero = CorpusSums.zero(self._width)
        return {system: sums.of_system(system).get(ALL, zero) for system in self._systems}


_NO_KEY = SliceKey(0, ())
"""In place of a key in the sums of a `SliceAdder`, which has the keys itself."""


def _positions(is_there: Booleans) -> Integers:
    """The position of each segment's last reference, from 1, int64 (segments,); 0 without any.

    Args:
      is_there: `BatchSigns.given`. If it has references, each segment has one.
    """
    if not len(is_there):
        return np.zeros(is_there.shape[1], np.int64)
    positions: Integers = len(is_there) - is_there[::-1].argmax(axis=0)
    return positions


def compile_slice_adder() -> None:
    """Compiles the code that adds up slices, or loads it, unless this process has done so."""
    one = np.ones(1, np.int64)
    counts = np.zeros((1, 1, 1), np.int64)
    signs = BatchSigns.none(systems=1, reference_count=1, segments=1)
    statistics = BatchStatistics(counts, one, one[None], one, signs, ("a",))
    SliceAdder(OneSlice(), width=1).add(statistics)


@compiled
def _add_rows(
    target,
    rows,
    counts,
    reference_counts,
    candidate_bytes,
    reference_bytes,
    tokenized,
    candidate_returns,
    scripts,
    identical,
    is_there,
    returns,
):
    """Adds the integers of each segment to the sums of its slices.

    Args:
      target: int64 (systems,), the column of each system in the sums; then the arrays of
        `SliceSums`: offsets, sums, by_reference. The last two are changed.
      rows: int64 (items, segments), the row of each segment's slice in the sums.
      counts: as in `BatchStatistics`, and so are the next three.
      reference_counts: int64 (segments,).
      candidate_bytes: int64 (systems, segments).
      reference_bytes: int64 (segments,).
      tokenized: as in `BatchSigns`, and so are the next five; `is_there` is `given`.
      candidate_returns: bool (systems, segments).
      scripts: uint8 (systems, segments).
      identical: bool (systems, references, segments).
      is_there: bool (references, segments).
      returns: bool (references, segments).
    """
    columns, offsets, sums, by_reference = target
    systems, segments, others = counts.shape
    for system in range(systems):
        column = columns[system]
        for segment in range(segments):
            last = reference_counts[segment] - 1
            for item in range(rows.shape[0]):
                row = rows[item, segment]
                for i in range(others):
                    sums[row, column, i] += counts[system, segment, i]
                sums[row, column, others + CANDIDATE_BYTES] += candidate_bytes[system, segment]
                sums[row, column, others + REFERENCE_BYTES] += reference_bytes[segment]
                sums[row, column, others + TOKENIZED] += tokenized[system, segment]
                sums[row, column, others + CANDIDATE_RETURNS] += candidate_returns[system, segment]
                script = np.int64(scripts[system, segment])
                if script:
                    sums[row, column, others + FIRST_SCRIPT + script - 1] += 1
                start = offsets[row]
                if last >= 0:
                    by_reference[column, WITH_SO_MANY, start + last] += 1
                # The slice can have more places than the batch has references, or fewer.
                for k in range(min(is_there.shape[0], offsets[row + 1] - start)):
                    by_reference[column, GIVEN, start + k] += is_there[k, segment]
                    by_reference[column, RETURNS, start + k] += returns[k, segment]
                    by_reference[column, IDENTICAL, start + k] += identical[system, k, segment]
