"""Reads numbers from columns of records. A text that spells a number counts as one, as in CSV. For
means, booleans count as 1 and 0, because judges often say only yes or no; elsewhere they are wrong.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beam_bleu.transforms.native.arrays import Booleans, Floats, Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.fixed_point import VALUE_BOUND
from beam_bleu.transforms.native.text_columns import offsets_of, padded
from beam_bleu.transforms.pairing.canonical import is_text, lengths, nulls
from beam_bleu.transforms.pairing.needs import ValueColumn, ValuePartName
from beam_bleu.transforms.text.splitting import split_words

_NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_BOOLEANS = {"true": "1", "false": "0"}


# Log-probabilities above 0, up to this, count as 0: models compute with short floats.
_ROUNDED_ZERO = 1e-5


class Numbers(NamedTuple):
    """The numbers of a column, float64 (rows,); and, bool (rows,), where the value is missing or
    wrong, so that the number is 0.
    """

    values: Floats
    missing: Booleans
    wrong: Booleans


def numbers_of(column: pa.Array, part: ValuePartName) -> Numbers:
    missing = nulls(column)
    values, wrong = _FUNCTIONS[part](column)
    wrong = ~missing & (wrong | ~(np.abs(values) < VALUE_BOUND))
    return Numbers(np.where(missing | wrong, 0.0, values), missing, wrong)


def has_values(kind: pa.DataType, value: ValueColumn) -> bool:
    if pt.is_large_list(kind):
        return value.takes("list") and _has_numbers(kind.value_type)
    if pt.is_null(kind):
        return True
    return (value.takes("number") and _has_numbers(kind)) or (value.takes("text") and is_text(kind))


def _has_numbers(kind: pa.DataType) -> bool:
    is_number = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)
    return bool(is_number or is_text(kind) or pt.is_boolean(kind))


def numbers_as_texts(column: pa.Array) -> pa.Array:
    """A column of numbers, or lists of them, as texts for digests, which do not depend on types."""
    if pt.is_large_list(column.type):
        texts = numbers_as_texts(column.flatten())
        mask = column.is_null()
        return pa.LargeListArray.from_arrays(pa.array(_offsets(column)), texts, mask=mask)
    if pt.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pt.is_integer(column.type) or pt.is_floating(column.type) or pt.is_decimal(column.type):
        column = _as_floats(column)
    return column.cast(pa.large_string())


def _offsets(lists: pa.LargeListArray) -> Integers:
    offsets: Integers = np.concatenate([[0], np.cumsum(lengths(lists))])
    return offsets


def _as_floats(column: pa.Array) -> pa.Array:
    if pt.is_decimal(column.type):
        # Through text, which Arrow reads exactly: its cast of decimals is wrong by a bit or two.
        column = column.cast(pa.large_string())
    return column.cast(pa.float64(), safe=False)


# The numbers in a column's lists, or one in each row: float64 (items,), 0 if an item is no number;
# bool (items,), whether it is no number; int64 (rows + 1,), where the items of each row begin.
_Items = tuple[Floats, Booleans, Integers]

# The numbers, float64 (rows,), and whether each is wrong, bool (rows,); arbitrary for nulls.
_Judged = tuple[Floats, Booleans]


def _items_of(column: pa.Array, takes_booleans: bool = False) -> _Items:
    if pt.is_large_list(column.type):
        offsets, column = _offsets(column), column.flatten()
    else:
        offsets = np.arange(len(column) + 1)
    kind, wrong = column.type, nulls(column)
    if not (pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)):
        column = column.cast(pa.large_string())
        for text, number in _BOOLEANS.items() if takes_booleans else ():
            column = pc.if_else(pc.equal(column, text), number, column)
        is_number = pc.fill_null(pc.match_substring_regex(column, _NUMBER), False)
        wrong = ~is_number.to_numpy(zero_copy_only=False)
        column = pc.if_else(is_number, column, "0")
    values = pc.fill_null(_as_floats(column), 0.0).to_numpy(zero_copy_only=False)
    return values, wrong | ~np.isfinite(values), offsets


def _number(column: pa.Array) -> _Judged:
    return _items_of(column, takes_booleans=True)[:2]


def _log_probability(column: pa.Array) -> _Judged:
    values, wrong, offsets = _items_of(column)
    wrong_before = np.concatenate([[0], np.cumsum(wrong | ~(values <= _ROUNDED_ZERO))])
    sums = np.empty(len(column))
    _add_up(np.minimum(values, 0.0), offsets, sums)
    return sums, (np.diff(wrong_before[offsets]) > 0) | (np.diff(offsets) == 0)


def _length(column: pa.Array) -> _Judged:
    lengths = np.diff(_items_of(column)[2])
    return lengths.astype(np.float64), lengths == 0


def _whole(column: pa.Array, least: int = 0) -> _Judged:
    values, wrong, _ = _items_of(column)
    return values, wrong | (values != np.floor(values)) | (values < least)


def _words(column: pa.Array) -> _Judged:
    return split_words(padded(column)).astype(np.float64), np.zeros(len(column), bool)


def _bytes(column: pa.Array) -> _Judged:
    return np.diff(offsets_of(column)).astype(np.float64), np.zeros(len(column), bool)


_FUNCTIONS: Mapping[ValuePartName, Callable[[pa.Array], _Judged]] = {
    "number": _number,
    "log_probability": _log_probability,
    "summed_log_probability": _log_probability,
    "log_probabilities": _log_probability,
    "length": _length,
    "positive": functools.partial(_whole, least=1),
    "whole": _whole,
    "words": _words,
    "bytes": _bytes,
}


@compiled
def _add_up(values, offsets, sums):
    """Writes the sum of each list, correct but for its last bit (Neumaier 1974,
    https://doi.org/10.1002/zamm.19740540106).
    """
    for row in range(sums.size):
        total, lost = 0.0, 0.0
        for place in range(offsets[row], offsets[row + 1]):
            value = values[place]
            added = total + value
            if abs(total) >= abs(value):
                lost += (total - added) + value
            else:
                lost += (value - added) + total
            total = added
        sums[row] = total + lost
