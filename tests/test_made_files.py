"""The files that are made from the code are up to date, and nothing in them is left out."""

from __future__ import annotations

import pathlib

import pytest
from command_line import PROJECT

from docs.make import made
from docs.pages import COMMAND, code, table, with_part

MADE = made()


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_a_file_has_what_the_code_says(path: pathlib.Path) -> None:
    assert path.read_text(encoding="utf-8") == MADE[path], f"run: {COMMAND}"


def test_every_file_that_says_so_is_made() -> None:
    folders = (PROJECT, PROJECT / "docs", PROJECT / "deploy" / "dataflow")
    files = [path for folder in folders for path in folder.iterdir()]
    saying = {
        path
        for path in files
        if path.suffix in (".md", ".json") and f"ade by {COMMAND}" in path.read_text()
    }
    assert saying == {path for path in MADE if path.name != "metadata.json"}
    assert saying >= {*(PROJECT / "docs").glob("*.schema.json")}
    assert len(MADE) == len(saying) + 1


def test_a_part_of_a_page_is_replaced() -> None:
    begin, end = "<!-- rows: made by .venv/bin/python -m docs.make -->", "<!-- end of rows -->"
    page = f"before\n\n{begin}\nold\n{end}\n\nafter\n"
    part = table(["name", "value"], [[code("a|b"), ""]])
    made_page = with_part(page, "rows", part)
    assert made_page == (
        f"before\n\n{begin}\n\n| name | value |\n| --- | --- |\n| `a\\|b` |  |\n\n{end}\n\nafter\n"
    )
    assert with_part(made_page, "rows", part) == made_page


@pytest.mark.parametrize("page", ["", "<!-- rows: made by .venv/bin/python -m docs.make -->\n"])
def test_a_page_without_the_part_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="the page must have the lines\n<!-- rows: made by"):
        with_part(page, "rows", "")
