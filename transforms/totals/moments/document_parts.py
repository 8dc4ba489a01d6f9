"""The sums of documents of a part of the corpus as one value that is added up.

`sum_document_moments` sends them to several workers instead, and holds a part of them at a time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.document_sums import DocumentAdder, DocumentSums
from beam_bleu.transforms.totals.moments.moments import GroupKey
from beam_bleu.transforms.wiring.sums import Sums

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
    slicing: Slicing,
    labels: Sequence[str],
    documents: str,
    basis: Basis,
) -> DocumentParts:
    """The sums of the documents of a batch, with the arguments of `DocumentAdder`."""
    adder = DocumentAdder(slicing, labels, documents, basis)
    adder.add(statistics)
    return DocumentParts(tuple(part for _, part in adder.parts()))


def _put_together(parts: Sequence[DocumentSums]) -> DocumentSums:
    """The sums of all of these parts, which have the same systems."""
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
    first = parts[0]
    sums = np.zeros((len(different), len(first.systems), len(first.columns)), np.int64)
    np.add.at(sums, rows, np.concatenate([part.sums for part in parts]))
    return DocumentSums.of(
        first.systems, list(documents), list(keys), different >> 32, different & 0xFFFFFFFF, sums
    )
