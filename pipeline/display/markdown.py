"""The result as tables of GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from beam_bleu.pipeline.display.comparison_tables import sections
from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.language_parts import signature_lines
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.slices import of_whole, slice_tables
from beam_bleu.pipeline.display.table import head, preset_rows, signature_rows, system_rows
from beam_bleu.pipeline.output.metric_views import parts_of

_END_OF_LINE = "  \n"
"""Two spaces: otherwise Markdown would join the lines."""


def markdown(document: Mapping[str, Any], remarks: Sequence[str], decimals: int) -> str:
    """The result document as Markdown. The arguments are those of `table`."""
    parts = []
    for number, each in enumerate(parts_of(document)):
        signatures = list(map(printable, signature_lines(each)))
        others = head(each, remarks)[len(signatures) :] if number == 0 else []
        above = [*(f"`{line}`" for line in signatures), *map(_escaped, others)]
        parts.append(_END_OF_LINE.join(above) + "\n")
        parts += _tables(each, decimals)
    return "\n".join(parts)


def _tables(document: Mapping[str, Any], decimals: int) -> list[str]:
    """The tables of a metric."""
    parts = []
    if of_whole(document):
        parts.append(_table(system_rows(document, decimals)))
    parts += [_table(rows) for rows, _ in slice_tables(document, decimals)]
    for section in sections(document, decimals):
        lines_above = _END_OF_LINE.join(map(_escaped, section.above))
        parts.append(f"{lines_above}\n\n{_table(section.rows)}")
    if "presets" in document:
        parts.append(_table(preset_rows(document, decimals)))
        parts.append(_table(signature_rows(document), numbers=False))
    return parts


def _table(rows: Rows, *, numbers: bool = True) -> str:
    """The rows as a table, with columns that are also aligned before a page is made of it."""
    header, *others = [[_escaped(cell) for cell in row] for row in rows]
    widths = [max(3, *map(cell_len, column)) for column in zip(header, *others, strict=True)]
    names, *values = widths
    rule = ["-" * names, *("-" * (width - 1) + (":" if numbers else "-") for width in values)]
    return "".join(_line(row, widths) for row in (header, rule, *others))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |\n"


def _escaped(text: str) -> str:
    """The text with backslashes before the characters that have a meaning in Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", printable(text))
