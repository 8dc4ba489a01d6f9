"""The numbers in columns of records, and which values are none.

JSON and Parquet have numbers. Tab-separated text has texts, which can be numbers, and so can the
texts of the others. A boolean is 1 or 0: judges often say only yes or no.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beam_bleu.transforms.native.arrays import Booleans, Floats, Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.fixed_point import SIGNED_BOUND
from beam_bleu.transforms.pairing.needs import ValuePartName
from beam_bleu.transforms.pairing.records.columns.column_paths import (
    elements_of,
    is_list,
    plain_type,
    plain_values,
)
from beam_bleu.transforms.pairing.text_lists import nulls

_NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_BOOLEANS = {"true": "1", "false": "0"}


@dataclasses.dataclass(frozen=True)
class Numbers:
    """The numbers of a column.

    Attributes:
      values: float64 (rows,). They are between the bounds of signed values of fixed point.
      missing: bool (rows,), whether there is no number: null, or a list with a null or without an
        item. The value is 0 then.
      wrong: bool (rows,), whether there is something else. The value is 0 then.
    """

    values: Floats
    missing: Booleans
    wrong: Booleans


def numbers_of(column: pa.Array, part: ValuePartName) -> Numbers:
    """The numbers of a column whose values `has_numbers` allows."""
    column = plain_values(column)
    if is_list(column.type):
        offsets, elements, there = elements_of(column)
    else:
        offsets, elements, there = np.arange(len(column) + 1), column, ~nulls(column)
    items = _scalars(elements)
    lengths = np.diff(offsets)
    missing = ~there | (lengths == 0) | _any(items.missing, offsets)
    values = _FUNCTIONS[part](items.values, offsets)
    wrong = ~missing & (_any(items.wrong, offsets) | ~(np.abs(values) < SIGNED_BOUND))
    return Numbers(np.where(missing | wrong, 0.0, values), missing, wrong)


def has_numbers(kind: pa.DataType, *, lists: bool) -> bool:
    """Whether values of a type are numbers, or texts that can be numbers.

    Args:
      kind: the type.
      lists: whether they can be lists of such values.
    """
    kind = plain_type(kind)
    if lists and is_list(kind):
        kind = plain_type(kind.value_type)
    is_number = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)
    is_text = pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)
    return bool(is_number or is_text or pt.is_boolean(kind) or pt.is_null(kind))


def numbers_as_texts(column: pa.Array) -> pa.Array:
    """A column of numbers as texts, or as lists of texts, for digests.

    Equal numbers have equal texts, also if one is an integer and the other one is a float.
    """
    column = plain_values(column)
    if is_list(column.type):
        offsets, elements, there = elements_of(column)
        texts = numbers_as_texts(elements)
        return pa.LargeListArray.from_arrays(pa.array(offsets), texts, mask=pa.array(~there))
    if pt.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pt.is_integer(column.type) or pt.is_floating(column.type) or pt.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    return column.cast(pa.large_string())


def _scalars(column: pa.Array) -> Numbers:
    """The numbers of a column without lists. Those that are wrong can be of any size."""
    column = plain_values(column)
    kind, missing = column.type, nulls(column)
    wrong = np.zeros(len(column), bool)
    if pt.is_null(kind):
        return Numbers(np.zeros(len(column)), missing, wrong)
    if pt.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)):
        column = column.cast(pa.large_string())
        for text, number in _BOOLEANS.items():
            column = pc.if_else(pc.equal(column, text), number, column)
        is_number = pc.fill_null(pc.match_substring_regex(column, _NUMBER), False)
        wrong = ~is_number.to_numpy(zero_copy_only=False) & ~missing
        column = pc.if_else(is_number, column, "0")
    floats = column.fill_null(0) if pt.is_null(kind) else column.cast(pa.float64(), safe=False)
    values = pc.fill_null(floats, 0.0).to_numpy(zero_copy_only=False)
    return Numbers(values, missing, wrong | ~np.isfinite(values))


def _any(rows: Booleans, offsets: Integers) -> Booleans:
    """For each list, whether one of its items is one of these."""
    before = np.concatenate([[0], np.cumsum(rows)])
    some: Booleans = np.diff(before[offsets]) > 0
    return some


def _sums(values: Floats, offsets: Integers) -> Floats:
    if len(values) == len(offsets) - 1 and (np.diff(offsets) == 1).all():
        return values
    sums = np.empty(len(offsets) - 1)
    _add_up(values, offsets, sums)
    return sums


def _counts(values: Floats, offsets: Integers) -> Floats:
    return np.diff(offsets).astype(np.float64)


_FUNCTIONS: Mapping[ValuePartName, Callable[[Floats, Integers], Floats]] = {
    "number": _sums,  # of lists of one
    "sum": _sums,
    "count": _counts,
}


@compiled
def _add_up(values, offsets, sums):
    """Writes the sum of each list, rounded once, but for its last bit.

    What each addition rounds off is added up, too: Neumaier 1974,
    https://doi.org/10.1002/zamm.19740540106.
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
