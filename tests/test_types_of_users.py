"""The types of the public names, as type checkers see them in a user's project (`py.typed`)."""

from __future__ import annotations

import dataclasses
import inspect
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import PROJECT

import beam_bleu

pytestmark = pytest.mark.slow

PYRIGHT = "1.1.414"

NAMES = [name for name in beam_bleu.__all__ if name != "__version__"]

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

WRONG = """
from beam_bleu import BleuConfig, BleuScore, ChrfConfig, CorpusChrf, preset

BleuConfig(tokenize="14a")
ChrfConfig(beta="2")
preset("sacre")
def bleu(score: BleuScore) -> str:
    return score.score
CorpusChrf.Globally(uncertain=True)
"""
"""What a type checker must find: an error in each line that calls something, or returns."""


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


def pyright(python: Path) -> list[str | Path]:
    npx = shutil.which("npx") or pytest.skip("pyright is a package of npm, which is not installed")
    return [npx, "--yes", f"pyright@{PYRIGHT}", "--pythonpath", python]


CHECKERS = pytest.mark.parametrize("checker", [mypy, pyright])


@CHECKERS
def test_a_users_program_has_no_error(checker, python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    said = "\n".join(lines_of(checker(python), tmp_path / "program.py"))
    assert "Success: no issues found" in said or "0 errors" in said, said


@CHECKERS
def test_wrong_arguments_are_found(checker, python, tmp_path):
    (tmp_path / "program.py").write_text(WRONG)
    said = lines_of(checker(python), tmp_path / "program.py")
    found = {int(match[1]) for line in said if (match := re.search(r"\.py:(\d+).*error", line))}
    assert found == {4, 5, 6, 8, 9}, said


def revealed() -> Iterator[str]:
    """Each public function, whose result counts, and an expression for each attribute of a result.

    Without those that are a table of pyarrow, which has no types.
    """
    for name in NAMES:
        value = getattr(beam_bleu, name)
        if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                if field.type != "pa.Table":
                    yield f"a_{name}.{field.name}"
        elif not is_type(name) and inspect.signature(value).return_annotation != "pa.Table":
            yield f"beam_bleu.{name}"


@CHECKERS
def test_every_public_name_has_a_type_and_no_result_is_any(checker, python, tmp_path):
    expressions = list(revealed())
    parameters = "".join(f"    a_{name}: beam_bleu.{name},\n" for name in NAMES if is_type(name))
    (tmp_path / "program.py").write_text(
        "import beam_bleu\n\n"
        f"def attributes(\n{parameters}) -> None:\n"
        + "".join(f"    reveal_type({one})\n" for one in expressions)
    )
    said = lines_of(checker(python), tmp_path / "program.py")
    types = [match[1] for line in said if (match := re.search(r'is "(.*)"$', line))]
    assert len(types) == len(expressions), said
    assert [line for line in said if re.search(r"\berror\b(?!s)", line)] == []
    # A function may take values of any type. It does not return them.
    # numpy's arrays of any shape have an Any of their own.
    results = [each.rpartition("->")[2].replace("tuple[Any, ...]", "") for each in types]
    of_json = re.compile(r"[\w.]*Mapping\[[\w.]*str, (typing\.)?Any\]")
    assert [each for each in results if "Any" in each and not of_json.fullmatch(each.strip())] == []


def is_type(name: str) -> bool:
    return inspect.isclass(getattr(beam_bleu, name))
