"""Replaces generated parts of pages, which stand between two comments with the part's name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

COMMAND = ".venv/bin/python -m docs.make"


def with_part(page: str, name: str, part: str) -> str:
    """The page with another text for one of its parts.

    Args:
      page: the page.
      name: the name of the part.
      part: whole lines of Markdown.

    Raises:
      ValueError: the page has no such part.
    """
    begin = f"<!-- {name}: made by {COMMAND} -->\n"
    end = f"<!-- end of {name} -->\n"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page must have the lines\n{begin}{end}")
    return f"{before}{begin}\n{part}\n{end}{after}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown: its header, and a line for each row."""
    cells = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, ["---"] * len(header), *cells))


def code(text: str) -> str:
    """Text as code."""
    return f"`{text}`"
