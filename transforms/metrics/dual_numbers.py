"""Numbers that carry their derivatives along: a formula that gets them gives its own gradient.

This is forward automatic differentiation, with exact slopes: as long as a formula adds, multiplies
and divides, numbers and slopes are fractions. The slopes of a logarithm are fractions, too, and so
are those of the logarithm of an exponential function. BLEU is one exponential function times
another, so the gradient of log BLEU has no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

Number: TypeAlias = Any
"""A plain number, a `Dual` or an `Exponential`."""

Slopes: TypeAlias = Mapping[int, int] | None
"""The derivative by each variable, times a denominator. Those that are missing are 0. None if they
are not fractions: those of a product with a logarithm."""


class Dual:
    """A number that depends on variables.

    Fractions are not reduced: the numbers are small, and reducing them would take most of the time.

    Attributes:
      numerator: the number times `denominator`. If it comes from a logarithm, it is a float, the
        number itself.
      denominator: above 0, also that of the slopes.
      slopes: its derivatives.
    """

    __slots__ = ("denominator", "numerator", "slopes")

    def __init__(self, numerator: int | float, denominator: int, slopes: Slopes) -> None:
        self.numerator: Any = numerator
        self.denominator = denominator
        self.slopes = slopes

    @classmethod
    def variable(cls, number: int, value: int) -> Dual:
        """The variable with this number, at a value."""
        return cls(value, 1, {number: 1})

    @property
    def is_rounded(self) -> bool:
        """Whether it comes from a logarithm."""
        return isinstance(self.numerator, float)

    @property
    def value(self) -> float:
        """The number, rounded."""
        return float(self.numerator if self.is_rounded else self.numerator / self.denominator)

    def __add__(self, other: Number) -> Dual:
        if not isinstance(other, Dual):
            if self.is_rounded:
                return Dual(self.numerator + other, self.denominator, self.slopes)
            if other == 0:
                return self
            numerator, denominator = other.as_integer_ratio()
            other = Dual(numerator, denominator, {})
        one, two, common = 1, 1, self.denominator
        if common != other.denominator:
            one, two, common = other.denominator, common, common * other.denominator
        if self.is_rounded or other.is_rounded:
            numerator = self.value + other.value
        else:
            numerator = self.numerator * one + other.numerator * two
        return Dual(numerator, common, _combined(self.slopes, one, other.slopes, two))

    def __neg__(self) -> Dual:
        return self * -1

    def __sub__(self, other: Number) -> Dual:
        return self.__add__(-other)

    def __rsub__(self, other: Number) -> Dual:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Number) -> Dual:
        if not isinstance(other, Dual):
            factor, divisor = other.as_integer_ratio()
            slopes = self.slopes and {key: slope * factor for key, slope in self.slopes.items()}
            numerator = self.numerator * (other if self.is_rounded else factor)
            return Dual(numerator, self.denominator * divisor, slopes)
        if self.is_rounded or other.is_rounded:
            return Dual(self.value * other.value, 1, None)
        return Dual(
            self.numerator * other.numerator,
            self.denominator * other.denominator,
            _combined(self.slopes, other.numerator, other.slopes, self.numerator),
        )

    def __truediv__(self, other: Number) -> Dual:
        inverse: Number = 1 / (other if isinstance(other, Dual) else Fraction(other))
        return self.__mul__(inverse)

    def __rtruediv__(self, other: Number) -> Dual:
        if self.is_rounded:
            return Dual(other / self.numerator, 1, None)
        slopes = self.slopes and {key: -slope for key, slope in self.slopes.items()}
        # 1/x is x / x^2, and its derivative -1 / x^2.
        inverse = Dual(self.numerator, self.numerator**2, slopes)
        return inverse.__mul__(other).__mul__(self.denominator)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return bool((self - other).numerator == 0)

    def __ge__(self, other: Number) -> bool:
        return bool((self - other).numerator >= 0)

    def __gt__(self, other: Number) -> bool:
        return bool((self - other).numerator > 0)

    __hash__ = None  # type: ignore[assignment]  # equal ones can have other slopes


class Exponential:
    """A factor times e to the power of an exponent. Its logarithm has the exponent's slopes."""

    __slots__ = ("exponent", "factor")

    def __init__(self, factor: float, exponent: Dual) -> None:
        self.factor = factor
        self.exponent = exponent

    def __mul__(self, other: Number) -> Exponential:
        if isinstance(other, Exponential):
            return Exponential(self.factor * other.factor, self.exponent + other.exponent)
        return Exponential(self.factor * other, self.exponent)

    __rmul__ = __mul__


def log(number: Number) -> Number:
    """The natural logarithm."""
    if not isinstance(number, Dual):
        return math.log(number)
    if isinstance(number.numerator, float):
        return Dual(math.log(number.numerator), 1, None)
    return Dual(math.log(number.value), number.numerator, number.slopes)


def exp(number: Number) -> Number:
    """The exponential function."""
    return Exponential(1.0, number) if isinstance(number, Dual) else math.exp(number)


def _combined(one: Slopes, factor: Number, other: Slopes, of_other: Number) -> Slopes:
    if one is None or other is None:
        return None
    slopes = dict(one) if factor == 1 else {key: slope * factor for key, slope in one.items()}
    for key, slope in other.items():
        slopes[key] = slopes.get(key, 0) + slope * of_other
    return slopes
