"""A table, before a format writes it, and the table as text for stdout."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Mapping, Sequence

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import Screen
from beam_bleu.transforms.score.shown_numbers import Number, estimates
from beam_bleu.transforms.score.shown_score import text_table

LOWER = "↓"
"""Beside the name of a metric: a lower score is better."""

STYLES: Mapping[str, str] = {"worse": "red", "better": "green"}
"""The colours of numbers with these marks. The mark says the same."""

_NARROWEST_TEXT = 12
"""A column of texts becomes no narrower than that. Then the terminal has to break lines."""

_GAP = 2


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


def as_text(table: Table, screen: Screen) -> str:
    """The lines of a table: its caption, its columns, what it hides, and its definitions."""
    header = [printable(name) for name in table.header]
    columns = [cell_texts(column) for column in table.columns]
    if screen.columns is None:
        rows = text_table([[name, *cells] for name, cells in zip(header, columns, strict=True)])
        body = f"{rows}\n"
    else:
        body = _drawn(table, header, columns, screen, screen.columns)
    below = ["; ".join([*table.hidden, "--format json shows all of them"])] if table.hidden else []
    notes = as_lines([f"{name}|{signature}" for name, _, signature in table.notes], screen)
    text = as_lines(table.caption, screen) + body + as_lines(below, screen)
    return f"{text}\n{notes}" if notes else text


def as_lines(sentences: Sequence[str], screen: Screen) -> str:
    """Sentences, each from the beginning of a line. They continue on the next line of a screen."""
    texts = [printable(sentence) for sentence in sentences]
    if screen.columns is None:
        return "".join(f"{text}\n" for text in texts)
    from rich.text import Text

    return "".join(_printed(Text(text), screen, screen.columns) for text in texts)


def cell_texts(column: Sequence[Cell]) -> list[str]:
    """The cells of a column. Decimal points are below each other."""
    if not any(isinstance(cell, Number) for cell in column):
        return [printable(str(cell)) for cell in column]
    return estimates([cell if isinstance(cell, Number) else Number(cell) for cell in column])


def _drawn(
    table: Table,
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    screen: Screen,
    width: int,
) -> str:
    """The lines of a table on a terminal. Long names continue on the next line, numbers never."""
    from rich.cells import cell_len
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        box=None, padding=(0, _GAP, 0, 0), pad_edge=False, show_edge=False, header_style="cyan"
    )
    least = -_GAP
    for name, content, cells in zip(header, table.columns, columns, strict=True):
        widest, is_whole = max(map(cell_len, (name, *cells))), is_numeric(content)
        least += _GAP + (widest if is_whole else min(widest, _NARROWEST_TEXT))
        drawn.add_column(Text(name), no_wrap=is_whole, overflow="fold")
    for row, cells in zip(table.rows, zip(*columns, strict=True), strict=True):
        drawn.add_row(*(Text(text, _style(cell)) for text, cell in zip(cells, row, strict=True)))
    return _printed(drawn, screen, max(width, least))


def _style(cell: Cell) -> str:
    if not isinstance(cell, Number):
        return ""
    return "bold" if cell.is_best else STYLES.get(cell.mark, "")


def _printed(content: object, screen: Screen, width: int) -> str:
    """What rich prints, which takes a tenth of a second to import. It measures a dumb terminal."""
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        height=1,
        color_system="standard" if screen.colour else None,
        force_terminal=screen.colour,
        legacy_windows=False,
    )
    console.print(content, highlight=False, markup=False, emoji=False)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())
