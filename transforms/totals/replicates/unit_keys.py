"""Unit keys: the 64-bit numbers from which the random numbers of units are drawn.

A key depends on the names of a unit, never on its text: on the label of the partition and either
the segment's number in the input or the name of its document. Two different units can have the
same key by chance. Among a billion units this happens with a probability of 3 %, and then these
two have the same weights, which changes no result noticeably.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.native.arrays import Integers

UnitKeys = NDArray[np.uint64]


def segment_keys(partition: str, numbers: Integers | None) -> UnitKeys:
    """The keys of segments: the hash of the partition plus the segment's number, modulo 2^64.

    Args:
      partition: the label of the partition; "" if it has none.
      numbers: int64 (segments,), the number of each segment in the input, from 0.

    Raises:
      JobError: the segments have no numbers.
    """
    if numbers is None:
        raise JobError(
            "segments without numbers cannot be resampled: their random weights are drawn from "
            "their numbers",
            "give each batch its segments' numbers, or resample by document",
        )
    first = np.uint64(_hash(partition.encode()))
    keys: UnitKeys = numbers.astype(np.uint64) + first  # arrays wrap around without a warning
    return keys


def document_keys(partition: str, documents: pa.DictionaryArray) -> UnitKeys:
    """The keys of the documents of segments: the hash of partition, a zero byte, and name.

    Args:
      partition: the label of the partition; "" if it has none.
      documents: the name of each segment's document.

    Raises:
      JobError: a segment has no document.
    """
    prefix = partition.encode() + b"\0"
    indices = documents.indices
    if documents.null_count or pc.any(pc.is_null(documents.dictionary.take(indices))).as_py():
        raise JobError(
            "a segment has no document, so it cannot be resampled by document",
            "give each segment the name of its document",
        )
    used, places = np.unique(indices.to_numpy(zero_copy_only=False), return_inverse=True)
    names: list[str] = documents.dictionary.take(pa.array(used)).to_pylist()
    keys = np.array([_hash(prefix + name.encode()) for name in names], np.uint64)
    return keys[places]


def unit_keys(partition: str, numbers: Integers | None, documents: Any | None = None) -> UnitKeys:
    """The key of each segment's unit: of its document, if there are documents, else its own.

    Args:
      partition: the label of the partition; "" if it has none.
      numbers: int64 (segments,), the number of each segment in the input; None if it has none.
      documents: the column with the name of each segment's document; None if each segment is a
        unit.

    Returns:
      uint64 (segments,).

    Raises:
      JobError: a segment has no number, or no document.
    """
    if documents is None:
        return segment_keys(partition, numbers)
    return document_keys(partition, documents)


def _hash(name: bytes) -> int:
    """64 bits of BLAKE2b (RFC 7693), the first byte lowest. It is part of what results mean."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
