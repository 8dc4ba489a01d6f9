"""How numbers are written for readers: a score with its uncertainty, a difference, a p-value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.transforms.score.uncertainty import TWO_SIDED_95

USUAL_DECIMALS = 1  # as in sacreBLEU
"""How many decimals the scores of most metrics have if they have no standard error."""

_SMALLEST_P = 0.001
"""Smaller p-values are estimates far out in a tail. Their digits mean nothing."""

_SIGNIFICANT_DIGITS = 2
"""How many digits of a standard error are shown. More would change with every other test set."""

_DECIMALS_OF_ESTIMATES = range(1, 13)
"""How many decimals numbers with a standard error can have. A double holds no more of a score."""

HALF_INTERVAL = "± is half of the 95 % interval"
"""What a reader of an estimate must know."""

Estimate = tuple[str, str]
"""A rounded number, and half of its 95 % interval or "" if it has none."""


def decimals_for(standard_errors: Iterable[float | None], usual: int) -> int:
    """How many decimals scores or differences have that are shown together.

    They have the same decimals, so that they can be compared: enough for two significant digits of
    the smallest standard error.

    Args:
      standard_errors: of the numbers; None for one that has none.
      usual: how many decimals they have if none of these is above 0.

    >>> decimals_for([0.34, None], 1), decimals_for([12.0], 1), decimals_for([None], 4)
    (2, 1, 4)
    """
    smallest = min(filter(None, standard_errors), default=None)
    if smallest is None:
        return usual
    rounded_error = f"{smallest:.{_SIGNIFICANT_DIGITS - 1}e}"
    needed = _SIGNIFICANT_DIGITS - 1 - int(rounded_error.partition("e")[2])
    fewest, most = _DECIMALS_OF_ESTIMATES[0], _DECIMALS_OF_ESTIMATES[-1]
    return min(max(needed, fewest), most)


def errors_of(entries: Iterable[Mapping[str, Any]]) -> list[float | None]:
    """The standard errors of scores or differences; None for one that has none."""
    return [entry.get("standard_error") for entry in entries]


def errors_of_intervals(entries: Iterable[Mapping[str, Any]]) -> list[float | None]:
    """The standard errors that 95 % intervals stand for; None without an interval."""
    intervals = (entry["interval"] for entry in entries)
    return [ends and (ends[1] - ends[0]) / (2 * TWO_SIDED_95) for ends in intervals]


def score_estimate(score: Mapping[str, Any], decimals: int) -> Estimate:
    """A score; an entry without the keys of uncertainty has no interval."""
    return rounded(score["score"], decimals), half_interval(score, decimals)


def difference_estimate(comparison: Mapping[str, Any], decimals: int) -> Estimate:
    """A difference with its sign. One that is rounded to 0 has no sign."""
    difference = comparison["difference"]
    if difference is None:
        return "", ""
    return signed(difference, decimals), half_interval(comparison, decimals)


def rounded(number: float, decimals: int) -> str:
    """A rounded number. One that is rounded to 0 has no sign."""
    text = f"{number:.{decimals}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def signed(number: float, decimals: int) -> str:
    """A rounded number with its sign; 0 has none."""
    text = f"{number:+.{decimals}f}"
    return text if text.strip("+-0.") else text[1:]


def half_interval(entry: Mapping[str, Any], decimals: int) -> str:
    """Half of the interval of a score or a difference, or "" if it has none."""
    interval = entry.get("interval")
    return "" if interval is None else f"{(interval[1] - interval[0]) / 2:.{decimals}f}"


def estimates(column: Sequence[Estimate], marks: Sequence[str] = ()) -> list[str]:
    """The cells of a column, so that the decimal points and the signs ± are below each other.

    A column in which no number has an interval stays as it is.

    Args:
      column: its numbers.
      marks: for each number a mark that comes after it, or "".

    >>> estimates([("100.0", "0.0"), ("57.8", "12.1"), ("7.0", "")])
    ['100.0 ±  0.0', ' 57.8 ± 12.1', '  7.0']
    """
    marks = marks or [""] * len(column)
    if any(half for _, half in column):
        width, width_of_half = (max(map(len, texts)) for texts in zip(*column, strict=True))
        column = [
            (f"{number:>{width}}", half and f"{half:>{width_of_half}}") for number, half in column
        ]
    cells = (f"{number} ± {half}" if half else number for number, half in column)
    return [f"{cell} {mark}".rstrip() for cell, mark in zip(cells, marks, strict=True)]


def aligned(numbers: Sequence[str]) -> list[str]:
    """Numbers with as many decimals, so that their decimal points are below each other."""
    width = max(map(len, numbers), default=0)
    return [f"{number:>{width}}" for number in numbers]


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 segment", "2 segments"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def p_value(p: float | None) -> str:
    """A p-value with three decimals; "" if there is none."""
    if p is None:
        return ""
    return f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"
