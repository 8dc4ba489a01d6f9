"""docs/sources.md: its programs print what it shows, with data as other systems give it."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re

import pytest
from command_line import PROJECT

PAGE = (PROJECT / "docs" / "sources.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
PROGRAM = re.compile(r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?", re.DOTALL)
LIBRARIES = {"Delta and Iceberg tables": "deltalake", "Hugging Face data sets": "datasets"}
"""The libraries of sections, which are in the extra test-libraries."""


def printed_by(program: str) -> list[str]:
    """The lines that a program prints, sorted: steps of a pipeline print in any order."""
    output = io.StringIO()
    program = program.replace("beam.Pipeline()", 'beam.Pipeline("FnApiRunner")')
    with contextlib.redirect_stdout(output):
        exec(compile(program, "docs/sources.md", "exec"), {"__name__": "__main__"})
    return sorted(output.getvalue().splitlines())


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The current folder, with the examples and a folder for results."""
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(section, marks=[pytest.mark.libraries] if section in LIBRARIES else [])
        for section in SECTIONS
    ],
)
def test_a_program_prints_what_the_page_shows(section: str, folder: pathlib.Path) -> None:
    if section in LIBRARIES:
        pytest.importorskip(LIBRARIES[section])
    prepare = globals().get(f"prepare_{section.partition(' ')[0].lower()}")
    if prepare is not None:
        prepare(folder)
    programs = PROGRAM.findall(SECTIONS[section])
    assert programs
    for program, shown in programs:
        lines = printed_by(program)
        assert not shown or lines == shown.splitlines()
