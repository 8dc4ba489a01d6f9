"""Tables as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.table import Cell, Note, Table, is_numeric
from beam_bleu.transforms.score.shown_numbers import Number


def markdown(tables: Iterable[Table], remarks: Sequence[str]) -> str:
    """The tables, with blank lines between them.

    Args:
      tables: the tables.
      remarks: lines about the result, which stand above the first table.
    """
    about = [f"{_text(remark)}\n" for remark in remarks]
    return "\n".join([*about, *map(_table, tables)])


def _table(table: Table) -> str:
    """A table with its caption, in columns that are also aligned before a page is made of it."""
    header, *rows = ([_cell(cell) for cell in row] for row in (table.header, *table.rows))
    widths = [max(3, *map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    rule = [
        "-" * (width - 1) + (":" if is_numeric(column) else "-")
        for width, column in zip(widths, table.columns, strict=True)
    ]
    lines = "".join(_line(row, widths) for row in (header, rule, *rows))
    notes = "".join(map(_note, table.notes))
    return f"{_text(' '.join(table.caption))}\n\n{lines}" + (notes and f"\n{notes}")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |\n"


def _cell(cell: Cell) -> str:
    if not isinstance(cell, Number):
        return _text(cell)
    text = _text(cell.text.replace("-", "\N{MINUS SIGN}"))
    parts = [f"**{text}**" if cell.is_best else text]
    if cell.half:
        parts.append(f" ± {cell.half}")
    if cell.mark:
        parts.append(f"<sup>{_text(cell.mark)}</sup>")
    return "".join(parts)


def _note(note: Note) -> str:
    name, sacrebleu, signature = note
    signatures = [f"sacreBLEU {_code(sacrebleu)}"] if sacrebleu else []
    return f"- {_text(name)}: {'; '.join([*signatures, f'beam-bleu {_code(signature)}'])}\n"


def _code(text: str) -> str:
    """A text as code, between more backticks than it has next to each other."""
    text = printable(text)
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def _text(text: str) -> str:
    """The text with backslashes before the characters that have a meaning in Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~&$])", r"\\\1", printable(text))
