"""The ids of records: their kinds, their texts, and the buckets that they go to."""

# mypy: allow-untyped-defs

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import load_word
from beam_bleu.transforms.native.text_columns import offsets_of, padded

PartKind = Literal["string", "integer", "text"]
PART_KINDS: tuple[PartKind, ...] = get_args(PartKind)
"""What ids are in their file. The string "1" and the integer 1 are different ids. But the ids of a
file without types, such as tab-separated text, are neither: the text 1 is the same as both."""

IdKind = str
"""The kind of an id: that of each of its columns, with commas between them."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, as in hash tables
_SEED = np.uint64(0xFF51AFD7ED558CCD)
_WORD = 8

_BETWEEN, _ESCAPE = "\x1f", "\x1e"
_ESCAPES = ((_ESCAPE, _ESCAPE + "0"), (_BETWEEN, _ESCAPE + "1"))
"""The characters between the parts of an id, and what stands for them inside a part. So ids of
different parts never have equal texts."""


def kind_of_parts(parts: Iterable[PartKind]) -> IdKind:
    """The kind of ids whose columns have these kinds."""
    return ",".join(parts)


def parts_of_kind(kind: IdKind) -> list[PartKind]:
    """The kind of each column of the ids.

    Raises:
      ValueError: it is not a kind.
    """
    return [PART_KINDS[PART_KINDS.index(part)] for part in kind.split(",")]


def can_be_joined(kinds: Collection[IdKind]) -> bool:
    """Whether ids of all these kinds, which have equally many columns, can be compared."""
    columns = zip(*map(parts_of_kind, kinds), strict=True)
    return all(len({*of_column} - {"text"}) <= 1 for of_column in columns)


class NotAnIdError(ValueError):
    """A column cannot hold ids. The text says what it holds instead."""


def ids_of_columns(
    columns: Sequence[tuple[PartKind, pa.LargeStringArray]],
) -> tuple[IdKind, pa.LargeStringArray]:
    """The kind and the texts of ids that consist of several columns. Without a part, an id is null.

    Args:
      columns: what `id_texts` gives for each column.
    """
    kind = kind_of_parts(part for part, _ in columns)
    texts = [column for _, column in columns]
    if len(texts) == 1:
        return kind, texts[0]
    for character, escape in _ESCAPES:
        texts = [pc.replace_substring(column, character, escape) for column in texts]
    between = pa.scalar(_BETWEEN, pa.large_string())
    return kind, pc.binary_join_element_wise(*texts, between, null_handling="emit_null")


def id_texts(ids: pa.Array, typed: bool = True) -> tuple[PartKind, pa.LargeStringArray]:
    """The kind of the ids of a column, and the ids as texts. Nulls stay nulls.

    Args:
      ids: the column.
      typed: whether its file has types.

    Raises:
      NotAnIdError: they are neither strings nor integers.
    """
    if pa.types.is_large_string(ids.type):
        return "string" if typed else "text", ids
    if pa.types.is_integer(ids.type) or (pa.types.is_decimal(ids.type) and not ids.type.scale):
        return "integer", ids.cast(pa.large_string())
    if pa.types.is_dictionary(ids.type):
        return id_texts(ids.dictionary_decode(), typed)
    raise NotAnIdError(f"values of the type {ids.type}")


def kept_ids(ids: pa.LargeStringArray, kind: IdKind) -> pa.LargeStringArray:
    """Ids as a column of the scores of segments: their texts; of several columns, a JSON list.

    Args:
      ids: what `ids_of_columns` gives, without nulls.
      kind: their kind.
    """
    kinds = parts_of_kind(kind)
    if len(kinds) == 1:
        return ids
    of_ids = pc.split_pattern(ids, _BETWEEN)
    texts = [_json_parts(pc.list_element(of_ids, i), part) for i, part in enumerate(kinds)]
    columns = pc.binary_join_element_wise(*texts, pa.scalar(",", ids.type))
    brackets = (pa.scalar(text, ids.type) for text in ("[", "]", ""))
    begin, end, between = brackets
    return pc.binary_join_element_wise(begin, columns, end, between)


def _json_parts(texts: pa.LargeStringArray, kind: PartKind) -> pa.LargeStringArray:
    """The parts of ids as JSON."""
    if kind == "integer":
        return texts
    for character, escape in reversed(_ESCAPES):
        texts = pc.replace_substring(texts, escape, character)
    if pc.any(pc.match_substring_regex(texts, r'[\x00-\x1f"\\]')).as_py():
        written = [json.dumps(text, ensure_ascii=False) for text in texts.to_pylist()]
        return pa.array(written, texts.type)
    quote, between = (pa.scalar(text, texts.type) for text in ('"', ""))
    return pc.binary_join_element_wise(quote, texts, quote, between)


def shown_id(text: str, kind: IdKind) -> str:
    """An id as messages show it: as JSON writes it, so that "1" is not 1.

    An id of several columns has its parts in parentheses: ("news", 1).
    """
    kinds = parts_of_kind(kind)
    if len(kinds) == 1:
        return _shown_part(text, kinds[0])
    parts = text.split(_BETWEEN)
    for character, escape in reversed(_ESCAPES):
        parts = [part.replace(escape, character) for part in parts]
    return f"({', '.join(map(_shown_part, parts, kinds))})"


def _shown_part(text: str, kind: PartKind) -> str:
    return text if kind == "integer" else json.dumps(text, ensure_ascii=False)


def hashes_of(column: pa.LargeStringArray) -> pa.Int64Array:
    """A hash of 63 bits for each text, the same in every process; null for a null."""
    mask = column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(buckets_of(column, np.iinfo(np.int64).max), mask=mask)


def buckets_of(ids: pa.LargeStringArray, buckets: int) -> Integers:
    """The bucket of each id, int64: the same for equal ids in every process.

    Args:
      ids: the ids, without nulls.
      buckets: the number of buckets.
    """
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
    """Sets the bucket of each of the texts at `offsets`."""
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
