"""The wheel and a user's own project can be installed together: they share no files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from command_line import EXAMPLE, PROJECT

from beam_bleu.transforms.native.cache_folder import cache_folder

USERS_FILES = {
    "pipeline/__init__.py": "",
    "pipeline/main.py": "def command():\n    return 'the pipeline of the user'\n",
    "transforms.py": "CorpusBleu = 'the transform of the user'\n",
    "tests/__init__.py": "",
    "tests/helpers.py": "NAME = 'the tests of the user'\n",
}
USERS_PROGRAM = (
    "import pipeline.main, tests.helpers, transforms\n"
    "print(pipeline.main.command(), transforms.CorpusBleu, tests.helpers.NAME, sep=', ')\n"
)
USERS_OUTPUT = "the pipeline of the user, the transform of the user, the tests of the user\n"

OURS, USERS = "beam-bleu", "users-project"


def checked(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pip(*arguments: str | Path, cwd: Path) -> str:
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    return checked(*command, *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, sources)
    for name in ("beam_bleu", "pipeline", "transforms", "tests", "benchmarks", "deploy"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, sources / name, symlinks=True, ignore=ignored)
    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sources, cwd=folder)
    (built,) = folder.glob("beam_bleu-*.whl")
    return built


@pytest.fixture(scope="module")
def users_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("user") / "users_project-1.0-py3-none-any.whl"
    info = "users_project-1.0.dist-info"
    metadata = {
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: users-project\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files = {**USERS_FILES, **metadata}
    record = f"{info}/RECORD"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(record, "".join(f"{name},,\n" for name in (*files, record)))
    return path


class Environment:
    """A Python environment with the dependencies of this one, but without this project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        checked(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
        self.python = folder / "venv" / "bin" / "python"
        (site,) = (folder / "venv").glob("lib/python3*/site-packages")
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def install(self, wheel: Path) -> None:
        command = ("--python", self.python, "install", "--quiet", "--no-deps", "--no-index")
        pip(*command, "--force-reinstall", wheel, cwd=self.folder)

    def uninstall(self, name: str) -> None:
        pip("--python", self.python, "uninstall", "--quiet", "--yes", name, cwd=self.folder)

    def check_ours(self) -> None:
        """The command scores, and the library has its names."""
        table = checked(self.folder / "venv/bin/beam-bleu", *map(str, EXAMPLE), cwd=self.folder)
        assert "atlas" in table
        program = "from beam_bleu import CorpusBleu; print(CorpusBleu.__module__)"
        output = checked(self.python, "-c", program, cwd=self.folder)
        assert output == "beam_bleu.transforms.corpus_scores\n"

    def check_users(self) -> None:
        """The files of the user's project are unchanged."""
        assert checked(self.python, "-c", USERS_PROGRAM, cwd=self.folder) == USERS_OUTPUT


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    compiled = cache_folder().path
    if compiled is not None:  # the sources are the same, so this saves compiling them again
        monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(compiled.parent))
    return Environment(tmp_path)


def test_the_wheel_has_every_source_file_and_no_other(wheel: Path) -> None:
    sources = [
        f"beam_bleu/{path.relative_to(folder).as_posix()}"
        for folder, pattern in [
            (PROJECT / "beam_bleu", "*"),
            (PROJECT, "pipeline/**/*"),
            (PROJECT, "transforms/**/*"),
        ]
        for path in folder.glob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    ]
    with zipfile.ZipFile(wheel) as archive:
        installed = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert sorted(installed) == sorted(sources)


@pytest.mark.slow  # the fast test above proves that the wheel has no file outside of beam_bleu/
@pytest.mark.parametrize(("first", "second"), [(OURS, USERS), (USERS, OURS)])
def test_a_users_project_and_the_wheel_live_in_one_environment(
    first: str, second: str, wheel: Path, users_wheel: Path, environment: Environment
) -> None:
    wheels = {OURS: wheel, USERS: users_wheel}
    checks = {OURS: environment.check_ours, USERS: environment.check_users}
    for name in (first, second):
        environment.install(wheels[name])
    checks[first]()
    checks[second]()
    environment.uninstall(second)
    checks[first]()
