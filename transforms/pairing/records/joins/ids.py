"""The ids of records as texts.

An integer is its decimal digits, so the ids of all formats can be compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.pairing.records.columns.wanted import INTEGER_ID


def id_texts(ids: pa.Array) -> pa.LargeStringArray | None:
    """The ids of a column of a canonical type, as texts; None if it has no strings or integers."""
    kind = ids.type
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
