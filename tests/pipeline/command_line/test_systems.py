"""The names of systems: each can be shown, in any locale."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import (
    COMMAND,
    EXAMPLE,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Run,
    called,
    streams,
    write_lines,
)

ATLAS, BIRCH, COBALT = SYSTEMS.values()

REFUSED = [
    (" ", "the system name ' ' cannot be shown"),
    (" x", "the system name ' x' begins or ends with white space"),
    ("x ", "the system name 'x ' begins or ends with white space"),
    ("x\u200b", r"the system name 'x\u200b' cannot be shown"),  # zero width
    ("x\u202ey", r"the system name 'x\u202ey' cannot be shown"),  # changes the direction of text
    ("x\x9b2J", r"the system name 'x\x9b2J' cannot be shown"),  # C1
]


@pytest.mark.parametrize(("name", "fragment"), REFUSED, ids=[ascii(row[0]) for row in REFUSED])
def test_an_invisible_name_is_refused(name, fragment):
    called(*EXAMPLE, "--candidates", f"{name}={ATLAS}").assert_failed(2, fragment, "NAME=PATTERN")


def test_names_that_look_different_are_accepted():
    names = ["größe", "grosse", "x y", "x  y", "東京", "❤\ufe0f", "x²", "x2", "X", "x"]
    flags = [word for name in names for word in ("--candidates", f"{name}={ATLAS}")]
    document = called(*flags, "--references", REFERENCES[0], "--format", "json").document
    assert [score["system"] for score in document["scores"]] == names


UNSHOWN = ["a\nb", "a\x1b[31mb", "a\u202eb"]


def record_file(tmp_path: Path, *records: object) -> Path:
    return write_lines(tmp_path / "records.jsonl", [json.dumps(each) for each in records])


def long_records(tmp_path: Path, *names: str) -> Run:
    """A run over a record of each system."""
    texts = {"id": 1, "candidate": "a b c d", "reference": "a b c e"}
    path = record_file(tmp_path, *({**texts, "model": name} for name in names))
    return called("--input", path, "--system_column", "model", "--id_column", "id")


@pytest.mark.parametrize("name", UNSHOWN, ids=ascii)
def test_a_name_in_a_column_must_be_shown(name, tmp_path):
    run = long_records(tmp_path, "x", name)
    words = f"input: line 2: the column model has the system name {name!a}, which cannot be shown: "
    run.assert_failed(3, f"{words}{tmp_path / 'records.jsonl'}", "printable characters")


@pytest.mark.parametrize("name", [*UNSHOWN, "x ", " "], ids=ascii)
def test_a_column_that_names_its_system_must_be_shown(name, tmp_path):
    path = record_file(tmp_path, {f"hyp_{name}": "a b c d", "hyp_x": "a b c e", "ref": "a b c d"})
    columns = ("--reference_columns", "ref", "--candidate_columns")
    words = f"input: the column {f'hyp_{name}'!a} gives its name to a system"
    run = called("--input", path, *columns, "hyp_*")
    run.assert_failed(3, words, str(path), "NAME=COLUMN")
    assert called("--input", path, *columns, f"y=hyp_{name},hyp_x").code == 0


C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def in_the_c_locale(*arguments) -> Run:
    environment = {name: value for name, value in os.environ.items() if name != "LANG"}
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=PROJECT,
        env=environment | C_LOCALE,
        capture_output=True,
        timeout=120,
    )
    return Run(done.returncode, done.stdout, done.stderr.decode("ascii"))


def test_names_and_paths_are_utf8_in_the_c_locale(tmp_path):
    system = shutil.copy(ATLAS, tmp_path / "größe.txt")
    reference = shutil.copy(REFERENCES[0], tmp_path / "réf.txt")
    arguments = streams([system, f"東京={tmp_path}/gr*.txt"], [reference])
    run = in_the_c_locale(*arguments, "--output", tmp_path / "öut")
    assert (run.code, run.err) == (0, "")
    assert run.out == called(*arguments).out
    document = json.loads((tmp_path / "öut" / "scores.json").read_bytes())
    assert [score["system"] for score in document["scores"]] == ["größe", "東京"]
