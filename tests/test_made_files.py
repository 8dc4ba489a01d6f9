"""The files that are made from the code are up to date."""

from __future__ import annotations

import pathlib

import pytest

from docs.make import made
from docs.pages import COMMAND

MADE = made()


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_a_file_has_what_the_code_says(path: pathlib.Path) -> None:
    assert path.read_text(encoding="utf-8") == MADE[path], f"run: {COMMAND}"
