"""`Table`, a table independent of format, and its writers for plain text, Markdown and LaTeX."""

from __future__ import annotations

import dataclasses
import itertools
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
    without full stops; its notes are definitions. The first `together` columns beside the names
    belong together.
    """

    caption: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[Note] = ()
    legend: Sequence[str] = ()
    together: int = 0

    @property
    def naming(self) -> int:
        """How many columns name the rows: the first one, and those of text beside it."""
        return next((n for n, column in enumerate(self.columns) if is_numeric(column)), 1) or 1

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
    widths = [max(map(cell_len, column)) for column in _texts(table)]
    parts = _fitting(table, widths, 2, width_of(sys.stdout))
    body = "\n\n".join(text_table(_texts(part)) for part in parts)
    notes = as_lines([f"{note.name}|{note.signature}" for note in table.notes])
    return f"{as_lines((*table.caption, *table.legend))}{body}\n" + (notes and f"\n{notes}")


def _texts(table: Table) -> list[list[str]]:
    columns = zip(table.header, table.columns, strict=True)
    return [[printable(name), *cell_texts(column)] for name, column in columns]


def _fitting(table: Table, widths: Sequence[float], gap: float, room: float) -> Iterator[Table]:
    """The table as tables that fit into a room, if possible. Each one names the rows."""
    columns = [*zip(widths, table.header, table.columns, strict=True)]
    names = columns[: table.naming]
    parts = [[*names]]
    for column in columns[len(names) :]:
        wider = [*parts[-1], column]
        if sum(gap + own[0] for own in wider) - gap > room and len(wider) > len(names) + 1:
            parts.append([*names])
        parts[-1].append(column)
    for part in parts:
        _, header, cells = zip(*part, strict=True)
        yield dataclasses.replace(table, header=header, rows=[*zip(*cells, strict=True)])


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


_BETWEEN_COLUMNS = 12  # points, as all widths here; there is no space beside the outer columns
_ROOM = 340  # 5 less than the text of an article in 10 pt, because `_points` is not exact
_MOST_ROWS = 30  # a page has room for more, but not with definitions and a caption


def latex(tables: Iterable[Table], remarks: Sequence[str]) -> str:
    lines = [f"% {printable(remark)}" for remark in remarks]
    lines += _PREAMBLE
    floats = (own for table in tables for own in _floats(table))
    for number, (table, headings, parts) in enumerate(floats, 1):
        lines += ["", *_float(table, headings, parts, number)]
    return "".join(f"{line}\n" for line in lines)


def _floats(table: Table) -> Iterator[tuple[Table, Sequence[Cell], list[Table]]]:
    """What is said about the table in each of its floats, and the parts below each other there.

    If long names would part columns that belong together, the first names are headings of rows.
    """
    headings: Sequence[Cell] = [""] * len(table.rows)
    parts = [*_parts(table)]
    if table.naming > 1 and len(parts[0].header) < table.naming + table.together:
        headings = table.columns[0]
        rows = [row[1:] for row in table.rows]
        parts = [*_parts(dataclasses.replace(table, header=table.header[1:], rows=rows))]
    lines = len(table.rows) + len(set(headings) - {""})
    on_a_page = max(1, _MOST_ROWS // (lines + 2))
    for first in range(0, len(parts), on_a_page):
        said = Table([f"{table.caption[0]} (continued)"], (), ()) if first else table
        yield said, headings, parts[first : first + on_a_page]


def _parts(table: Table) -> Iterator[Table]:
    columns = zip(table.header, table.columns, strict=True)
    widths = [max(map(_points, (name, *column))) for name, column in columns]
    return _fitting(table, widths, _BETWEEN_COLUMNS, _ROOM)


def _points(cell: Cell) -> float:
    """About how wide a cell is. Errors and marks are smaller."""
    if not isinstance(cell, Number):
        return 5 * cell_len(cell)
    return 5 * len(cell.text) + 4 * len(cell.half and f"± {cell.half}") + 4 * len(cell.mark)


def _float(
    table: Table, headings: Sequence[Cell], parts: Iterable[Table], number: int
) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"\centering"
    for part in parts:
        kinds = ["r" if is_numeric(column) else "l" for column in part.columns]
        yield rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}"
        yield r"\toprule"
        yield _row(map(_text, part.header))
        yield r"\midrule"
        rows = zip(headings, *map(_column, part.columns), strict=True)
        for heading, own in itertools.groupby(rows, key=lambda row: row[0]):
            if heading:
                yield rf"\multicolumn{{{len(kinds)}}}{{@{{}}l}}{{\textit{{{_cell(heading)}}}}} \\"
            yield from (_row(row[1:]) for row in own)
        yield r"\bottomrule"
        yield r"\end{tabular}\par\bigskip"
    if table.notes:
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


def _column(cells: Sequence[Cell]) -> list[str]:
    """The cells of a column. All have room for the longest error and mark: digits are aligned."""
    numbers = [cell if isinstance(cell, Number) else Number() for cell in cells]
    halves = [own.half and rf"\,{{\scriptsize$\pm$\,{own.half}}}" for own in numbers]
    marks = [own.mark and _above(own.mark) for own in numbers]
    columns = map(_cell, cells), _equally_long(halves), _equally_long(marks)
    return list(map("".join, zip(*columns, strict=True)))


def _equally_long(texts: Sequence[str]) -> Iterator[str]:
    longest = max(texts, key=len, default="")
    for text in texts:
        room = (text and rf"\rlap{{{text}}}") + rf"\hphantom{{{longest}}}"
        yield text if len(text) == len(longest) else room


def _above(mark: str) -> str:
    return f"$^{{{mark}}}$" if "*" in mark else rf"\textsuperscript{{\,{_text(mark)}}}"


def _cell(cell: Cell) -> str:
    if not isinstance(cell, Number):
        return _text(cell)
    return rf"\textbf{{{_signed(cell.text)}}}" if cell.is_best else _signed(cell.text)


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
