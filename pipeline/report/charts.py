"""The charts of a report as values (rows, curves, axes), which charts.html.jinja draws.

Labels are cut at a number of characters, so a drawing does not depend on a machine's fonts.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence

from rich.cells import cell_len, set_cell_size

MOST_ROWS = 30  # nobody reads a longer chart; the table beside it has all rows

_LONGEST_LABEL = 24
"""Characters beside a chart of dots; more would leave too little room on a telephone."""

_ROOM_OF_NAMES = 36  # characters below a chart of curves; more would overlap

SHAPES = {
    "●": "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
    "■": "M-4,-4h8v8h-8z",
    "▲": "M0,-5L5,4H-5z",
    "◆": "M0,-5.5L5,0L0,5.5L-5,0z",
    "▼": "M0,5L5,-4H-5z",
    "✚": "M-1.6,-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z",
}
"""Shapes that mark the series, as characters for the legend and as SVG paths, so that nobody has to
tell colours apart. style.css has a colour for each; a chart with more lines could not be read."""


@dataclasses.dataclass(frozen=True)
class Axis:
    ticks: Sequence[float]

    @classmethod
    def of(cls, values: Iterable[float], steps: int) -> Axis:
        """An axis that contains all values (at least one), divided into about so many steps."""
        ordered = sorted(values)
        low, high = ordered[0], ordered[-1]
        rough = (high - low or abs(high) or 1.0) / steps
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
        first = math.floor(low / step)
        last = max(math.ceil(high / step), first + 1)
        return cls([number * step for number in range(first, last + 1)])

    def at(self, value: float) -> float:
        first, last = self.ticks[0], self.ticks[-1]
        return (value - first) / (last - first)


@dataclasses.dataclass(frozen=True)
class Dot:
    """A row of a chart; `meaning` is "plain", or, of differences, "better", "worse" or "chance"."""

    label: str
    value: float
    interval: Sequence[float] | None = None
    meaning: str = "plain"


@dataclasses.dataclass(frozen=True)
class Dots:
    """A chart with a row for each dot, from top to bottom; `from_zero` for differences. `kept` says
    what is common to the first dots, the only ones that a long chart shows.
    """

    rows: Sequence[Dot]
    unit: str
    from_zero: bool = False
    kept: str = "first"

    has_series = False

    @property
    def shown(self) -> Sequence[Dot]:
        return self.rows[:MOST_ROWS]

    @property
    def labels(self) -> list[str]:
        """Labels of the rows. If one is too long, all are without the words that all begin with."""
        labels = [row.label for row in self.shown]
        if len(labels) > 1 and max(map(cell_len, labels)) > _LONGEST_LABEL:
            words = [re.split(r"(?<=\W)", label)[:-1] for label in labels]
            common = itertools.takewhile(lambda own: len({*own}) == 1, zip(*words, strict=False))
            if begin := "".join(own[0] for own in common):
                labels = [f"…{label.removeprefix(begin)}" for label in labels]
        return [short(label, _LONGEST_LABEL) for label in labels]

    @functools.cached_property
    def axis(self) -> Axis:
        ends = [end for row in self.shown for end in (row.value, *(row.interval or ()))]
        return Axis.of([*ends, 0.0] if self.from_zero else ends, steps=3)


@dataclasses.dataclass(frozen=True)
class Series:
    """A line in a chart of curves. It is interrupted before the categories at `breaks`."""

    values: Sequence[float | None]
    intervals: Sequence[Sequence[float] | None] = ()
    breaks: Container[int] = ()


@dataclasses.dataclass(frozen=True)
class Curves:
    """A chart of lines over ordered categories; `unit` and `title` name its axes."""

    categories: Sequence[str]
    series: Mapping[str, Series]
    unit: str
    title: str = ""

    has_series = True
    longest_name = 14

    @property
    def shown(self) -> Mapping[str, Series]:
        return dict([*self.series.items()][: len(SHAPES)])

    @property
    def every(self) -> int:
        """Every how many categories one is named below the chart, so that names do not overlap."""
        longest = min(max(map(cell_len, self.categories)), self.longest_name)
        return math.ceil((longest + 1) * len(self.categories) / _ROOM_OF_NAMES)

    @functools.cached_property
    def axis(self) -> Axis:
        known = [
            numbers
            for own in self.shown.values()
            for numbers in (own.values, *filter(None, own.intervals))
        ]
        ends = [number for numbers in known for number in numbers if number is not None]
        return Axis.of(ends or [0.0], steps=5)


Chart = Dots | Curves


def short(text: str, longest: int) -> str:
    """A text short enough for a chart. The middle is cut out, because many names begin alike."""
    if cell_len(text) <= longest:
        return text
    begin = set_cell_size(text, longest - 1 - longest // 2).rstrip()
    end = set_cell_size(text[::-1], longest // 2).rstrip()[::-1]
    return f"{begin}…{end}"
