"""Automatic differentiation in reverse mode: gives the value of a formula and its gradient. Numbers
record the operations of the formula, and the chain rule goes from the result back to the variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Number: TypeAlias = Any
_Step = tuple[tuple[int, float], ...]
"""The places of the numbers that an operation has used, and its derivatives by each of them."""


class Recorded:
    """A number, and the place in the record of the operation that gave it."""

    __slots__ = ("number", "place", "record")

    def __init__(self, number: int | float, record: list[_Step], step: _Step = ()) -> None:
        self.number: Any = number
        self.record = record
        self.place = len(record)
        record.append(step)

    def _with(self, other: Number, number: Any, slope: Any, other_slope: Any) -> Recorded:
        step: _Step = ((self.place, slope),)
        if isinstance(other, Recorded):
            step = (*step, (other.place, other_slope))
        return Recorded(number, self.record, step)

    def __add__(self, other: Number) -> Recorded:
        return self._with(other, self.number + _plain(other), 1.0, 1.0)

    def __sub__(self, other: Number) -> Recorded:
        return self._with(other, self.number - _plain(other), 1.0, -1.0)

    def __rsub__(self, other: float) -> Recorded:
        return self._with(other, other - self.number, -1.0, 1.0)

    def __mul__(self, other: Number) -> Recorded:
        number = _plain(other)
        return self._with(other, self.number * number, number, self.number)

    def __truediv__(self, other: Number) -> Recorded:
        number = _plain(other)
        quotient, slope = self.number / number, 1 / number
        return self._with(other, quotient, slope, -quotient * slope)

    def __rtruediv__(self, other: float) -> Recorded:
        quotient = other / self.number
        return self._with(other, quotient, -quotient / self.number, 1.0)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return bool(self.number == _plain(other))

    def __ge__(self, other: Number) -> bool:
        return bool(self.number >= _plain(other))

    def __gt__(self, other: Number) -> bool:
        return bool(self.number > _plain(other))

    __hash__ = None  # type: ignore[assignment]  # equal ones can have other derivatives


def log(number: Number) -> Number:
    if not isinstance(number, Recorded):
        return math.log(number)
    step = ((number.place, 1 / number.number),)
    return Recorded(math.log(number.number), number.record, step)


def exp(number: Number) -> Number:
    if not isinstance(number, Recorded):
        return math.exp(number)
    power = math.exp(number.number)
    return Recorded(power, number.record, ((number.place, power),))


def gradient(
    function: Callable[[Sequence[Number]], Number], point: Sequence[int]
) -> tuple[float, tuple[float, ...]]:
    """The value of a function of sums, products, quotients, comparisons, `log` and `exp`, and its
    derivatives; those by variables that are 0, which stay plain numbers, are 0.
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
