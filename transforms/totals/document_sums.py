"""Adds up the segments of each document, in a part of the corpus.

These sums go through a shuffle, which puts the parts of a document together. So the messages are
as short as possible.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import Adding
from beam_bleu.transforms.totals.group_totals import GroupKey
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.wiring.sums import Sums

BUCKETS = 64
"""Documents are put together in this number of buckets. A bucket is in memory as a whole."""


def bucket_of(document: str) -> int:
    """The bucket of a document. All parts of a document are in the same one."""
    return zlib.crc32(document.encode()) % BUCKETS


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentSums:
    """The sums of the segments of documents, in a part of the corpus.

    All segments have the same systems. So segments that only some systems have are in a value of
    their own, and whoever has all parts of a document knows which of its segments are common.

    A row has the sums of a document in a group: the whole corpus, or a slice. Most columns are 0
    for usual texts, and most sums are small. So each column has the smallest type that it needs.

    Attributes:
      systems: the names of the systems, in the order of the batches.
      documents: the names of the documents.
      keys: the groups.
      document_of: int64 (rows,), the place of each row's document.
      group_of: int64 (rows,), the place of each row's group. No document has two rows of a group.
      columns: for each of W columns unsigned integers (rows, systems); None if all of them are 0.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    keys: tuple[GroupKey, ...]
    document_of: Integers
    group_of: Integers
    columns: tuple[NDArray[np.unsignedinteger] | None, ...]

    @classmethod
    def of(
        cls,
        systems: Sequence[str],
        documents: Sequence[str],
        keys: Sequence[GroupKey],
        document_of: Integers,
        group_of: Integers,
        sums: Integers,
    ) -> DocumentSums:
        """The sums of documents, in columns. Documents and groups without a row are left out.

        Args:
          systems: as in the class, and so are the next four.
          documents: the names of the documents.
          keys: the groups.
          document_of: int64 (rows,).
          group_of: int64 (rows,).
          sums: int64 (rows, systems, W).
        """
        used_documents, document_of = np.unique(document_of, return_inverse=True)
        used_groups, group_of = np.unique(group_of, return_inverse=True)
        return cls(
            tuple(systems),
            tuple(documents[number] for number in used_documents.tolist()),
            tuple(keys[number] for number in used_groups.tolist()),
            document_of,
            group_of,
            tuple(_smallest(sums[:, :, column]) for column in range(sums.shape[2])),
        )

    @property
    def nbytes(self) -> int:
        """About the bytes of this value."""
        of_columns = sum(0 if column is None else column.nbytes for column in self.columns)
        of_names = sum(map(len, self.documents))
        return self.document_of.nbytes + self.group_of.nbytes + of_columns + of_names

    @property
    def sums(self) -> Integers:
        """The sums, int64 (rows, systems, W)."""
        sums = np.zeros((len(self.document_of), len(self.systems), len(self.columns)), np.int64)
        for place, column in enumerate(self.columns):
            if column is not None:
                sums[:, :, place] = column
        return sums


def has_segments(sums: Integers) -> NDArray[np.bool_]:
    """Whether a system has segments, (..., systems).

    Args:
      sums: int64 (..., systems, W).
    """
    has: NDArray[np.bool_] = sums[..., SEGMENTS] > 0
    return has


def _smallest(column: Integers) -> NDArray[np.unsignedinteger] | None:
    largest = int(column.max(initial=0))
    return column.astype(np.min_scalar_type(largest)) if largest else None


_FIRST_ROWS = 64


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
        self._width = adding.basis.width
        self._names: dict[str, int] = {}
        self._by_systems: dict[tuple[str, ...], _Rows] = {}

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
        documents = self._numbers(statistics.labels[self._place])
        systems = statistics.systems
        if systems not in self._by_systems:
            self._by_systems[systems] = _Rows(len(systems), self._width)
        self._by_systems[systems].add(documents << 32 | groups, statistics.counts)

    @property
    def nbytes(self) -> int:
        """The bytes of the sums."""
        return sum(rows.nbytes for rows in self._by_systems.values())

    def parts(self) -> Iterator[tuple[int, DocumentSums]]:
        """The sums of all documents, as (bucket, sums of its documents)."""
        names = list(self._names)
        keys: list[GroupKey] = [None, *self._numbering.keys]
        of_names = np.array([bucket_of(name) for name in names], np.int64)
        for systems, rows in self._by_systems.items():
            pairs, sums = rows.pairs(), rows.sums()
            buckets = of_names[pairs >> 32]
            order = np.argsort(buckets, kind="stable")
            bounds = np.flatnonzero(np.diff(buckets[order])) + 1
            for of_part in np.split(order, bounds):
                chosen = pairs[of_part]
                yield (
                    int(buckets[of_part[0]]),
                    DocumentSums.of(
                        systems, names, keys, chosen >> 32, chosen & 0xFFFFFFFF, sums[of_part]
                    ),
                )

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


