"""Adds up the replicates of batches.

The random numbers of a unit are drawn from its key, which has 64 bits. A key depends on the names
of a unit, never on its text: on the label of the partition and either the segment's number in the
input or the name of its document. Two different units can have the same key by chance. Among a
billion units this happens with a probability of 3 %, and then these two have the same weights,
which changes no result noticeably.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.group_totals import require_same_systems
from beam_bleu.transforms.totals.replicates.tiles import (
    COLUMNS_AT_ONCE,
    DIGIT_BITS,
    TILE,
    UNITS_AT_ONCE,
    WEIGHT_BITS,
    add_weighted,
    replicate_order,
    scratch,
)

_FOR_ALL = 0
"""In place of a system's number in the rows of the columns that all systems share."""


class ReplicateAdder:
    """Adds up the replicates of batches; see `Adding` for what they are. Mutable.

    It has sums only of the columns that are not 0 in some batch, and only once of those that are
    the same for all systems. For usual texts this is a third of all columns.
    """

    def __init__(
        self,
        resampling: Resampling,
        labels: Sequence[str],
        basis: Basis,
        documents: str | None = None,
    ) -> None:
        self._resampling = resampling
        self._basis = basis
        self._place = None if documents is None else list(labels).index(documents)
        tiles = -(-resampling.number // TILE)
        self._systems: tuple[str, ...] = ()
        self._rows: dict[tuple[int, int], int] = {}
        self._sums = np.zeros((tiles, 0, TILE), np.int64)

    def add(self, statistics: BatchStatistics, metric: int = 0) -> None:
        """Adds the segments of a batch, by the counts of a metric.

        Raises:
          JobError: the batch has other systems than batches before it; or a segment has no
            number, or no document.
        """
        if not len(statistics):
            return
        self._systems = self._systems or statistics.systems
        require_same_systems(self._systems, statistics.systems)
        columns = np.ascontiguousarray(statistics.counts[metric].transpose(0, 2, 1))
        place = self._place
        documents = None if place is None else statistics.labels[place]
        units = unit_keys(self._resampling.partition, statistics.numbers, documents)
        if documents is not None:
            # Neighbouring segments of a document have the same weights. So they are one unit.
            starts = np.flatnonzero(np.append(True, units[1:] != units[:-1]))
            units, columns = units[starts], np.add.reduceat(columns, starts, axis=2)
        self._add(units, columns)

    def sums(self) -> Integers:
        """The sums of all replicates, int64 (systems, replicates, W), of the sorted systems."""
        total = np.zeros((len(self._systems), self._resampling.number, self._basis.width), np.int64)
        bits = WEIGHT_BITS if self._resampling.method == "bootstrap" else 1
        order = replicate_order(bits)
        for (system, column), row in self._rows.items():
            drawn = self._sums[:, row]
            of_column = drawn[:, order].ravel()[: self._resampling.number]
            systems = slice(None) if column in self._basis.shared else system
            total[systems, :, column] = of_column
        return total[sorted(range(len(total)), key=self._systems.__getitem__)]

    def _add(self, units: UnitKeys, columns: Integers) -> None:
        """Adds those of the columns, int64 (systems, W, units), that are not 0, as digits."""
        digits: list[Integers] = []
        rows: list[int] = []
        shifts: list[int] = []
        largest = columns.max(axis=2)
        for system, column in np.argwhere(largest).tolist():
            if column in self._basis.shared and system != _FOR_ALL:
                continue
            row = self._rows.setdefault((system, column), len(self._rows))
            values = columns[system, column]
            for shift in range(0, int(largest[system, column]).bit_length(), DIGIT_BITS):
                digits.append(values >> shift & ((1 << DIGIT_BITS) - 1))
                rows.append(row)
                shifts.append(shift)
        new = len(self._rows) - self._sums.shape[1]
        if new:
            self._sums = np.pad(self._sums, ((0, 0), (0, new), (0, 0)))
        padded = -len(units) % UNITS_AT_ONCE, -len(digits) % COLUMNS_AT_ONCE
        filled = np.pad(np.stack(digits, axis=1), ((0, padded[0]), (0, padded[1])))
        add_weighted(
            np.pad(units, (0, padded[0])),
            filled.astype(np.float32),
            np.array(rows, np.int64),
            np.array(shifts, np.int64),
            np.uint64(self._resampling.seed),
            self._resampling.method == "bootstrap",
            self._sums,
            *scratch(filled.shape[1]),
        )


UnitKeys = NDArray[np.uint64]


def unit_keys(
    partition: str, numbers: Integers | None, documents: pa.DictionaryArray | None = None
) -> UnitKeys:
    """The key of each segment's unit, uint64 (segments,): of its document, or else its own.

    That of a segment is the hash of the partition plus the segment's number, modulo 2^64. That of a
    document is the hash of partition, a zero byte, and name.

    Raises:
      JobError: a segment has no number, or no document.
    """
    if documents is None:
        if numbers is None:
            raise JobError(
                "segments without numbers cannot be resampled: their random weights are drawn from "
                "their numbers",
                "give each batch its segments' numbers, or resample by document",
            )
        first = np.uint64(_hash(partition.encode()))
        return cast(UnitKeys, numbers.astype(np.uint64) + first)  # arrays wrap around
    encoded = documents.dictionary_decode().dictionary_encode()  # only the names that occur
    if encoded.null_count:
        raise JobError(
            "a segment has no document, so it cannot be resampled by document",
            "give each segment the name of its document",
        )
    prefix = partition.encode() + b"\0"
    names = encoded.dictionary.to_pylist()
    keys = np.array([_hash(prefix + name.encode()) for name in names], np.uint64)
    return cast(UnitKeys, keys[encoded.indices.to_numpy()])


def _hash(name: bytes) -> int:
    """64 bits of BLAKE2b (RFC 7693), the first byte lowest. It is part of what results mean."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
