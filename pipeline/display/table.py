"""A table, before a format writes it, and the table as text for stdout."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.transforms.score.shown_numbers import Number, estimates
from beam_bleu.transforms.score.shown_score import text_table

LOWER = "↓"
"""Beside the name of a metric: a lower score is better."""

Cell = str | Number

Note = tuple[str, str | None, str]
"""What is defined, its signature as sacreBLEU writes it (None if it cannot), and our signature."""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table with what a reader must know about it.

    Attributes:
      caption: sentences about it.
      header: the names of its columns.
      rows: its cells; the first one of a row is its name.
      hidden: why rows are left out, and how many they are.
      notes: its definitions.
    """

    caption: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    hidden: Sequence[str] = ()
    notes: Sequence[Note] = ()

    @property
    def columns(self) -> list[Sequence[Cell]]:
        """The cells below the header, column by column."""
        return list(zip(*self.rows, strict=True)) or [()] * len(self.header)


Column = tuple[str, Sequence[Cell]]
"""The name of a column, and its cells."""


def table_of(
    columns: Iterable[Column],
    caption: Sequence[str] = (),
    hidden: Sequence[str] = (),
    notes: Sequence[Note] = (),
) -> Table:
    """The table of one or more columns."""
    names, cells = zip(*columns, strict=True)
    return Table(caption, names, list(zip(*cells, strict=True)), hidden, notes)


def is_numeric(column: Sequence[Cell]) -> bool:
    """Whether a column has numbers, and perhaps empty cells."""
    return all(isinstance(cell, Number) or not cell for cell in column)


def as_text(table: Table) -> str:
    """The lines of a table: its caption, its columns, what it hides, and its definitions."""
    columns = zip(table.header, table.columns, strict=True)
    body = text_table([[printable(name), *cell_texts(column)] for name, column in columns])
    below = ["; ".join([*table.hidden, "--format json shows all of them"])] if table.hidden else []
    notes = as_lines([f"{name}|{signature}" for name, _, signature in table.notes])
    text = as_lines(table.caption) + f"{body}\n" + as_lines(below)
    return f"{text}\n{notes}" if notes else text


def as_lines(sentences: Iterable[str]) -> str:
    """Sentences, each on a line."""
    return "".join(f"{printable(sentence)}\n" for sentence in sentences)


def cell_texts(column: Sequence[Cell]) -> list[str]:
    """The cells of a column. Decimal points are below each other."""
    if not any(isinstance(cell, Number) for cell in column):
        return [printable(str(cell)) for cell in column]
    return estimates([cell if isinstance(cell, Number) else Number(cell) for cell in column])