class _Rows:
    """The sums of documents in groups, of segments that have the same systems. Mutable."""

    def __init__(self, systems: int, width: int) -> None:
        self._row_of: dict[int, int] = {}
        self._sums = np.zeros((_FIRST_ROWS, systems, width), np.int64)

    def add(self, pairs: Integers, counts: Integers) -> None:
        """Adds segments.

        Args:
          pairs: int64 (items, segments), the pairs of document and group.
          counts: int64 (systems, segments, W).
        """
        different, inverse = np.unique(pairs, return_inverse=True)
        known = self._row_of
        rows = np.array(
            [known.setdefault(pair, len(known)) for pair in different.tolist()], np.int64
        )
        missing = len(known) - len(self._sums)
        if missing > 0:
            # Room for as many rows again, so that the array is rarely copied.
            added = np.zeros((max(missing, len(self._sums)), *self._sums.shape[1:]), np.int64)
            self._sums = np.concatenate([self._sums, added])
        _add_counts(rows[inverse].reshape(pairs.shape), counts, self._sums)

    @property
    def nbytes(self) -> int:
        """The bytes of the sums."""
        return self._sums.nbytes

    def pairs(self) -> Integers:
        """The pair of each row, int64 (rows,)."""
        return np.fromiter(self._row_of, np.int64, len(self._row_of))

    def sums(self) -> Integers:
        """The sums of each row, int64 (rows, systems, W)."""
        return self._sums[: len(self._row_of)]


def compile_document_adder() -> None:
    """Compiles the code that adds up documents, or loads it, unless this process has done so."""
    _Rows(1, 1).add(np.zeros((1, 1), np.int64), np.ones((1, 1, 1), np.int64))


@compiled
def _add_counts(rows, counts, sums):
    """Adds the integers of segments to the rows of their documents.

    Args:
      rows: int64 (items, segments), the rows of each segment.
      counts: int64 (systems, segments, W).
      sums: int64 (rows, systems, W), which is changed.
    """
    systems, segments, width = counts.shape
    for system in range(systems):
        for i in range(segments):
            for item in range(rows.shape[0]):
                for column in range(width):
                    sums[rows[item, i], system, column] += counts[system, i, column]


_MOST_PARTS = 256
"""With more parts, those of the same systems are put together."""


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentParts(Sums):
    """The sums of documents.

    Attributes:
      parts: they can have parts of the same documents.
    """

    parts: tuple[DocumentSums, ...]

    def __add__(self, other: DocumentParts) -> DocumentParts:
        parts = (*self.parts, *other.parts)
        if len(parts) <= _MOST_PARTS:
            return DocumentParts(parts)
        by_systems: dict[tuple[str, ...], list[DocumentSums]] = {}
        for part in parts:
            by_systems.setdefault(part.systems, []).append(part)
        return DocumentParts(tuple(map(_put_together, by_systems.values())))

    @property
    def nbytes(self) -> int:
        """About how many bytes large arrays have."""
        return sum(part.nbytes for part in self.parts)


def documents_of(
    statistics: BatchStatistics,
    adding: Adding,
) -> DocumentParts:
    """The sums of the documents of a batch."""
    adder = DocumentAdder(adding)
    adder.add(statistics)
    return DocumentParts(tuple(part for _, part in adder.parts()))


def numbered_rows(
    parts: Sequence[DocumentSums],
) -> tuple[list[str], list[GroupKey], Integers, Integers]:
    """The rows that parts have together: each document and group once.

    Returns:
      the names of the documents; the groups; int64 (rows,), the number of each row's document, and
      in its low 32 bits that of its group; int64, the row here of each row of the parts, part by
      part.
    """
    documents: dict[str, int] = {}
    keys: dict[GroupKey, int] = {}
    pairs = []
    for part in parts:
        of_documents = [documents.setdefault(name, len(documents)) for name in part.documents]
        of_keys = [keys.setdefault(key, len(keys)) for key in part.keys]
        pairs.append(
            np.array(of_documents, np.int64)[part.document_of] << 32
            | np.array(of_keys, np.int64)[part.group_of]
        )
    different, rows = np.unique(np.concatenate(pairs), return_inverse=True)
    return list(documents), list(keys), different, rows


def _put_together(parts: Sequence[DocumentSums]) -> DocumentSums:
    """The sums of all of these parts, which have the same systems."""
    documents, keys, pairs, rows = numbered_rows(parts)
    first = parts[0]
    sums = np.zeros((len(pairs), len(first.systems), len(first.columns)), np.int64)
    np.add.at(sums, rows, np.concatenate([part.sums for part in parts]))
    return DocumentSums.of(first.systems, documents, keys, pairs >> 32, pairs & 0xFFFFFFFF, sums)
