r"""Tables as LaTeX, for `\input` in a document of any class.

Only commands of LaTeX itself and of booktabs are used; without booktabs, lines stand in for its
rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.table import Cell, Note, Table, is_numeric
from beam_bleu.transforms.score.shown_numbers import Number

_PREAMBLE = (
    r"% \usepackage{booktabs} draws better lines.",
    *(rf"\providecommand{{\{rule}}}{{\hline}}" for rule in ("toprule", "midrule", "bottomrule")),
)

_LONGEST_WORD = 40
"""Longer words of a caption continue on the next line."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # babel reads it as a command in some languages
    "[": "{[}",  # at the start of a row it would be an option of the row before it, and so would *
    "*": "{*}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"±": r"$\pm$", "↓": r"$\downarrow$", "–": "--", "…": r"\ldots{}"},
}
"""What LaTeX would read as a command, or print as another character."""

_ESCAPED = re.compile(rf"(?P<joined>[`',-])(?=(?P=joined))|[{re.escape(''.join(_SPECIAL))}]")
"""These, and signs that would be one character together with the next sign."""


def latex(tables: Iterable[Table], remarks: Sequence[str]) -> str:
    """The tables as floats, below remarks about the result as comments."""
    lines = [f"% {printable(remark)}" for remark in remarks]
    lines += _PREAMBLE
    for number, table in enumerate(tables, 1):
        lines += ["", *_float(table, number)]
    return "".join(f"{line}\n" for line in lines)


def _float(table: Table, number: int) -> Iterator[str]:
    kinds = ["r" if is_numeric(column) else "l" for column in table.columns]
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\begin{{tabular}}{{{''.join(kinds)}}}"
    yield r"\toprule"
    yield _row(map(_text, table.header))
    yield r"\midrule"
    yield from (_row(map(_cell, row)) for row in table.rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    if table.notes:
        yield r"\par\smallskip"
        yield r"{\footnotesize\raggedright"
        yield from map(_note, table.notes)
        yield "}"
    yield rf"\caption{{{_flowing(table.paragraph)}}}"
    yield rf"\label{{tab:scores{'' if number == 1 else f'-{number}'}}}"
    yield r"\end{table}"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _note(note: Note) -> str:
    theirs = rf"sacreBLEU \texttt{{{_flowing(note.sacrebleu)}}}; " if note.sacrebleu else ""
    return rf"{_flowing(note.name)}: {theirs}beam-bleu \texttt{{{_flowing(note.signature)}}}\par"


def _cell(cell: Cell) -> str:
    """A cell. Marks take no room, so that digits are below each other."""
    if not isinstance(cell, Number):
        return _text(cell)
    text = _signed(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    half = rf"\,{{\scriptsize$\pm$\,{cell.half}}}" if cell.half else ""
    above = (
        f"$^{{{cell.mark}}}$" if "*" in cell.mark else rf"\textsuperscript{{{_text(cell.mark)}}}"
    )
    return text + half + (rf"\rlap{{{above}}}" if cell.mark else "")


def _signed(number: str) -> str:
    """A number, or two of them with words between them, with true signs."""
    return re.sub("[-+<]", lambda sign: f"${sign[0]}$", number).replace("–", "--")


def _flowing(text: str) -> str:
    """A text of several lines. They can end in long words, too, and after the signs "|"."""
    words = (re.findall(rf"[^|]{{1,{_LONGEST_WORD}}}\|?|\|", word) for word in text.split(" "))
    escaped = " ".join(r"\allowbreak{}".join(map(_text, pieces)) for pieces in words)
    return escaped.replace(r"\textbar{}\allowbreak{}", r"\textbar\allowbreak ")


def _text(text: str) -> str:
    """A text that LaTeX prints as it is. XeLaTeX and LuaLaTeX know all characters."""
    return _ESCAPED.sub(
        lambda match: f"{match[0]}{{}}" if match["joined"] else _SPECIAL[match[0]], printable(text)
    )
