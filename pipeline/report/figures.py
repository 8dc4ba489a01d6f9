"""What the page is made of: sections, and in them figures with their sentence, chart and table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.display.table import Table
from beam_bleu.pipeline.report.charts import Chart


@dataclasses.dataclass(frozen=True)
class Figure:
    """A fact: a sentence that says it, a chart that shows it, and a table with its numbers.

    Attributes:
      title: its heading.
      sentence: what a reader should see in the chart.
      table: its numbers, with one sentence as its caption.
      chart: the chart; None if there is too little to draw.
      is_open: whether the table is shown without being asked for.
    """

    title: str
    sentence: str
    table: Table
    chart: Chart | None = None
    is_open: bool = False


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
