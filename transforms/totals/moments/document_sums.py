"""The sums of documents: of a part of the corpus, in messages that are as short as possible."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.totals.moments.moments import GroupKey

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
            tuple(documents[each] for each in used_documents.tolist()),
            tuple(keys[each] for each in used_groups.tolist()),
            document_of,
            group_of,
            tuple(_smallest(sums[:, :, column]) for column in range(sums.shape[2])),
        )

    @property
    def nbytes(self) -> int:
        """About the bytes of this value."""
        of_columns = sum(0 if each is None else each.nbytes for each in self.columns)
        of_names = sum(map(len, self.documents))
        return self.document_of.nbytes + self.group_of.nbytes + of_columns + of_names

    @property
    def sums(self) -> Integers:
        """The sums, int64 (rows, systems, W)."""
        found = np.zeros((len(self.document_of), len(self.systems), len(self.columns)), np.int64)
        for place, column in enumerate(self.columns):
            if column is not None:
                found[:, :, place] = column
        return found


def has_segments(sums: Integers) -> NDArray[np.bool_]:
    """Whether a system has segments, (..., systems).

    Args:
      sums: int64 (..., systems, W).
    """
    found: NDArray[np.bool_] = sums[..., SEGMENTS] > 0
    return found


def _smallest(column: Integers) -> NDArray[np.unsignedinteger] | None:
    largest = int(column.max(initial=0))
    return column.astype(np.min_scalar_type(largest)) if largest else None
