"""The charts of the page, as specifications of Vega-Lite.

Nothing in a drawing depends on the width of a text: labels are cut here, by their number of
characters, and the margins follow from that. Otherwise the fonts of a machine would change the
bytes of the page. Colours are variables of the page's style, so they follow light and dark.
"""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from collections.abc import Container, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.report.figures import Chart

MOST_SERIES = 6
"""More lines in one chart cannot be told apart. There are as many colours and shapes."""

_MOST_ROWS = 60
"""A longer chart is not read. Its table has all rows."""

_WIDTH = 360
"""Pixels of a drawing. It fits a phone, and is not enlarged much on a large screen."""

_ROW = 22
_PLOT_HEIGHT = 200
_FONT_SIZE = 12
_CHARACTER = 7.4
"""Pixels that a character of this size needs at most, as a rule."""

_LONGEST_LABEL = 26
_LONGEST_CATEGORY = 14
_LONGEST_TITLE = 50
_RIGHT = 18
_ROOM_FOR_TICKS = 230
_LEFT_OF_CURVES = 52
"""Pixels beside a chart, for labels."""

_BESIDE = 0.06
"""The distance of two series at a category; the next category is at a distance of 1."""

_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
"""The shapes of the series, so that nobody needs their colours. style.css has the same order."""

MARKS = ("●", "■", "▲", "◆", "▼", "✚")
"""The same shapes as characters, for the legend."""

_COLOURS = tuple(f"var(--series-{number})" for number in range(1, MOST_SERIES + 1))

_MEANINGS = {"plain": "circle", "loss": "triangle-down", "gain": "triangle-up", "chance": "circle"}
"""The shape of a dot for what it means; the colour has the same name in style.css."""


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
    labels = _labels([row.label for row in shown], _LONGEST_LABEL)
    left = max(map(_columns, labels)) * _CHARACTER + 14
    # Numbers below a plot beside long names have less room.
    ticks = 5 if _WIDTH - left - _RIGHT >= _ROOM_FOR_TICKS else 3
    values = [
        {
            "row": number,
            "label": label,
            "value": row.value,
            **({} if row.interval is None else {"low": row.interval[0], "high": row.interval[1]}),
            "meaning": row.meaning,
        }
        for number, (label, row) in enumerate(zip(labels, shown, strict=True))
    ]
    meanings = [name for name in _MEANINGS if any(row.meaning == name for row in shown)]
    colour = {
        "field": "meaning",
        "scale": {"domain": meanings, "range": [f"var(--{name})" for name in meanings]},
        "legend": None,
    }
    shape = {
        "field": "meaning",
        "scale": {"domain": meanings, "range": [_MEANINGS[name] for name in meanings]},
        "legend": None,
    }
    x = {
        "field": "value",
        "type": "quantitative",
        "title": short(unit, _LONGEST_TITLE),
        "scale": {"zero": from_zero},
        # A title can be wider than the plot, so it ends where the plot ends.
        "axis": {"tickCount": ticks, "titleAnchor": "end"},
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "text", "align": "right", "x": -8},
            "encoding": {"text": {"field": "label"}},
        }
    ]
    if from_zero:
        layers.append(
            {
                "data": {"values": [{"zero": 0}]},
                "mark": {"type": "rule", "color": "var(--ink)", "y": 0, "y2": len(shown) * _ROW},
                "encoding": {"x": {"field": "zero", "type": "quantitative"}, "y": None},
            }
        )
    if any(row.interval for row in shown):
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour},
            }
        )
    layers.append(
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {"x": x, "color": colour, "shape": shape},
        }
    )
    y = {"field": "row", "type": "ordinal", "axis": None}
    spec = _framed(
        left, len(shown) * _ROW, data={"values": values}, encoding={"y": y}, layer=layers
    )
    note = (
        "" if len(shown) == len(rows) else f"The chart shows the first {len(shown)} of {len(rows)}."
    )
    return Chart(spec, note=note)


