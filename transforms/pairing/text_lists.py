"""Columns of references in Arrow: one text in each row, or a list of texts in each row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers

Rows = npt.NDArray[np.bool_]
"""bool (rows,): for each row, whether it is one of these."""


def nulls(column: pa.Array) -> Rows:
    """The rows that are null."""
    if not column.null_count:
        return np.zeros(len(column), bool)
    rows: Rows = column.is_null().to_numpy(zero_copy_only=False)
    return rows


def texts(column: pa.Array) -> pa.LargeStringArray:
    """A column of large strings, or one of nulls without a type, as large strings."""
    # Readers give strings. But a column whose values are all null can have no other type.
    return column.cast(pa.large_string()) if pa.types.is_null(column.type) else column


def lengths(column: pa.Array) -> Integers:
    """The number of texts in each row of a column of references, with nulls in lists."""
    if not pa.types.is_large_list(column.type):
        return np.ones(len(column), np.int64)
    counts: Integers = np.where(nulls(column), 0, np.diff(column.offsets.to_numpy()))
    return counts


def reference_counts(column: pa.Array) -> Integers:
    """The number of references in each row of a column of references."""
    there = ~nulls(column)
    if not pa.types.is_large_list(column.type):
        return there.astype(np.int64)
    before = np.zeros(len(column.values) + 1, np.int64)
    np.cumsum(~nulls(column.values), out=before[1:])
    counts: Integers = np.where(there, np.diff(before[column.offsets.to_numpy()]), 0)
    return counts


def spread(column: pa.Array) -> Iterator[pa.LargeStringArray]:
    """The columns of a column of references: one, or one for each place of its lists."""
    if not pa.types.is_large_list(column.type):
        yield texts(column)
        return
    values, of_rows = texts(column.values), lengths(column)
    begins = column.offsets.to_numpy()[:-1]
    for place in range(int(of_rows.max())):
        missing = of_rows <= place
        # A null index gives a null.
        yield values.take(pa.array(np.where(missing, 0, begins + place), mask=missing))
