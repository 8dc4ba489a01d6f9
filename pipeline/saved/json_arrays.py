"""Arrays of integers in JSON.

Most columns of the arrays in totals are 0 everywhere, so only the other columns are written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def encoded(array: NDArray[Any], axes: int = 1) -> dict[str, Any]:
    """An array of integers as JSON.

    Args:
      array: int64, or Python's unbounded integers.
      axes: how many of its last axes are one row. The integers of a row are its columns.

    Returns:
      `shape`: the lengths of all axes; `columns`: the columns that are not 0 in all rows;
      `values`: the integers of these columns, row by row.
    """
    rows, width = _divided(array.shape, axes)
    flat = array.reshape(rows, width)
    columns = np.flatnonzero((flat != 0).astype(bool).any(axis=0))
    return {
        "shape": list(array.shape),
        "columns": columns.tolist(),
        "values": flat[:, columns].ravel().tolist(),
    }


def decoded(fields: Mapping[str, Any], axes: int = 1) -> NDArray[Any]:
    """The array of `encoded`: int64, or Python's integers if one of them is too large.

    Raises:
      KeyError, TypeError, ValueError, IndexError: it is not such an array.
    """
    shape, columns = fields["shape"], fields["columns"]
    rows, width = _divided(tuple(shape), axes)
    try:
        values = np.array(fields["values"], np.int64)
    except OverflowError:
        values = np.array(fields["values"], object)
    flat: NDArray[Any] = np.zeros((rows, width), values.dtype)
    if values.dtype == object:
        flat[:] = 0  # the int of Python
    flat[:, np.array(columns, np.int64)] = values.reshape(rows, len(columns))
    array: NDArray[Any] = flat.reshape(shape)
    return array


def _divided(shape: tuple[int, ...], axes: int) -> tuple[int, int]:
    return math.prod(shape[:-axes]), math.prod(shape[-axes:])