def curves(
    categories: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    unit: str,
    *,
    title: str = "",
    connected: bool = True,
    intervals: Mapping[str, Sequence[Sequence[float] | None]] | None = None,
    breaks: Mapping[str, Container[int]] | None = None,
) -> Chart:
    """A chart with a line for each series, over categories that have an order.

    Args:
      categories: their names, from left to right.
      series: for each name, a value for each category, or None.
      unit: the title of the vertical axis.
      title: the title of the horizontal axis.
      connected: whether lines connect the values of a series. They suggest that there are values
        between the categories.
      intervals: for each name the ends of the 95 % interval of each value, or None.
      breaks: for each name the numbers of the categories whose values must not be compared with
        those before them: no line leads to them.
    """
    shown = dict(list(series.items())[:MOST_SERIES])
    values = []
    for place, (name, of_series) in enumerate(shown.items()):
        ends = (intervals or {}).get(name) or [None] * len(categories)
        for number, (value, interval) in enumerate(zip(of_series, ends, strict=True)):
            of_interval = {} if interval is None else {"low": interval[0], "high": interval[1]}
            # Beside each other, so that equal values do not hide each other. A missing value
            # interrupts the line.
            at = number + _BESIDE * (place - (len(shown) - 1) / 2)
            if number in (breaks or {}).get(name, ()):
                values.append({"at": at - 0.5, "value": None, "series": place})
            values.append({"at": at, "value": value, "series": place, **of_interval})
    domain = list(range(len(shown)))
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": domain, "range": list(_COLOURS[: len(shown)])},
        "legend": None,
    }
    shape = {**colour, "scale": {"domain": domain, "range": list(_SHAPES[: len(shown)])}}
    numbers = list(range(len(categories)))
    x = {
        "field": "at",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-0.5, len(categories) - 0.5], "nice": False},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "title": unit,
        "scale": {"zero": False},
        "axis": {"tickCount": 5},
    }
    labels = _labels(categories, _LONGEST_CATEGORY)
    widest = max(map(_columns, labels)) * _CHARACTER
    right = max(_RIGHT, math.ceil(widest / 2))  # half of the last label can be beside the plot
    every = math.ceil(len(categories) * (widest + 10) / (_WIDTH - _LEFT_OF_CURVES - right))
    ticks = [{"at": number, "label": labels[number]} for number in numbers[::every]]
    below = {"type": "text", "baseline": "top", "y": _PLOT_HEIGHT + 8}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": ticks},
            "mark": below,
            "encoding": {"x": x, "text": {"field": "label"}},
        },
    ]
    if connected:
        line = {"type": "line", "strokeWidth": 2}
        layers.append({"mark": line, "encoding": {"x": x, "y": y, "color": colour}})
    if any("low" in value for value in values):
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "opacity": 0.6},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                    "color": colour,
                },
            }
        )
    layers.append(
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
        }
    )
    if title:
        layers.append(
            {
                "data": {"values": [{"title": short(title, _LONGEST_TITLE)}]},
                "mark": {**below, "y": _PLOT_HEIGHT + 28, "x": "width", "align": "right"},
                "encoding": {"text": {"field": "title"}},
            }
        )
    bottom = 46 if title else 28
    spec = _framed(
        _LEFT_OF_CURVES, _PLOT_HEIGHT, bottom, right, data={"values": values}, layer=layers
    )
    note = (
        ""
        if len(shown) == len(series)
        else f"The chart shows {len(shown)} of {len(series)} systems; the table has all of them."
    )
    return Chart(spec, tuple(shown), note)


def _labels(names: Sequence[str], longest: int) -> list[str]:
    """Names that fit beside a chart. They are cut where they do not differ, if that is possible."""

    def cut(name: str, end: int) -> str:
        if _columns(name) <= longest:
            return name
        return short(f"{name[: longest - 1 - end]}…{name[len(name) - end :]}", longest)

    ways = [[cut(name, end) for name in names] for end in (longest // 2, longest - 1, 0)]
    return next((way for way in ways if len({*way}) == len({*names})), ways[0])


def short(text: str, longest: int) -> str:
    """A text that fits beside a chart. A cut text ends with "…"."""
    if _columns(text) <= longest:
        return text
    kept = text
    while _columns(kept) > longest - 1:
        kept = kept[:-1] if len(kept) <= 2 * longest else kept[: 2 * longest]
    return f"{kept}…"


def _columns(text: str) -> int:
    """The width of a text, in Latin letters; a character of Chinese or Japanese has two."""
    return sum(1 + (unicodedata.east_asian_width(character) in "FW") for character in text)


def _framed(
    left: float, height: int, bottom: int = 40, right: int = _RIGHT, **content: Any
) -> dict[str, Any]:
    """A specification with margins and the style of all charts."""
    axis = {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--line)",
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
        "labelFontSize": _FONT_SIZE,
        "titleFontSize": _FONT_SIZE,
        "titleFontWeight": "normal",
        "labelOverlap": False,
        "labelFlush": False,
        "labelBound": False,
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": None,
        "autosize": "none",
        "padding": {"left": round(left), "right": right, "top": 8, "bottom": bottom},
        "width": _WIDTH - round(left) - right,
        "height": height,
        "config": {
            "aria": False,
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": axis,
            "axisY": {"minExtent": 36, "maxExtent": 36},
            "text": {"color": "var(--ink)", "fontSize": _FONT_SIZE, "baseline": "middle"},
        },
        **content,
    }
