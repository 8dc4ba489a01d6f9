"""What the page is made of: sections, and in them figures with their sentence, chart and table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

Spec = Mapping[str, Any]
"""A chart, declared as a specification of Vega-Lite."""

Rows = Sequence[Sequence[str]]
"""The header of a table, and its rows, all of texts."""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
      caption: what it shows.
      rows: the header and the rows. The first cell of a row names it.
      texts: the numbers of further columns with texts; all others have numbers.
      best: the numbers of the rows with the best score.
      note: a sentence below it, such as that rows are left out; or "".
      is_open: whether it is shown without being asked for.
    """

    caption: str
    rows: Rows
    texts: frozenset[int] = frozenset()
    best: frozenset[int] = frozenset()
    note: str = ""
    is_open: bool = False


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
      spec: its declaration.
      legend: the names of its series, in the order of their colours; none if it has no series.
      note: a sentence below it, such as that systems are left out; or "".
    """

    spec: Spec
    legend: tuple[str, ...] = ()
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A fact: a sentence that says it, a chart that shows it, and a table with its numbers.

    Attributes:
      title: its heading.
      sentence: what a reader should see in the chart.
      table: its numbers; None if another figure has them.
      chart: the chart; None if there is too little to draw.
    """

    title: str
    sentence: str
    table: Table | None
    chart: Chart | None = None


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
      anchor: its name in links.
      title: its heading.
      figures: its figures.
      lead: a sentence below the heading, or "".
    """

    anchor: str
    title: str
    figures: Sequence[Figure]
    lead: str = ""
