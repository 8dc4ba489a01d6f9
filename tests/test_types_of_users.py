"""The types of the public names, as type checkers see them in a user's project (`py.typed`)."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from command_line import PROJECT

pytestmark = pytest.mark.slow


PROGRAM = """
from collections.abc import Mapping
from beam_bleu import (
    BleuConfig, BleuScore, ChrfConfig, ComparedSystems, CorpusBleu, CorpusScores, ScoreTables,
    bleu_of_sums, preset, read_scores, score,
)

def best(compared: ComparedSystems) -> str:
    return max(compared.scores, key=lambda system: compared.scores[system].score)

def low(found: BleuScore) -> float | None:
    return None if found.interval is None else found.interval[0]

def points(sums: Mapping[str, int]) -> float:
    return bleu_of_sums(sums, preset("nltk", lowercase=True)).score

def precisions(texts: list[str]) -> tuple[float, ...]:
    found = score(texts, [texts])["bleu"]
    assert isinstance(found, BleuScore)
    return found.precisions

tables: ScoreTables = read_scores("out/notebook")
CorpusBleu.Globally(BleuConfig(tokenize="intl", lowercase=True))
CorpusScores.PerKey(["bleu", ChrfConfig(word_order=2)])
"""
"""What users write. It must pass mypy --strict."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a user's project: all packages of this one, and beam-bleu."""
    folder = tmp_path_factory.mktemp("user") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "packages.pth").write_text(f"{PROJECT}\n{sysconfig.get_path('purelib')}\n")
    return folder / "bin" / "python"


def lines_of(command: list[str | Path], program: Path) -> list[str]:
    """What a type checker says about a program of a user, in its folder."""
    done = subprocess.run([*command, program.name], cwd=program.parent, capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.decode().splitlines()


def mypy(python: Path) -> list[str | Path]:
    pytest.importorskip("mypy", reason="mypy is in the extra lint")
    return [sys.executable, "-m", "mypy", "--strict", "--python-executable", python]


def test_a_users_program_has_no_error(python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    said = "\n".join(lines_of(mypy(python), tmp_path / "program.py"))
    assert "Success: no issues found" in said, said
