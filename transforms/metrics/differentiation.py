"""Numbers that record how they were computed: a formula that gets them gives its own gradient.

This is automatic differentiation in reverse mode: each operation is written down with its
derivatives, and afterwards the chain rule is applied from the result back to the variables. The
number itself comes from the same operations as without a record, so it is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Number: TypeAlias = Any
"""A plain number or a `Recorded` one."""

_Step = tuple[tuple[int, float], ...]
"""The places of the numbers that an operation has used, and its derivatives by each of them."""


class Recorded:
    """A number that depends on variables.

    Attributes:
      number: an integer without a bound, or a float.
      record: all operations until now; those of all numbers that are used together.
      place: that of the operation whose result it is.
    """

    __slots__ = ("number", "place", "record")

    def __init__(self, number: int | float, record: list[_Step], step: _Step = ()) -> None:
        self.number: Any = number
        self.record = record
        self.place = len(record)
        record.append(step)

    def __add__(self, other: Number) -> Recorded:
        if not isinstance(other, Recorded):
            return Recorded(self.number + other, self.record, ((self.place, 1.0),))
        step = (self.place, 1.0), (other.place, 1.0)
        return Recorded(self.number + other.number, self.record, step)

    def __sub__(self, other: Number) -> Recorded:
        if not isinstance(other, Recorded):
            return Recorded(self.number - other, self.record, ((self.place, 1.0),))
        step = (self.place, 1.0), (other.place, -1.0)
        return Recorded(self.number - other.number, self.record, step)

    def __rsub__(self, other: float) -> Recorded:
        return Recorded(other - self.number, self.record, ((self.place, -1.0),))

    def __mul__(self, other: Number) -> Recorded:
        if not isinstance(other, Recorded):
            return Recorded(self.number * other, self.record, ((self.place, other),))
        step = (self.place, other.number), (other.place, self.number)
        return Recorded(self.number * other.number, self.record, step)

    def __truediv__(self, other: Number) -> Recorded:
        if not isinstance(other, Recorded):
            return Recorded(self.number / other, self.record, ((self.place, 1 / other),))
        quotient, slope = self.number / other.number, 1 / other.number
        return Recorded(
            quotient, self.record, ((self.place, slope), (other.place, -quotient * slope))
        )

    def __rtruediv__(self, other: float) -> Recorded:
        quotient = other / self.number
        return Recorded(quotient, self.record, ((self.place, -quotient / self.number),))

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return bool(self.number == _plain(other))

    def __ge__(self, other: Number) -> bool:
        return bool(self.number >= _plain(other))

    def __gt__(self, other: Number) -> bool:
        return bool(self.number > _plain(other))

    __hash__ = None  # type: ignore[assignment]  # equal ones can have other derivatives


def log(number: Number) -> Number:
    """The natural logarithm."""
    if not isinstance(number, Recorded):
        return math.log(number)
    step = ((number.place, 1 / number.number),)
    return Recorded(math.log(number.number), number.record, step)


def exp(number: Number) -> Number:
    """The exponential function."""
    if not isinstance(number, Recorded):
        return math.exp(number)
    power = math.exp(number.number)
    return Recorded(power, number.record, ((number.place, power),))


def gradient(
    function: Callable[[Sequence[Number]], Number], point: Sequence[int]
) -> tuple[float, tuple[float, ...]]:
    """The value of a function, and its derivatives by the variables that are not 0 there.

    Variables that are 0 stay plain numbers, and their derivatives here are 0.

    Args:
      function: adds, subtracts, multiplies, divides and compares, with `log` and `exp`.
      point: the values of the variables.
    """
    record: list[_Step] = []
    variables = [Recorded(value, record) if value else 0 for value in point]
    result = function(variables)
    if not isinstance(result, Recorded):
        return result, (0.0,) * len(point)
    slopes = [0.0] * len(record)
    slopes[result.place] = 1.0
    for place in range(result.place, -1, -1):
        slope = slopes[place]
        for used, derivative in record[place]:
            slopes[used] += slope * derivative
    return result.number, tuple(
        slopes[variable.place] if isinstance(variable, Recorded) else 0.0 for variable in variables
    )


def _plain(number: Any) -> Any:
    return number.number if isinstance(number, Recorded) else number
