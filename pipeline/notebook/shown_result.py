"""How a result looks in an interpreter and in a notebook: the table of systems by metrics."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.fitted_rows import drawn, fitted, folded
from beam_bleu.pipeline.display.paper_tables import (
    BEST_ARE_BOLD,
    Cell,
    Number,
    PaperTable,
    paper_tables,
)
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import Screen
from beam_bleu.transforms.score.shown_numbers import estimates
from beam_bleu.transforms.score.shown_score import html_table


def as_text(document: Mapping[str, Any], rows: Mapping[str, int], width: int) -> str:
    """The first table of a result as text.

    Args:
      document: the result document.
      rows: how many rows the tables of Arrow have, by their names.
      width: how many cells a line has.
    """
    table, screen = _first(document), Screen(width)
    columns = zip(table.header, table.columns, strict=True)
    cells = [[name, *_texts(column)] for name, column in columns]
    return "\n".join(
        [
            folded(_caption(table).replace(f" {BEST_ARE_BOLD}", ""), width),
            "",
            drawn(fitted(list(zip(*cells, strict=True)), screen), screen),
            folded(_lengths(rows), width),
        ]
    )


def as_html(document: Mapping[str, Any], rows: Mapping[str, int]) -> str:
    """The first table of a result as HTML. The arguments are those of `as_text`."""
    table = _first(document)
    cells = [map(_escaped, table.header), *(map(_cell, row) for row in table.rows)]
    signatures = "".join(
        f"<li>{_escaped(name)}: <code>{_escaped(sacrebleu or signature)}</code></li>"
        for name, sacrebleu, signature in table.notes
    )
    return (
        f"<p>{_escaped(_caption(table))}</p>"
        f"{html_table(cells)}"
        f"<ul>{signatures}</ul><p>{_escaped(_lengths(rows))}</p>"
    )


def _first(document: Mapping[str, Any]) -> PaperTable:
    return next(iter(paper_tables(document, None)))


def _caption(table: PaperTable) -> str:
    return printable(" ".join(table.caption))


def _lengths(rows: Mapping[str, int]) -> str:
    return "rows: " + ", ".join(f"{name} {number}" for name, number in rows.items())


def _texts(column: Sequence[Cell]) -> list[str]:
    numbers = [cell for cell in column if isinstance(cell, Number)]
    if not numbers:
        return [str(cell) for cell in column]
    shown = [(number.text, number.half) for number in numbers]
    return estimates(shown, [number.mark for number in numbers])


def _cell(cell: Cell) -> str:
    if not isinstance(cell, Number):
        return _escaped(cell)
    text = _escaped(cell.with_true_minus)
    text = f"<b>{text}</b>" if cell.is_best else text
    half = f" ± {cell.half}" if cell.half else ""
    return text + half + (f"<sup>{_escaped(cell.mark)}</sup>" if cell.mark else "")


def _escaped(text: str) -> str:
    return html.escape(printable(text))
