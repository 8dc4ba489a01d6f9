"""The wheel and a user's own project can be installed together: they share no files."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from command_line import PROJECT


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
