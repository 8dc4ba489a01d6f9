"""Rows of cells as lines of text, in columns that fit the screen."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence

from rich.cells import cell_len

from beam_bleu.pipeline.display.cutting import folded, narrower
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.screen import Screen

Rows = Sequence[Sequence[str]]
"""A table: its first row is the header, its first column has the names of the rows.

A cell can have several lines.
"""

_GAP = "  "
_NAME = 12
"""For how many cells of its names a table is divided; the names then get all the room left."""


def drawn(
    blocks: Sequence[Rows],
    screen: Screen,
    best: Container[int] = (),
    ruled: Container[int] = (),
) -> str:
    """The lines of a table that `fitted` has laid out.

    Args:
      blocks: its parts.
      screen: where it is shown.
      best: the numbers of the rows that are bold if there are colours.
      ruled: the numbers of the rows below which there is a line.
    """
    return "\n".join("".join(_lines(rows, screen, best, ruled)) for rows in blocks)


def fitted(rows: Rows, screen: Screen, *, names_in_header: bool = False) -> list[Rows]:
    """The parts of a table that is laid out for a screen.

    If the screen is too narrow, the columns are divided into blocks, which come one below the
    other. Each block begins with the names. Long names are cut. A column that is too wide even
    alone continues on the next line.

    Args:
      rows: the table.
      screen: where it is shown.
      names_in_header: whether the header has names that can be cut, too.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    room = screen.columns
    if room is None or fits(rows, screen):
        return [rows]
    names, *columns = zip(*rows, strict=True)
    if names_in_header:
        share = (room - min(_width(names), _NAME)) // len(columns) - len(_GAP)
        header = narrower([column[0] for column in columns], max(share, _NAME))
        columns = [(head, *column[1:]) for head, column in zip(header, columns, strict=True)]
    least = min(_width(names), _NAME)
    blocks = _divided(columns, room - least)
    left = [room - sum(map(_widened, block)) for block in blocks]
    # A column that is too wide even alone gets two thirds of the screen.
    shown = narrower(names, min(each if each >= least else room // 3 for each in left))
    room -= _width(shown) + len(_GAP)
    return [
        list(zip(shown, *(_folded(column, room) for column in block), strict=True))
        for block in blocks
    ]


def fits(rows: Rows, screen: Screen) -> bool:
    """Whether the screen is wide enough for the table as it is."""
    widths = [_width([printable(cell) for cell in column]) for column in zip(*rows, strict=True)]
    return screen.columns is None or len(_GAP.join(" " * each for each in widths)) <= screen.columns


def height(blocks: Sequence[Rows]) -> int:
    """How many lines the blocks have, with the empty lines between them."""
    return len(blocks) - 1 + sum(_height(row) for rows in blocks for row in rows)


def _divided(columns: Sequence[Sequence[str]], room: int) -> list[list[Sequence[str]]]:
    """The columns, as many in each block as have room."""
    blocks: list[list[Sequence[str]]] = [[]]
    left = room
    for column in columns:
        left -= _widened(column)
        if left < 0 and blocks[-1]:
            blocks.append([])
            left = room - _widened(column)
        blocks[-1].append(column)
    return blocks


def _folded(column: Sequence[str], width: int) -> Sequence[str]:
    return column if _width(column) <= width else [folded(cell, width) for cell in column]


def _lines(
    rows: Rows, screen: Screen, best: Container[int], ruled: Container[int]
) -> Iterator[str]:
    widths = [_width(column) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        for parts in itertools.zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
            padded = (
                part + " " * (width - cell_len(part))
                for part, width in zip(parts, widths, strict=True)
            )
            line = _GAP.join(padded).rstrip()
            if screen.colour and number == 0:
                line = _styled(line, "cyan")
            elif screen.colour and number in best:
                line = _styled(line, "bold")
            yield f"{line}\n"
        if number in ruled:
            yield "-" * (sum(widths) + len(_GAP) * (len(widths) - 1)) + "\n"


def _styled(text: str, style: str) -> str:
    from rich.color import ColorSystem  # takes 15 ms, and only terminals need it
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)


def _widened(column: Sequence[str]) -> int:
    return len(_GAP) + _width(column)


def _width(column: Sequence[str]) -> int:
    return max(cell_len(line) for cell in column for line in cell.split("\n"))


def _height(row: Sequence[str]) -> int:
    return max(cell.count("\n") for cell in row) + 1
