"""Adds up the segments of each document, in a part of the corpus.

These sums go through a shuffle, which puts the parts of a document together.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import Adding
from beam_bleu.transforms.totals.group_totals import GroupKey, GroupTotals, added_rows
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.totals.unit_adder import UnitAdder
from beam_bleu.transforms.wiring.sums import Sums

BUCKETS = 64
"""Documents are put together in this number of buckets. A bucket is in memory as a whole."""

_LOW = 2**32 - 1


def bucket_of(document: str) -> int:
    """The bucket of a document. All parts of a document are in the same one."""
    return zlib.crc32(document.encode()) % BUCKETS


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentSums:
    """The sums of the segments of documents, in a part of the corpus.

    A row has the sums of a document in a group: the whole corpus, or a slice.

    Attributes:
      systems: the names of the systems, in the order of the batches.
      documents: the names of the documents.
      groups: the groups.
      rows: int64 (rows,), the place of each row's document, and in the low 32 bits that of its
        group. No document has two rows of a group.
      totals: the sums, without keys, products and facts. A group is a row, and its units are the
        segments: the common ones, and in `rest` those that only some systems have.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    groups: tuple[GroupKey, ...]
    rows: Integers
    totals: GroupTotals

    @property
    def document_of(self) -> Integers:
        """int64 (rows,), the place of each row's document."""
        return self.rows >> 32

    @property
    def group_of(self) -> Integers:
        """int64 (rows,), the place of each row's group."""
        return self.rows & _LOW

    @property
    def nbytes(self) -> int:
        """About the bytes of this value."""
        return self.rows.nbytes + self.totals.nbytes + sum(map(len, self.documents))

    def part(self, rows: Integers) -> DocumentSums:
        """Some rows, without the documents and the groups of the others."""
        documents, document_of = np.unique(self.document_of[rows], return_inverse=True)
        groups, group_of = np.unique(self.group_of[rows], return_inverse=True)
        return DocumentSums(
            self.systems,
            tuple(self.documents[place] for place in documents.tolist()),
            tuple(self.groups[place] for place in groups.tolist()),
            document_of << 32 | group_of,
            self.totals.rows(rows),
        )


def put_together(parts: Sequence[DocumentSums]) -> DocumentSums:
    """The sums of all of these parts, which can have the same documents."""
    documents: dict[str, int] = {}
    groups: dict[GroupKey, int] = {}
    pairs = []
    for part in parts:
        document_of = [documents.setdefault(name, len(documents)) for name in part.documents]
        group_of = [groups.setdefault(key, len(groups)) for key in part.groups]
        pairs.append(
            np.array(document_of, np.int64)[part.document_of] << 32
            | np.array(group_of, np.int64)[part.group_of]
        )
    rows, places = np.unique(np.concatenate(pairs), return_inverse=True)
    ends = np.cumsum([len(part.rows) for part in parts])
    return DocumentSums(
        _in_order({part.systems for part in parts}),
        tuple(documents),
        tuple(groups),
        rows,
        added_rows([part.totals for part in parts], np.split(places, ends[:-1]), len(rows)),
    )


def _in_order(sets: set[tuple[str, ...]]) -> tuple[str, ...]:
    """All systems of these sets; in the order of the result, if some segments have all of them."""
    every = {system for systems in sets for system in systems}
    complete = sorted(systems for systems in sets if len(systems) == len(every))
    # Otherwise the order has no effect: no segment is common to all systems.
    return complete[0] if complete else tuple(sorted(every))


class DocumentAdder:
    """Adds up the segments of documents, for each system, in the whole corpus and in slices.

    Mutable. No document is taken for complete: others of its segments can come in other batches.

    Args:
      adding: what is added up. All segments have a label with their document.
    """

    def __init__(self, adding: Adding) -> None:
        assert adding.documents is not None
        self._numbering = SliceNumbering(adding.slicing, adding.labels)
        self._has_slices = bool(adding.slicing)
        self._place = adding.labels.index(adding.documents)
        self._basis = adding.basis
        self._names: dict[str, int] = {}
        # By systems: the number of each pair of document and group, and what adds up their sums.
        self._by_systems: dict[tuple[str, ...], tuple[dict[int, int], UnitAdder]] = {}

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch.

        Raises:
          InputError: there are too many slices.
          ValueError: a segment has no document.
        """
        if not len(statistics):
            return
        groups = np.zeros((1, len(statistics)), np.int64)
        if self._has_slices:
            groups = np.concatenate([groups, self._numbering.rows_of(statistics) + 1])
        pairs = self._numbers(statistics.labels[self._place]) << 32 | groups
        systems = statistics.systems
        if systems not in self._by_systems:
            adder = UnitAdder(systems, self._basis, with_products=False)
            self._by_systems[systems] = {}, adder
        known, adder = self._by_systems[systems]
        different, inverse = np.unique(pairs, return_inverse=True)
        rows = np.array(
            [known.setdefault(pair, len(known)) for pair in different.tolist()], np.int64
        )
        for of_item in rows[inverse].reshape(pairs.shape):
            adder.add(statistics.counts, of_item, len(known))

    @property
    def nbytes(self) -> int:
        """The bytes of the sums."""
        return sum(adder.nbytes for _, adder in self._by_systems.values())

    def parts(self) -> Iterator[tuple[int, DocumentSums]]:
        """The sums of all documents, as (bucket, sums of its documents)."""
        names = tuple(self._names)
        groups = (None, *self._numbering.keys)
        bucket_of_document = np.array([bucket_of(name) for name in names], np.int64)
        for systems, (known, adder) in self._by_systems.items():
            pairs = np.fromiter(known, np.int64, len(known))
            whole = DocumentSums(systems, names, groups, pairs, adder.totals([None] * len(known)))
            buckets = bucket_of_document[whole.document_of]
            order = np.argsort(buckets, kind="stable")
            bounds = np.flatnonzero(np.diff(buckets[order])) + 1
            for rows in np.split(order, bounds):
                yield int(buckets[rows[0]]), whole.part(rows)

    def _numbers(self, column: pa.DictionaryArray) -> Integers:
        """The number of each segment's document."""
        # Only the names that occur, each one once.
        encoded = column.dictionary_decode().dictionary_encode()
        if encoded.null_count:
            raise ValueError("a segment has no document")
        numbers = np.array(
            [
                self._names.setdefault(name, len(self._names))
                for name in encoded.dictionary.to_pylist()
            ],
            np.int64,
        )
        of_segments: Integers = numbers[encoded.indices.to_numpy()]
        return of_segments


_MOST_PARTS = 256
"""More parts are put together. To do so for each new one would take a square of the time."""


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentParts(Sums):
    """The sums of documents.

    Attributes:
      parts: they can have parts of the same documents.
    """

    parts: tuple[DocumentSums, ...]

    def __add__(self, other: DocumentParts) -> DocumentParts:
        parts = (*self.parts, *other.parts)
        return DocumentParts((put_together(parts),) if len(parts) > _MOST_PARTS else parts)

    @property
    def nbytes(self) -> int:
        """About how many bytes large arrays have."""
        return sum(part.nbytes for part in self.parts)


def documents_of(statistics: BatchStatistics, adding: Adding) -> DocumentParts:
    """The sums of the documents of a batch."""
    adder = DocumentAdder(adding)
    adder.add(statistics)
    return DocumentParts(tuple(part for _, part in adder.parts()))
