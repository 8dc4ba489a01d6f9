"""Rows of cells as lines of text, in columns that fit the screen.

Names that are too wide are cut in the middle. Other texts continue on the next line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Mapping, Sequence

from rich.cells import cell_len, chop_cells

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import Screen
from beam_bleu.transforms.shown_names import look

Rows = Sequence[Sequence[str]]
"""A table: its first row is the header, its first column has the names of the rows.

A cell can have several lines.
"""

_GAP = "  "
_NAME = 12
"""For how many cells of its names a table is divided; the names then get all the room left."""

_CUT = "…"

_PIECES = (re.compile("[^| ]*[| ]*"), re.compile("[^/,]*[/,]*"))
"""A line ends after a character of the first kind, or else of the second. Numbers have none."""

_SHARES = (1 / 2, 1 / 4, 3 / 4, 0, 1)
"""How much of a cut name is its beginning. The first one that keeps the names apart is used."""


def drawn(
    blocks: Sequence[Rows],
    screen: Screen,
    ruled: Container[int] = (),
    styles: Mapping[tuple[int, int], str] | None = None,
) -> str:
    """The lines of a table that `fitted` has laid out.

    Args:
      blocks: its parts.
      screen: where it is shown.
      ruled: the numbers of the rows below which there is a line.
      styles: how cells look if there are colours, by the numbers of their row and column.
    """
    parts = []
    before = 0
    for rows in blocks:
        parts.append("".join(_lines(rows, screen, ruled, styles or {}, before)))
        before += len(rows[0]) - 1  # each block repeats the names
    return "\n".join(parts)


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
    shown = narrower(
        names, min(room_left if room_left >= least else room // 3 for room_left in left)
    )
    room -= _width(shown) + len(_GAP)
    return [
        list(zip(shown, *(_folded(column, room) for column in block), strict=True))
        for block in blocks
    ]


def fits(rows: Rows, screen: Screen) -> bool:
    """Whether the screen is wide enough for the table as it is."""
    widths = [_width([printable(cell) for cell in column]) for column in zip(*rows, strict=True)]
    return (
        screen.columns is None or len(_GAP.join(" " * width for width in widths)) <= screen.columns
    )


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
    rows: Rows,
    screen: Screen,
    ruled: Container[int],
    styles: Mapping[tuple[int, int], str],
    before: int,
) -> Iterator[str]:
    """The lines of a block. `before` is the number of columns in the blocks before it."""
    widths = [_width(column) for column in zip(*rows, strict=True)]

    def style_of(row: int, column: int) -> str | None:
        place = column + before if column else 0  # the names, which each block repeats
        return styles.get((row, place)) if screen.colour else None

    for number, row in enumerate(rows):
        for parts in itertools.zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
            padded = (
                (_styled(part, style) if (style := style_of(number, column)) else part)
                + " " * (width - cell_len(part))
                for column, (part, width) in enumerate(zip(parts, widths, strict=True))
            )
            line = _GAP.join(padded).rstrip()
            if screen.colour and number == 0:
                line = _styled(line, "cyan")
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


def narrower(names: Sequence[str], width: int) -> list[str]:
    """Names that have at most this number of cells. No two of them look the same.

    Names that are too wide are cut. If some of them would then look the same, they are not cut,
    but written on several lines.

    >>> narrower(["base", "a-very-long-name-7", "a-very-long-name-8"], 13)
    ['base', 'a-very…name-7', 'a-very…name-8']
    """
    long = [name for name in names if cell_len(name) > width]
    for cut in _ways_to_cut(long, width):
        of_long = dict(zip(long, cut, strict=True))
        shown = [of_long.get(name, name) for name in names]
        if all(cell_len(name) <= width for name in shown) and _differ(names, shown):
            return shown
    return [
        name if cell_len(name) <= width else "\n".join(chop_cells(name, width)) for name in names
    ]


def folded(text: str, width: int) -> str:
    """A text on lines of at most this number of cells; a line does not end inside a number."""
    return "\n".join(_folded_lines(text, width, _PIECES))


def _folded_lines(text: str, width: int, pieces: Sequence[re.Pattern[str]]) -> list[str]:
    if not pieces:
        return chop_cells(text, width)
    lines = [""]
    for piece in pieces[0].findall(text):
        if cell_len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif cell_len(piece.rstrip()) <= width:
            lines.append(piece)
        else:
            lines += _folded_lines(piece, width, pieces[1:])
            lines[-1] += " " * piece.endswith(" ")
    return [line.rstrip() for line in lines if line]


def _ways_to_cut(names: Sequence[str], width: int) -> Iterator[list[str]]:
    spelled = [_characters(name) for name in names]
    start = _common(spelled)
    end = _common([characters[start:][::-1] for characters in spelled])
    if start and end:
        # The names differ in the middle. The words in which they differ stay whole.
        start -= _length_of_word(spelled[0][:start][::-1])
        end -= _length_of_word(spelled[0][len(spelled[0]) - end :])
    if start and end:
        yield _cut_around_middle(spelled, width, start, end)
    for share in _SHARES:
        yield [_cut(name, width, share) for name in names]


def _cut(name: str, width: int, share: float) -> str:
    """The name without its middle."""
    room = width - cell_len(_CUT)
    characters = _characters(name)
    head = _beginning(characters, int(room * share))
    tail = _beginning(characters[::-1], room - cell_len("".join(head)))
    return "".join([*head, _CUT, *tail[::-1]])


def _cut_around_middle(spelled: Sequence[list[str]], width: int, start: int, end: int) -> list[str]:
    """The names with as much as possible of the beginning and the end that all of them have.

    Args:
      spelled: the characters of the names.
      width: for how many cells.
      start: how many characters at the beginning are the same in all names.
      end: how many at the end.
    """
    middles = ["".join(name[start : len(name) - end]) for name in spelled]
    first = spelled[0]
    room = width - max(map(cell_len, middles))
    tail = _cut_end(first[::-1][:end], max(room // 2, room - cell_len("".join(first[:start]))))
    head = _cut_end(first[:start], room - cell_len("".join(tail)))
    return ["".join([*head, middle, *tail[::-1]]) for middle in middles]


def _cut_end(characters: list[str], width: int) -> list[str]:
    if cell_len("".join(characters)) <= width:
        return characters
    return [*_beginning(characters, width - cell_len(_CUT)), _CUT]


def _length_of_word(characters: Sequence[str]) -> int:
    """How many letters and digits there are before anything else."""
    return sum(1 for _ in itertools.takewhile(str.isalnum, characters))


def _common(spelled: Sequence[Sequence[str]]) -> int:
    """How many characters at the beginning are the same in all names."""
    columns = zip(*spelled, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


def _beginning(characters: Sequence[str], width: int) -> list[str]:
    """The first characters, as many as have room in a number of cells."""
    beginning: list[str] = []
    for character in characters:
        width -= cell_len(character)
        if width < 0:
            break
        beginning.append(character)
    return beginning


def _characters(text: str) -> list[str]:
    """The characters as a reader counts them: accents belong to the letter before them."""
    characters: list[str] = []
    for code_point in text:
        if characters and cell_len(code_point) == 0:
            characters[-1] += code_point
        else:
            characters.append(code_point)
    return characters


def _differ(names: Sequence[str], shown: Sequence[str]) -> bool:
    """Whether as many names look different as before."""
    return len(set(map(look, shown))) == len(set(map(look, names)))
