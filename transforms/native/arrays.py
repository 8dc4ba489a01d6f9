"""Types of arrays, and sums of integers that are exact whatever their size."""

from __future__ import annotations

import abc
import dataclasses
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

LARGEST_INTEGER = 2**63 - 1  # the largest integer in `Integers`
EXACT_AS_FLOAT = 2**53  # integers up to this one are exact as floats
ExactIntegers = Integers | NDArray[np.object_]
"""int64; or Python's unbounded integers, if one of the integers does not fit in an int64."""


def exact(values: NDArray[Any]) -> ExactIntegers:
    if values.dtype == object and (not values.size or max(values.flat) <= LARGEST_INTEGER):
        return values.astype(np.int64)
    return values


def without_nan(values: Floats) -> pa.DoubleArray:
    # Not `pa.array`: it imports pandas if it is installed.
    is_there = values == values
    complete = is_there.all()
    there = None if complete else pa.py_buffer(np.packbits(is_there, bitorder="little"))
    buffers = [there, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.DoubleArray.from_buffers(pa.float64(), len(values), buffers)


def largest(values: ExactIntegers) -> int:
    return int(values.max()) if values.size else 0


@dataclasses.dataclass(frozen=True)
class Compact:
    """Integers of 0 or more, for pickle and files: without columns that are all 0, and in the
    smallest type that can hold them. The first two axes of `shape` are rows, the others columns.
    """

    shape: tuple[int, ...]
    columns: Integers
    values: NDArray[Any]

    @classmethod
    def of(cls, array: ExactIntegers) -> Compact:
        rows = array.reshape(math.prod(array.shape[:2]), math.prod(array.shape[2:]))
        columns = np.flatnonzero(rows.any(axis=0))
        kind = array.dtype if array.dtype == object else np.min_scalar_type(largest(array))
        return cls(array.shape, columns, rows[:, columns].astype(kind))

    @property
    def array(self) -> ExactIntegers:
        kind = object if self.values.dtype == object else np.int64
        rows = np.zeros((len(self.values), math.prod(self.shape[2:])), kind)
        rows[:, self.columns] = self.values
        return rows.reshape(self.shape)


def compact(value: Any) -> Any:
    is_large = isinstance(value, np.ndarray) and value.nbytes > 1 << 13
    return Compact.of(value) if is_large else value


def expanded(value: Any) -> Any:
    return value.array if isinstance(value, Compact) else value


def rows_added(shape: tuple[int, ...], parts: Sequence[tuple[Any, ExactIntegers]]) -> ExactIntegers:
    """Adds up arrays of integers, each at the places of an index, which has no place twice."""
    bound = sum(largest(values) for _, values in parts)
    is_bounded = bound <= LARGEST_INTEGER and all(values.dtype != object for _, values in parts)
    total: NDArray[Any] = np.zeros(shape, np.int64 if is_bounded else object)
    for places, values in parts:
        total[places] += values
    return exact(total)


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Sums(abc.ABC):
    """Integers that are added up over a corpus. Frozen; every engine gets the same sums."""

    @abc.abstractmethod
    def __add__(self, other: Any) -> Any:
        """The sums of both parts; a ValueError if they are of different things."""

    @property
    def nbytes(self) -> int:
        return 0


def added_by_key(
    one: Mapping[_Key, _Value],
    other: Mapping[_Key, _Value],
    add: Callable[[_Value, _Value], _Value] = operator.add,
) -> dict[_Key, _Value]:
    both = dict(one)
    for key, value in other.items():
        both[key] = add(both[key], value) if key in both else value
    return both
