"""How a result looks in an interpreter: the table of systems by metrics."""

from __future__ import annotations

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
