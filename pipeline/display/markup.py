"""The result as tables of GitHub's Markdown, and of LaTeX's package booktabs."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from beam_bleu.pipeline.display.comparison_tables import sections
from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.slices import slice_tables
from beam_bleu.pipeline.display.table import (
    all_signatures,
    facts,
    preset_rows,
    signature_rows,
    whole_rows,
)
from beam_bleu.pipeline.output.metric_views import parts_of

_END_OF_MARKDOWN_LINE = "  \n"
"""Two spaces: otherwise Markdown would join the lines."""

_SPECIAL_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "↓": r"$\downarrow$",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an option of the row before it, and so would *
    "*": "{*}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
"""What LaTeX would read as a command, or print as another character."""


def markdown(document: Mapping[str, Any], remarks: Sequence[str], decimals: int | None) -> str:
    """The result document as Markdown. The arguments are those of `table`."""
    metrics = parts_of(document)
    signatures = [f"`{printable(line)}`" for line in all_signatures(metrics)]
    about = list(map(_escaped_for_markdown, facts(document, remarks)))
    is_only = len(metrics) == 1
    parts = [_markdown_lines([*signatures, *about] if is_only else about)]
    if whole := whole_rows(metrics, decimals):
        parts.append(_markdown_table(whole))
    if not is_only:
        parts.append(_markdown_lines(signatures))
    for metric in metrics:
        tables = _markdown_tables(metric, decimals)
        if tables and not is_only:
            parts.append(f"**{_escaped_for_markdown(metric['name'])}**\n")
        parts += tables
    return "\n".join(parts)


def _markdown_lines(lines: Sequence[str]) -> str:
    return _END_OF_MARKDOWN_LINE.join(lines) + "\n"


def _markdown_tables(document: Mapping[str, Any], decimals: int | None) -> list[str]:
    """The tables of a metric below that of the whole corpus."""
    decimals = decimals_of(document["metric"], decimals)
    parts = [_markdown_table(rows) for rows, _ in slice_tables(document, decimals)]
    for section in sections(document, decimals):
        lines_above = _END_OF_MARKDOWN_LINE.join(map(_escaped_for_markdown, section.above))
        parts.append(f"{lines_above}\n\n{_markdown_table(section.rows)}")
    if "presets" in document:
        parts.append(_markdown_table(preset_rows(document, decimals)))
        parts.append(_markdown_table(signature_rows(document), numbers=False))
    return parts


def _markdown_table(rows: Rows, *, numbers: bool = True) -> str:
    """The rows as a table, with columns that are also aligned before a page is made of it."""
    header, *others = [[_escaped_for_markdown(cell) for cell in row] for row in rows]
    widths = [max(3, *map(cell_len, column)) for column in zip(header, *others, strict=True)]
    names, *values = widths
    rule = ["-" * names, *("-" * (width - 1) + (":" if numbers else "-") for width in values)]
    return "".join(_markdown_line(row, widths) for row in (header, rule, *others))


def _markdown_line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |\n"


def _escaped_for_markdown(text: str) -> str:
    """The text with backslashes before the characters that have a meaning in Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", printable(text))


def latex(document: Mapping[str, Any], remarks: Sequence[str], decimals: int | None) -> str:
    """The result document as LaTeX. The arguments are those of `table`."""
    metrics = parts_of(document)
    signatures = _latex_comments(all_signatures(metrics))
    is_only = len(metrics) == 1
    lines = [*(signatures if is_only else []), *_latex_comments(facts(document, remarks))]
    if whole := whole_rows(metrics, decimals):
        lines += _latex_table(whole)
    if not is_only:
        lines += ["", *signatures]
    for metric in metrics:
        tables = _latex_tables(metric, decimals)
        if tables and not is_only:
            lines += ["", f"% {printable(metric['name'])}"]
        lines += tables
    return "".join(f"{line}\n" for line in lines)


def _latex_comments(lines: Sequence[str]) -> list[str]:
    return [f"% {printable(line)}" for line in lines]


def _latex_tables(document: Mapping[str, Any], decimals: int | None) -> list[str]:
    """The tables of a metric below that of the whole corpus."""
    decimals = decimals_of(document["metric"], decimals)
    lines = []
    for rows, _ in slice_tables(document, decimals):
        lines += ["", *_latex_table(rows)]
    for section in sections(document, decimals):
        lines += ["", *_latex_comments(section.above)]
        lines += _latex_table(section.rows, section.ruled)
    if "presets" in document:
        _, *signatures = signature_rows(document)
        lines.append("")
        lines += [f"% {printable(preset)}: {printable(text)}" for preset, text in signatures]
        lines += _latex_table(preset_rows(document, decimals))
    return lines


def _latex_table(rows: Rows, ruled: Container[int] = ()) -> list[str]:
    header, *others = [
        " & ".join(map(_escaped_for_latex, row))
        + r" \\"
        + ("\n\\midrule" if number in ruled else "")
        for number, row in enumerate(rows)
    ]
    return [
        rf"\begin{{tabular}}{{l{'r' * (len(rows[0]) - 1)}}}",
        r"\toprule",
        header,
        r"\midrule",
        *others,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _escaped_for_latex(text: str) -> str:
    special = "|".join(map(re.escape, _SPECIAL_IN_LATEX))
    escaped = re.sub(special, lambda match: _SPECIAL_IN_LATEX[match[0]], printable(text))
    return re.sub("-(?=-)", "-{}", escaped)  # LaTeX would join the two to a dash
