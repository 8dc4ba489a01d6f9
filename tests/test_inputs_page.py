"""The page about forms of input: its examples run, and it names what the code knows."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
from command_line import COMMAND, PROJECT, called, without_progress
from markdown_tables import sections

from beam_bleu.pipeline.command_line.layouts import LAYOUTS
from beam_bleu.pipeline.command_line.options import our_flags
from beam_bleu.transforms.pairing.records.columns.choosing import FIRST, UNCLEAR
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS

PAGE = (PROJECT / "docs" / "inputs.md").read_text()
SECTIONS = sections(PAGE)
EXAMPLES = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[each[0][-70:] for each in EXAMPLES])
def test_an_example_prints_what_the_page_shows(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    if command.startswith("./run.sh "):
        run = called(*shlex.split(command.removeprefix("./run.sh ")))
        assert run.err + run.out.decode() == shown
        return
    piped = command.replace("./run.sh", shlex.join(COMMAND))  # this takes a process
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=True)
    assert without_progress(done.stderr) + done.stdout == shown


def test_there_are_examples_of_every_form() -> None:
    commands = " ".join(command for command, _ in EXAMPLES)
    for flag in ("-i", "--input", "--system_column", "--join_on", "--where", "--coverage", "-"):
        assert f" {flag} " in commands, flag
    for suffix in (suffix for row in RECORD_FORMATS.values() for suffix in row.suffixes[:1]):
        assert suffix in commands, suffix


def test_the_page_names_the_usual_columns_and_the_unclear_ones() -> None:
    text = " ".join(SECTIONS["Columns"].split())
    usual = re.search(r"- candidates: (.*) - references: (.*) If several", text)
    assert usual is not None
    for names, role in zip(usual.groups(), FIRST, strict=True):
        shown = re.findall(r"`(.*?)`", names)
        for name in shown:
            assert any(re.fullmatch(expression, name) for expression in FIRST[role]), name
        for expression in FIRST[role]:
            assert any(re.fullmatch(expression, name) for name in shown), expression
    assert all(f"`{name}`" in text for name in UNCLEAR)


def test_the_page_names_only_flags_that_exist() -> None:
    flags = {word for flag in our_flags() for word in flag.option_strings}
    assert set(re.findall(r"(?<![\w-])--\w+", PAGE)) <= flags


def test_the_commands_of_layouts_name_each_layout() -> None:
    commands = re.findall(r"^beam-bleu --layout (\S+)", PAGE, re.MULTILINE)
    assert list(dict.fromkeys(commands)) == list(LAYOUTS)
