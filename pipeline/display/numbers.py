"""How tables write numbers: a score with its uncertainty, a difference, a p-value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import METRICS, MetricRow, row_of

_SMALLEST_P = 0.001
"""Smaller p-values are estimates far out in a tail. Their digits mean nothing."""

HALF_INTERVAL = "± is half of the 95 % interval"
"""What a reader of an estimate must know."""

Estimate = tuple[str, str]
"""A rounded number, and half of its 95 % interval or "" if it has none."""


def decimals_of(metric: str, asked: int | None) -> int:
    """How many decimals the scores of a metric have: as many as the user asks for, or as usual."""
    return row_of(metric).decimals if asked is None else asked


def usual_decimals() -> str:
    """How many decimals the scores of each metric have, for a reader: "1, of perplexity 4"."""
    usual = MetricRow.decimals
    others: dict[int, list[str]] = {}
    for row in METRICS.values():
        if row.decimals != usual:
            others.setdefault(row.decimals, []).append(row.word)
    return ", ".join(
        [str(usual), *(f"of {joined(names)} {number}" for number, names in others.items())]
    )


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


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 segment", "2 segments"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def p_value(p: float | None) -> str:
    """A p-value with three decimals; "" if there is none."""
    if p is None:
        return ""
    return f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"
