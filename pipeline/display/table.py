"""`Table`, a table independent of format, and its writers for plain text, Markdown and LaTeX."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.pipeline.errors.terminal import whole_words, width_of
from beam_bleu.transforms.score.shown_numbers import Number, estimates, text_table

LOWER = "↓"

Cell = str | Number

Column = tuple[str, Sequence[Cell]]


class Note(NamedTuple):
    """A definition: what it defines, sacreBLEU's signature (None without one), and ours."""

    name: str
    sacrebleu: str | None
    signature: str


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. Its caption, and its legend, which says how to read it, are lists of sentences
    without full stops; its notes are definitions.
    """

    caption: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[Note] = ()
    legend: Sequence[str] = ()

    @property
    def columns(self) -> list[Sequence[Cell]]:
        return list(zip(*self.rows, strict=True)) or [()] * len(self.header)

    @property
    def paragraph(self) -> str:
        return " ".join(f"{sentence}." for sentence in (*self.caption, *self.legend))


def table_of(
    columns: Iterable[Column],
    caption: Sequence[str] = (),
    notes: Sequence[Note] = (),
    legend: Sequence[str] = (),
) -> Table:
    names, cells = zip(*columns, strict=True)
    return Table(caption, names, list(zip(*cells, strict=True)), notes, legend)


def is_numeric(column: Sequence[Cell]) -> bool:
    return all(isinstance(cell, Number) or not cell for cell in column)


def as_text(table: Table) -> str:
    columns = zip(table.header, table.columns, strict=True)
    texts = [[printable(name), *cell_texts(column)] for name, column in columns]
    body = "\n\n".join(map(text_table, _fitting(texts, width_of(sys.stdout))))
    notes = as_lines([f"{note.name}|{note.signature}" for note in table.notes])
    return f"{as_lines((*table.caption, *table.legend))}{body}\n" + (notes and f"\n{notes}")


def _fitting(columns: Sequence[list[str]], width: float) -> list[list[list[str]]]:
    """The columns of tables that fit into a width, if possible; each one begins with the first."""
    first, *others = columns
    tables, own = [[first]], max(map(cell_len, first))
    used = own
    for column in others:
        more = 2 + max(map(cell_len, column))
        if used + more > width and len(tables[-1]) > 1:
            tables.append([first])
            used = own
        tables[-1].append(column)
        used += more
    return tables


def as_lines(sentences: Iterable[str]) -> str:
    """The sentences, each on a line of its own, or on several that are not wider than stdout."""
    width = width_of(sys.stdout)
    return "".join(f"{whole_words(printable(sentence), width)}\n" for sentence in sentences)


def cell_texts(column: Sequence[Cell]) -> list[str]:
    if not any(isinstance(cell, Number) for cell in column):
        return [printable(str(cell)) for cell in column]
    return estimates([cell if isinstance(cell, Number) else Number(cell) for cell in column])


def markdown(tables: Iterable[Table], remarks: Sequence[str]) -> str:
    return "\n".join([*(f"{_escaped(remark)}\n" for remark in remarks), *map(_markdown, tables)])


def _markdown(table: Table) -> str:
    header, *rows = ([_markdown_cell(cell) for cell in row] for row in (table.header, *table.rows))
    widths = [max(3, *map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    rule = [
        "-" * (width - 1) + (":" if is_numeric(column) else "-")
        for width, column in zip(widths, table.columns, strict=True)
    ]
    text = f"{_escaped(table.paragraph)}\n\n"
    for row in (header, rule, *rows):
        cells = [
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ]
        text += f"| {' | '.join(cells)} |\n"
    for number, (name, sacrebleu, signature) in enumerate(table.notes):
        theirs = f"sacreBLEU {_code(sacrebleu)}; " if sacrebleu else ""
        text += "" if number else "\n"
        text += f"- {_escaped(name)}: {theirs}beam-bleu {_code(signature)}\n"
    return text


def _markdown_cell(cell: Cell) -> str:
    if not isinstance(cell, Number):
        return _escaped(cell)
    text = _escaped(cell.text.replace("-", "\N{MINUS SIGN}"))
    text = f"**{text}**" if cell.is_best else text
    half = f" ± {cell.half}" if cell.half else ""
    return text + half + (f"<sup>{_escaped(cell.mark)}</sup>" if cell.mark else "")


def _code(text: str) -> str:
    """A text as code, between more backticks than its longest row of them."""
    text = printable(text)
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|~&$])", r"\\\1", printable(text))


_PREAMBLE = (
    r"% \usepackage{booktabs} draws better lines.",
    *(rf"\providecommand{{\{rule}}}{{\hline}}" for rule in ("toprule", "midrule", "bottomrule")),
)

_LONGEST_WORD = 40  # longer words can be broken across lines

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # babel reads it as a command in some languages
    "[": "{[}",  # at the start of a row, it (or *) would be an argument of the line break before
    "*": "{*}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"±": r"$\pm$", "↓": r"$\downarrow$", "–": "--", "…": r"\ldots{}"},
}
"""Characters that LaTeX would read as a command, or print as another character."""

_ESCAPED = re.compile(rf"(?P<joined>[`',-])(?=(?P=joined))|[{re.escape(''.join(_SPECIAL))}]")
"""The special characters, and those that LaTeX would join with the next one into a ligature."""


def latex(tables: Iterable[Table], remarks: Sequence[str]) -> str:
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
    """A cell. Its mark takes no room, so that digits stay aligned."""
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
    """A number, or two with words between them, with typographic signs."""
    return re.sub("[-+<]", lambda sign: f"${sign[0]}$", number).replace("–", "--")


def _flowing(text: str) -> str:
    """A text of several lines, which can also break inside long words and after "|"."""
    words = (re.findall(rf"[^|]{{1,{_LONGEST_WORD}}}\|?|\|", word) for word in text.split(" "))
    escaped = " ".join(r"\allowbreak{}".join(map(_text, pieces)) for pieces in words)
    return escaped.replace(r"\textbar{}\allowbreak{}", r"\textbar\allowbreak ")


def _text(text: str) -> str:
    """A text that LaTeX prints literally. Only XeLaTeX and LuaLaTeX know all characters."""
    return _ESCAPED.sub(
        lambda match: f"{match[0]}{{}}" if match["joined"] else _SPECIAL[match[0]], printable(text)
    )


IN_PAPERS = {"markdown": markdown, "latex": latex}
"""The formats of tables for papers, each with the function that writes tables and remarks."""
