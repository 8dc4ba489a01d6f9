"""Columns of Arrow tables that someone else made: checked, and as the types that we work with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.text_lists import nulls


def whole_column(column: pa.ChunkedArray) -> pa.Array:
    """A column that can be in pieces, as one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    # All pieces together can have more text than offsets of 32 bits can tell.
    if is_string(column.type):
        column = column.cast(pa.large_string())
    elif _is_list(column.type) and is_string(column.type.value_type):
        column = column.cast(pa.large_list(pa.large_string()))
    return pa.concat_arrays(column.chunks)


def text_column(column: pa.Array, name: str) -> pa.LargeStringArray:
    """A column of strings of any type, as large strings.

    Raises:
      InputError: it has another type, or is not valid.
    """
    column = without_dictionary(column, name)
    if not (is_string(column.type) or pa.types.is_null(column.type)):
        raise InputError(
            f"the column {name!r} must have strings, but its type is {column.type}",
            "name another column, or a column of lists alone: references='name'"
            if _is_list(column.type)
            else "name another column, or cast it",
        )
    _require_valid(column, name)
    return column.cast(pa.large_string())


def without_dictionary(column: pa.Array, name: str) -> pa.Array:
    """The values of a column that can be encoded with a dictionary.

    Raises:
      InputError: its numbers are not those of values.
    """
    if not pa.types.is_dictionary(column.type):
        return column
    _require_valid(column, name)
    return column.dictionary_decode()


def list_column(column: pa.Array, name: str) -> pa.LargeListArray:
    """A column of lists of strings, as large lists whose `values` are only those of its rows.

    Raises:
      InputError: it has another type, or is not valid.
    """
    if not _is_list(column.type) or not (
        is_string(column.type.value_type) or pa.types.is_null(column.type.value_type)
    ):
        raise InputError(
            f"the column {name!r} must have lists of strings, but its type is {column.type}",
            "for columns with one reference each, list them: references=['a', 'b']",
        )
    # `values` of a slice are those of its whole table. To look at all of them for each slice would
    # take time in the square of the table's rows. So the slice gets values of its own. First its
    # places are checked: a wrong one would be outside of the memory.
    _require_valid(column, name, full=False)
    if pa.types.is_fixed_size_list(column.type):
        places = (column.offset + np.arange(len(column) + 1)) * column.type.list_size
    else:
        places = column.offsets.to_numpy()
    begin, end = int(places[0]), int(places[-1])
    if np.any(np.diff(places) < 0) or not 0 <= begin <= end <= len(column.values):
        raise InputError(f"the column {name!r} is not valid: its lists overlap", _MAKE_AGAIN)
    values = column.values[begin:end]
    _require_valid(values, name)
    return pa.LargeListArray.from_arrays(
        pa.array(places - begin, pa.int64()),
        values.cast(pa.large_string()),
        mask=pa.array(nulls(column)),
    )


def is_string(kind: pa.DataType) -> bool:
    """Whether a type is one of strings, without a dictionary."""
    is_of = pa.types
    return bool(is_of.is_string(kind) or is_of.is_large_string(kind) or is_of.is_string_view(kind))


def _is_list(kind: pa.DataType) -> bool:
    is_of = pa.types
    return bool(is_of.is_list(kind) or is_of.is_large_list(kind) or is_of.is_fixed_size_list(kind))


def _require_valid(column: pa.Array, name: str, *, full: bool = True) -> None:
    """Checks a column, in full also that its texts are UTF-8."""
    # Arrow trusts those who make a column. A reader of files does not check its bytes.
    try:
        column.validate(full=full)
    except pa.ArrowInvalid as error:
        raise InputError(f"the column {name!r} is not valid: {error}", _MAKE_AGAIN) from None


_MAKE_AGAIN = "decode the texts with their encoding"
