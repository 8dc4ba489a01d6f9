"""The charts of the page: where each line, mark and label of a drawing is. The template draws them.

Nothing in a drawing depends on the fonts of a machine: labels are cut here, by their number of
characters, and the margins follow from that. Colours are variables of the page's style, so they
follow light and dark.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Mapping, Sequence

from rich.cells import cell_len, set_cell_size

_MOST_ROWS = 60
"""A longer chart is not read. Its table has all rows."""

_WIDTH = 360
"""Pixels of a drawing. It fits a phone, and is not enlarged much on a large screen."""

_ROW = 22
_PLOT_HEIGHT = 200
_CHARACTER = 7.4
"""Pixels that a character needs at most, as a rule."""

_LONGEST_LABEL = 26
_LONGEST_CATEGORY = 14
_LONGEST_TITLE = 50
_TOP = 8
_RIGHT = 18
_LEFT_OF_CURVES = 52
"""Pixels beside a plot."""

_BESIDE = 0.06
"""The distance of two series at a category; the next category is at a distance of 1."""

SHAPES = {
    "●": "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
    "■": "M-4,-4h8v8h-8z",
    "▲": "M0,-5L5,4H-5z",
    "◆": "M0,-5.5L5,0L0,5.5L-5,0z",
    "▼": "M0,5L5,-4H-5z",
    "✚": "M-1.6,-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z",
}
"""The shapes of the series, as characters for the legend and as paths, so that nobody needs their
colours. style.css has as many colours; more lines in one chart cannot be told apart."""

_MEANINGS = {"plain": "●", "loss": "▼", "gain": "▲", "chance": "●"}
"""The shape of a dot for what it means; the colour has the same name in style.css."""


@dataclasses.dataclass(frozen=True)
class Label:
    """A text. `y` is its middle, and `x` its "start", "middle" or "end", as `anchor` says."""

    x: float
    y: float
    anchor: str
    text: str


@dataclasses.dataclass(frozen=True)
class Line:
    """A path of straight lines, whose colour is a variable of style.css."""

    path: str
    colour: str
    width: float = 1


@dataclasses.dataclass(frozen=True)
class Mark:
    """A value: a key of `SHAPES` at a point, whose colour is a variable of style.css."""

    x: float
    y: float
    shape: str
    colour: str


@dataclasses.dataclass(frozen=True)
class Chart:
    """A drawing, in pixels.

    Attributes:
      height: its height.
      labels: its texts.
      lines: its lines, from the background to the front.
      marks: its values, in front of the lines.
      legend: the names of its series, in the order of `SHAPES`; none if it has no series.
      note: a sentence below it, such as that systems are left out; or "".
    """

    height: float
    labels: Sequence[Label]
    lines: Sequence[Line]
    marks: Sequence[Mark]
    legend: tuple[str, ...] = ()
    note: str = ""

    width = _WIDTH


@dataclasses.dataclass(frozen=True)
class Dot:
    """A row of a chart of dots.

    Attributes:
      label: the name of the row.
      value: where the dot is.
      interval: the ends of the line through the dot; None without a line.
      meaning: "plain"; or for a difference "gain", "loss", or "chance" if it is not significant.
    """

    label: str
    value: float
    interval: Sequence[float] | None = None
    meaning: str = "plain"


def dots(rows: Sequence[Dot], unit: str, *, from_zero: bool = False) -> Chart:
    """A chart with a row for each dot, and a line for its interval.

    Args:
      rows: the dots, from top to bottom.
      unit: the title of the axis.
      from_zero: whether the values are differences, so that 0 is in the chart and has a line.
    """
    shown = rows[:_MOST_ROWS]
    names = [short(row.label, _LONGEST_LABEL) for row in shown]
    left, right = max(map(cell_len, names)) * _CHARACTER + 14, _WIDTH - _RIGHT
    ends = [end for row in shown for end in (row.value, *(row.interval or ()))]
    # Numbers below a plot beside long names have less room.
    axis = _axis([*ends, 0.0] if from_zero else ends, 5 if left < 110 else 3, left, right)
    bottom = _TOP + len(shown) * _ROW
    labels = [Label(axis.at(tick), bottom + 12, "middle", _number(tick)) for tick in axis.ticks]
    # A title can be wider than the plot, so it ends where the plot ends.
    labels.append(Label(right, bottom + 30, "end", short(unit, _LONGEST_TITLE)))
    lines = [
        Line(
            _path((axis.at(tick), _TOP), (axis.at(tick), bottom)),
            "ink" if from_zero and not tick else "line",
        )
        for tick in axis.ticks
    ]
    marks = []
    for number, (name, row) in enumerate(zip(names, shown, strict=True)):
        y = _TOP + (number + 0.5) * _ROW
        labels.append(Label(left - 8, y, "end", name))
        if row.interval is not None:
            low, high = row.interval
            lines.append(Line(_path((axis.at(low), y), (axis.at(high), y)), row.meaning, 2))
        marks.append(Mark(axis.at(row.value), y, _MEANINGS[row.meaning], row.meaning))
    left_out = len(rows) - len(shown)
    note = f"The chart shows the first {len(shown)} of {len(rows)}." if left_out else ""
    return Chart(bottom + 40, labels, lines, marks, note=note)


@dataclasses.dataclass(frozen=True)
class Series:
    """A line of a chart of curves. All series of a chart have as many values.

    Attributes:
      values: a value for each category, or None.
      intervals: the ends of the 95 % interval of each value, or None; empty if none has one.
      breaks: the numbers of the categories whose values must not be compared with those before
        them: no line leads to them.
    """

    values: Sequence[float | None]
    intervals: Sequence[Sequence[float] | None] = ()
    breaks: Container[int] = ()


def curves(
    categories: Sequence[str],
    series: Mapping[str, Series],
    unit: str,
    *,
    title: str = "",
    connected: bool = True,
) -> Chart:
    """A chart with a line for each series, over categories that have an order.

    Args:
      categories: their names, from left to right.
      series: the series by their names.
      unit: the title of the vertical axis.
      title: the title of the horizontal axis.
      connected: whether lines connect the values of a series. They suggest that there are values
        between the categories.
    """
    shown = dict([*series.items()][: len(SHAPES)])
    names = [short(name, _LONGEST_CATEGORY) for name in categories]
    widest = max(map(cell_len, names)) * _CHARACTER
    left, top = _LEFT_OF_CURVES, _TOP + 20  # the unit is above the plot
    bottom = top + _PLOT_HEIGHT
    right = _WIDTH - max(_RIGHT, math.ceil(widest / 2))  # half of a label can be beside the plot
    ends = [
        end
        for own in shown.values()
        for known in (own.values, *filter(None, own.intervals))
        for end in known
        if end is not None
    ]
    axis = _axis(ends or [0.0], 5, bottom, top)
    room = (right - left) / len(categories)
    labels = [Label(left - 8, axis.at(tick), "end", _number(tick)) for tick in axis.ticks]
    labels.append(Label(0, _TOP, "start", short(unit, _LONGEST_TITLE)))
    labels += [
        Label(left + (number + 0.5) * room, bottom + 14, "middle", names[number])
        for number in range(0, len(names), math.ceil((widest + 10) / room))
    ]
    if title:
        labels.append(Label(right, bottom + 34, "end", short(title, _LONGEST_TITLE)))
    lines = [Line(_path((left, axis.at(t)), (right, axis.at(t))), "line") for t in axis.ticks]
    marks = []
    for place, (own, shape) in enumerate(zip(shown.values(), SHAPES, strict=False)):
        colour, path = f"series-{place + 1}", ""
        points: list[tuple[float, float]] = []
        # Beside each other, so that equal values do not hide each other.
        beside = 0.5 + _BESIDE * (place - (len(shown) - 1) / 2)
        for number, value in enumerate(own.values):
            if value is None:
                points = []
                continue
            x = left + (number + beside) * room
            points = [*([] if number in own.breaks else points[-1:]), (x, axis.at(value))]
            marks.append(Mark(x, axis.at(value), shape, colour))
            path += _path(*points) if len(points) > 1 else ""
            if own.intervals and (interval := own.intervals[number]) is not None:
                low, high = map(axis.at, interval)
                lines.append(Line(_path((x, low), (x, high)), colour))
        if connected and path:
            lines.append(Line(path, colour, 2))
    left_out = len(series) - len(shown)
    note = (
        f"The chart shows {len(shown)} of {len(series)} systems; the table has all of them."
        if left_out
        else ""
    )
    return Chart(bottom + (46 if title else 28), labels, lines, marks, tuple(shown), note)


def short(text: str, longest: int) -> str:
    """A text that fits beside a chart. It loses its middle, because many names begin alike."""
    if cell_len(text) <= longest:
        return text
    begin = set_cell_size(text, longest - 1 - longest // 2).rstrip()
    end = set_cell_size(text[::-1], longest // 2).rstrip()[::-1]
    return f"{begin}…{end}"


@dataclasses.dataclass(frozen=True)
class _Axis:
    """An axis from its first to its last tick, and the pixels of both."""

    ticks: Sequence[float]
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        first, last = self.ticks[0], self.ticks[-1]
        return self.begin + (value - first) / (last - first) * (self.end - self.begin)


def _axis(values: Sequence[float], steps: int, begin: float, end: float) -> _Axis:
    """An axis with round numbers, which has all values, in about this number of steps."""
    low, high = min(values), max(values)
    rough = (high - low or abs(high) or 1.0) / steps
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
    first = math.floor(low / step)
    last = max(math.ceil(high / step), first + 1)
    return _Axis([number * step for number in range(first, last + 1)], begin, end)


def _number(tick: float) -> str:
    return f"{tick:.6g}".replace("-", "\N{MINUS SIGN}")


def _path(*points: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
