"""The ids of records: their texts, and the buckets that they go to.

An id is a text. An integer is its decimal digits, so the ids of all formats can be compared.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import load_word
from beam_bleu.transforms.native.text_columns import offsets_of, padded
from beam_bleu.transforms.pairing.records.columns.wanted import INTEGER_ID

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, as in hash tables
_SEED = np.uint64(0xFF51AFD7ED558CCD)
_WORD = 8


def id_texts(ids: pa.Array) -> pa.LargeStringArray | None:
    """The ids of a column of a canonical type, as texts; None if it has no strings or integers."""
    kind = ids.type
    if pa.types.is_dictionary(kind):
        return id_texts(ids.dictionary_decode())
    is_integer = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and not kind.scale)
    is_id = is_integer or pa.types.is_large_string(kind)
    return ids.cast(pa.large_string()) if is_id else None


def joined_ids(columns: Sequence[pa.LargeStringArray]) -> pa.LargeStringArray:
    """The ids that consist of the texts of these columns: if they are several, as lists of JSON.

    Without a part, an id is null. A part that looks like an integer is a number of JSON.
    """
    if len(columns) == 1:
        return columns[0]
    begin, end, comma, nothing = (
        pa.scalar(text, pa.large_string()) for text in ("[", "]", ",", "")
    )
    parts = pc.binary_join_element_wise(*map(_json, columns), comma, null_handling="emit_null")
    return pc.binary_join_element_wise(begin, parts, end, nothing, null_handling="emit_null")


def _json(parts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Parts of ids as JSON. Only those that are no numbers become Python objects."""
    if pc.all(pc.match_substring_regex(parts, INTEGER_ID)).as_py():
        return parts
    encoded = parts.dictionary_encode()
    shown = [shown_id(part) for part in encoded.dictionary.to_pylist()]
    return pa.array(shown, parts.type).take(encoded.indices)


def shown_id(text: str) -> str:
    """An id of one column as messages show it: a number, or a JSON string."""
    return text if re.fullmatch(INTEGER_ID, text) else json.dumps(text, ensure_ascii=False)


def hashes_of(column: pa.LargeStringArray) -> pa.Int64Array:
    """A hash of 63 bits for each text, the same in every process; null for a null."""
    mask = column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(buckets_of(column, np.iinfo(np.int64).max), mask=mask)


def buckets_of(ids: pa.LargeStringArray, buckets: int) -> Integers:
    """The bucket of each id, int64: the same for equal ids in every process."""
    column = padded(pc.fill_null(ids, "") if ids.null_count else ids)
    numbers = np.empty(len(column), np.int64)
    if len(column):
        _hash_ids(column.buffers()[2].address, offsets_of(column), buckets, numbers)
    return numbers


@inner
def _mixed(hashed):
    hashed = (hashed ^ (hashed >> np.uint64(32))) * _MULTIPLIER
    return hashed ^ (hashed >> np.uint64(29))


@compiled
def _hash_ids(texts, offsets, buckets, numbers):
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
        numbers[row] = np.int64(_mixed(hashed) % np.uint64(buckets))
