"""Makes texts narrower: names are cut in the middle, other texts continue on the next line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from beam_bleu.transforms.shown_names import look

_CUT = "…"
_PIECES = (re.compile("[^| ]*[| ]*"), re.compile("[^/,]*[/,]*"))
"""A line ends after a character of the first kind, or else of the second. Numbers have none."""

_SHARES = (1 / 2, 1 / 4, 3 / 4, 0, 1)
"""How much of a cut name is its beginning. The first one that keeps the names apart is used."""


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
    return "\n".join(_lines(text, width, _PIECES))


def _lines(text: str, width: int, pieces: Sequence[re.Pattern[str]]) -> list[str]:
    if not pieces:
        return chop_cells(text, width)
    lines = [""]
    for piece in pieces[0].findall(text):
        if cell_len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif cell_len(piece.rstrip()) <= width:
            lines.append(piece)
        else:
            lines += _lines(piece, width, pieces[1:])
            lines[-1] += " " * piece.endswith(" ")
    return [line.rstrip() for line in lines if line]


def _ways_to_cut(names: Sequence[str], width: int) -> Iterator[list[str]]:
    spelled = [_characters(name) for name in names]
    start = _common(spelled)
    end = _common([each[start:][::-1] for each in spelled])
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
    middles = ["".join(each[start : len(each) - end]) for each in spelled]
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
    found: list[str] = []
    for each in characters:
        width -= cell_len(each)
        if width < 0:
            break
        found.append(each)
    return found


def _characters(text: str) -> list[str]:
    """The characters as a reader counts them: accents belong to the letter before them."""
    found: list[str] = []
    for each in text:
        if found and cell_len(each) == 0:
            found[-1] += each
        else:
            found.append(each)
    return found


def _differ(names: Sequence[str], shown: Sequence[str]) -> bool:
    """Whether as many names look different as before."""
    return len(set(map(look, shown))) == len(set(map(look, names)))
