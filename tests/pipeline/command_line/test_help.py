"""--help, --help_beam and a command line without words."""

from __future__ import annotations

import re

import pytest
from command_line import EXAMPLES, called

from beam_bleu.pipeline.command_line.config import our_parser
from beam_bleu.pipeline.command_line.help import SUBCOMMANDS, USUAL_FLAGS


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # the help does not get wider than 100


def shown(*words: str) -> str:
    run = called(*words)
    assert (run.code, run.err) == (0, "")
    return run.out.decode()


def groups(text: str) -> dict[str, list[str]]:
    """The lines of each group of a help text."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return {block[0].rstrip(":"): block[1:] for block in blocks if block[0].endswith(":")}


@pytest.mark.parametrize(
    ("words", "columns"), [(["--help"], 80), (["--help"], 200), (["--help_beam"], 100)]
)
def test_the_help_is_as_wide_as_the_terminal_up_to_100_columns(words, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = shown(*words)
    assert len(text.splitlines()) > 80
    assert max(map(len, text.splitlines())) > min(columns, 100) - 10
    wide = [line for line in text.splitlines() if len(line) > min(columns, 100)]
    one_long_word = r" +\S*(://|=)\S+"  # a URL, or a value, that can be copied
    assert [line for line in wide if not re.fullmatch(one_long_word, line)] == []


def test_help_shows_every_flag_once_with_its_spellings():
    text = shown("--help")
    for flag in our_parser().actions():
        spellings = ", ".join(flag.option_strings) or str(flag.metavar)
        found = re.findall(rf"^  {re.escape(spellings)}(?![\w-])", text, re.MULTILINE)
        assert len(found) == 1, spellings
    assert "None" not in text


def test_the_short_help_is_one_screen_of_flags_that_there_are():
    lines = shown("-h").splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    known = {spelling for flag in our_parser().actions() for spelling in flag.option_strings} | {
        "--runner"
    }
    assert {words.split()[0] for words in USUAL_FLAGS} <= known | {"REF"}
    for words in USUAL_FLAGS:
        assert any(line.startswith(f"  {words} ") for line in lines), words


def test_the_first_examples_are_commands_that_run(tmp_path, monkeypatch):
    (tmp_path / "refs").symlink_to(EXAMPLES / "references")
    (tmp_path / "outputs").symlink_to(EXAMPLES / "systems")
    for name, target in (("base", "birch"), ("tuned", "atlas")):
        (tmp_path / f"{name}.txt").symlink_to(EXAMPLES / "systems" / f"{target}.txt")
    (tmp_path / "ref.txt").symlink_to(EXAMPLES / "references" / "a.txt")
    (tmp_path / "out.jsonl").write_text('{"mt": "a b c d", "ref": "a b c d"}\n')
    monkeypatch.chdir(tmp_path)
    commands = re.findall(
        r"^  beam-bleu (.*)", "\n".join(groups(shown("--help"))["examples"]), re.M
    )
    assert len(commands) == 4
    assert commands[-1].startswith("--references 's3://")  # needs a cluster
    for command in commands[:-1]:
        words = command.replace("days/*", "days/21").replace("'", "").split()
        run = called(*words)
        assert run.code == 0, run.err


def test_a_file_may_have_the_name_of_a_subcommand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in SUBCOMMANDS:
        (tmp_path / name).write_bytes((EXAMPLES / "references" / "a.txt").read_bytes())
        run = called(f"./{name}", "-i", EXAMPLES / "systems" / "atlas.txt")
        assert run.code == 0, run.err
