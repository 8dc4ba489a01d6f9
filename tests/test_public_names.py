"""What users get: the public names, whose examples run, and a wheel with all source files."""

from __future__ import annotations

import doctest
import inspect
import itertools
import rlcompleter
import shutil
import subprocess
import sys
import zipfile

import pytest
from command_line import EXAMPLE, PROJECT, called

import beam_bleu

NAMES = beam_bleu.__all__


def test_completion_offers_the_public_names_only():
    assert dir(beam_bleu) == sorted(beam_bleu.__all__)
    completer = rlcompleter.Completer({"beam_bleu": beam_bleu})
    words = (completer.complete("beam_bleu.", number) for number in itertools.count())
    offered = [word.rstrip("()") for word in itertools.takewhile(bool, words)]
    assert offered == [f"beam_bleu.{name}" for name in NAMES]
    with pytest.raises(AttributeError, match="No beam_bleu attribute CorpusBlue"):
        _ = beam_bleu.CorpusBlue


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which the examples run: it has the bundled example, and a result of it."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "examples").symlink_to(PROJECT / "examples")
    assert called(*EXAMPLE, "--output", folder / "out" / "notebook").code == 0
    return folder


def has_example(name):
    return ">>> from beam_bleu import " in (inspect.getdoc(getattr(beam_bleu, name)) or "")


@pytest.mark.parametrize("name", [*filter(has_example, NAMES)])
def test_the_example_of_a_name_runs(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    value = getattr(beam_bleu, name)
    runner, said = doctest.DocTestRunner(), []
    for example in doctest.DocTestFinder().find(value, name, globs={}):
        runner.run(example, out=said.append)
    assert "".join(said) == ""


def test_the_wheel_has_every_source_file_and_no_other(tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, sources)
    for name in ("beam_bleu", "pipeline", "transforms", "tests", "benchmarks", "deploy"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, sources / name, symlinks=True, ignore=ignored)
    # As `pip wheel`, which would first download setuptools.
    program = f"from setuptools import build_meta; build_meta.build_wheel({str(tmp_path)!r})"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("beam_bleu-*.whl")
    patterns = ("beam_bleu/*", "pipeline/**/*", "transforms/**/*")
    paths = (path for pattern in patterns for path in PROJECT.glob(pattern))
    expected = [
        f"beam_bleu/{path.relative_to(PROJECT).as_posix().removeprefix('beam_bleu/')}"
        for path in paths
        if path.is_file() and "__pycache__" not in path.parts
    ]
    with zipfile.ZipFile(wheel) as archive:
        installed = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert sorted(installed) == sorted(expected)
