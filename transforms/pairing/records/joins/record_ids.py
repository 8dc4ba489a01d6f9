"""The ids of records: as texts of one kind, and as numbers of partitions."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.columns import offsets_of, padded
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import load_word
from beam_bleu.transforms.pairing.records.joins.id_kinds import IdKind

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, as in hash tables
_SEED = np.uint64(0xFF51AFD7ED558CCD)
_WORD = 8


class NotAnIdError(ValueError):
    """A column cannot hold ids. The text says what it holds instead."""


def id_texts(ids: pa.Array, typed: bool = True) -> tuple[IdKind, pa.LargeStringArray]:
    """The kind of the ids of a column, and the ids as texts. Nulls stay nulls.

    Args:
      ids: the column.
      typed: whether its file has types.

    Raises:
      NotAnIdError: they are neither strings nor integers.
    """
    if pa.types.is_large_string(ids.type) or pa.types.is_string(ids.type):
        return "string" if typed else "text", ids.cast(pa.large_string())
    if pa.types.is_integer(ids.type):
        return "integer", ids.cast(pa.large_string())
    if pa.types.is_dictionary(ids.type):
        return id_texts(ids.dictionary_decode(), typed)
    raise NotAnIdError(f"values of the type {ids.type}")


def shown_id(text: str, kind: IdKind) -> str:
    """An id as messages show it: as JSON writes it, so that "1" is not 1."""
    return text if kind == "integer" else json.dumps(text, ensure_ascii=False)


def partitions_of(ids: pa.LargeStringArray, partitions: int) -> Integers:
    """The partition of each id, int64: the same for equal ids in every process.

    Args:
      ids: the ids, without nulls.
      partitions: the number of partitions.
    """
    column = padded(pc.fill_null(ids, "") if ids.null_count else ids)
    found = np.empty(len(column), np.int64)
    if len(column):
        _hash_ids(column.buffers()[2].address, offsets_of(column), partitions, found)
    return found


@inner
def _mixed(hashed):
    hashed = (hashed ^ (hashed >> np.uint64(32))) * _MULTIPLIER
    return hashed ^ (hashed >> np.uint64(29))


@compiled
def _hash_ids(texts, offsets, partitions, found):
    """Sets the partition of each of the texts at `offsets`."""
    for row in range(offsets.size - 1):
        at, end = texts + offsets[row], texts + offsets[row + 1]
        hashed = _SEED ^ np.uint64(end - at)
        while at + _WORD <= end:
            hashed = _mixed(hashed ^ load_word(at))
            at += _WORD
        if at < end:
            # Only the bytes of the text. A padded column can be read after its end.
            unused = np.uint64(8 * (_WORD - (end - at)))
            hashed = _mixed(hashed ^ (load_word(at) << unused))
        found[row] = np.int64(_mixed(hashed) % np.uint64(partitions))
