"""Reading the documentation's pages: their sections and tables."""

from __future__ import annotations

import re


def sections(page: str) -> dict[str, str]:
    """The text below each heading of any level, up to the next heading, by its title."""
    parts = re.split(r"^#+ (.*)\n", page, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table of a text: first its header, then its rows."""
    found = []
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if len(lines) > 1 and re.fullmatch(r"[| :-]+", lines[1]):
            rows = [_cells(line) for line in (lines[0], *lines[2:])]
            assert {len(row) for row in rows} == {len(rows[0])}, lines[0]
            found.append(rows)
    return found


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.removeprefix("|").removesuffix("|"))
    return [cell.strip() for cell in cells]
