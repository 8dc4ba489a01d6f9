"""The result as tables for LaTeX's package booktabs."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.comparison_tables import sections
from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.language_parts import signature_lines
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.slices import of_whole, slice_tables
from beam_bleu.pipeline.display.table import head, preset_rows, signature_rows, system_rows
from beam_bleu.pipeline.output.metric_views import parts_of

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an option of the row before it, and so would *
    "*": "{*}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
}
"""What LaTeX would read as a command, or print as another character."""


def latex(document: Mapping[str, Any], remarks: Sequence[str], decimals: int) -> str:
    """The result document as LaTeX. The arguments are those of `table`."""
    lines = []
    for number, each in enumerate(parts_of(document)):
        above = head(each, remarks) if number == 0 else ["", *signature_lines(each)]
        lines += [f"% {printable(line)}" if line else "" for line in above]
        lines += _tables(each, decimals)
    return "".join(f"{line}\n" for line in lines)


def _tables(document: Mapping[str, Any], decimals: int) -> list[str]:
    """The tables of a metric."""
    lines = []
    if of_whole(document):
        lines += _table(system_rows(document, decimals))
    for rows, _ in slice_tables(document, decimals):
        lines += ["", *_table(rows)]
    for section in sections(document, decimals):
        lines += ["", *(f"% {printable(line)}" for line in section.above)]
        lines += _table(section.rows, section.ruled)
    if "presets" in document:
        _, *signatures = signature_rows(document)
        lines.append("")
        lines += [f"% {printable(preset)}: {printable(text)}" for preset, text in signatures]
        lines += _table(preset_rows(document, decimals))
    return lines


def _table(rows: Rows, ruled: Container[int] = ()) -> list[str]:
    header, *others = [
        " & ".join(map(_escaped, row)) + r" \\" + ("\n\\midrule" if number in ruled else "")
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


def _escaped(text: str) -> str:
    special = "|".join(map(re.escape, _SPECIAL))
    escaped = re.sub(special, lambda found: _SPECIAL[found[0]], printable(text))
    return re.sub("-(?=-)", "-{}", escaped)  # LaTeX would join the two to a dash
